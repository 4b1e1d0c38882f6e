"""What a run of the benchmarks found: series of figures, their ratios, and the lines about them."""

import dataclasses
import json
import statistics


class Series:
    """Seconds that one candidate took: the median of each round, and the least of all."""

    def __init__(self):
        self.rounds = []
        self.minimum = float('inf')

    def add(self, seconds):
        self.rounds.append(statistics.median(seconds))
        self.minimum = min(self.minimum, *seconds)

    @property
    def median(self):
        return statistics.median(self.rounds)

    @property
    def maximum(self):
        return max(self.rounds)

    def ratio_to(self, peer):
        """Both were measured in the same rounds, side by side: load that comes and goes between
        rounds is in both, and leaves each round's ratio alone."""
        return statistics.median(mine / its for mine, its in zip(self.rounds, peer.rounds))

    def beyond(self, peer):
        """How much longer it took than the peer, by the same reasoning."""
        return statistics.median(mine - its for mine, its in zip(self.rounds, peer.rounds))


@dataclasses.dataclass
class Target:
    limit: float
    at_least: bool = False
    of_value: bool = False  # where there is a ratio as well

    def is_met(self, value):
        return value >= self.limit if self.at_least else value <= self.limit


@dataclasses.dataclass
class Row:
    name: str
    value: float            # the median, where there is a series
    unit: str               # 's' is shown in milliseconds
    minimum: float = None
    ratio: float = None
    peer: str = None
    target: Target = None   # for the ratio where there is one

    @property
    def compares_ratio(self):
        return self.ratio is not None and not self.target.of_value

    @property
    def met(self):
        if self.target is None:
            return None
        return self.target.is_met(self.ratio if self.compares_ratio else self.value)


def show(value, unit):
    if value is None:
        return ''
    if unit == 's':
        return f'{value * 1000:.3f} ms'
    if unit == 'ratio':
        return f'{value:.2f} ×'
    return f'{value:,.0f} {unit}'


def show_target(row):
    if row.target is None:
        return ''
    sign = '≥' if row.target.at_least else '≤'
    unit = 'ratio' if row.compares_ratio else row.unit
    limit = row.target.limit
    text = f'{limit * 1000:g} ms' if unit == 's' else f'{limit:g} ×' if unit == 'ratio' \
        else f'{limit:,g} {unit}'
    return f'{sign} {text}  {"met" if row.met else "MISSED"}'


class Report:
    def __init__(self, about):
        self.about = about
        self.groups = []

    def group(self, title, found=None, note=None):
        """Begins a group of lines; found: the series by their names, if it is about such."""
        rounds = min(len(series.rounds) for series in found.values()) if found else None
        self.groups.append({'title': title, 'note': note, 'rounds': rounds, 'rows': []})
        print(f'\n{title}')
        if note:
            print(f'  ({note})')
        if found:
            print(f'  {f"{rounds} rounds":46}{"median":>14}{"least":>14}{"ratio":>9}  target')

    def add(self, row):
        self.groups[-1]['rows'].append(row)
        print(f'  {row.name:46}{show(row.value, row.unit):>14}{show(row.minimum, row.unit):>14}'
              f'{show(row.ratio, "ratio"):>9}  {show_target(row)}', flush=True)
        if len(row.name) > 45:
            raise ValueError(f'too long for its column: {row.name}')

    def time(self, name, series, peer=None, target=None):
        """A line of a time; peer: name and series that it is compared with."""
        self.add(Row(name, series.median, 's', series.minimum,
                     ratio=series.ratio_to(peer[1]) if peer else None,
                     peer=peer[0] if peer else None, target=target))

    def rate(self, name, series, size, peer=None, target=None):
        """A line of bytes per second, and of the ratio of two such rates."""
        self.add(Row(name, size / series.median / 2**20, 'MiB/s',
                     ratio=peer[1].ratio_to(series) if peer else None,
                     peer=peer[0] if peer else None, target=target))

    def value(self, name, value, unit, target=None):
        self.add(Row(name, value, unit, target=target))

    def targets(self):
        """How many targets there were, and the names of the lines that missed theirs."""
        rows = [(group['title'], row) for group in self.groups for row in group['rows']
                if row.target is not None]
        return len(rows), [f'{title}: {row.name}' for title, row in rows if not row.met]

    def write_json(self, path):
        groups = [{**group, 'rows': [{**dataclasses.asdict(row), 'met': row.met}
                                     for row in group['rows']]} for group in self.groups]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({**self.about, 'groups': groups}, f, indent=1, ensure_ascii=False)
            f.write('\n')
