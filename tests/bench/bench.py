#!/usr/bin/env python3
"""Measures rein against named peers on this machine, side by side.

usage: bench.py BUILD [--quick] [--shield] [--json FILE] [GROUP...]

Everything in one group is run in turn, round after round, in an order that moves on by one each
time; what is timed is timed by small C programs (host.c). A line gives the median over the rounds
of each round's median, the least single figure, and the median over the rounds of each round's
ratio to the peer. A target is compared with the ratio where there is one, else with the median. A
missed target does not fail the run: on a machine that does other things it means little.

GROUP: only these (start, run, code, log, memory, stop, deadline, background, python). --quick: few
rounds and little output, to see that everything works; its figures mean nothing. --shield: what is
measured runs at real-time priority, out of the way of everything else on a machine that cannot be
had for oneself.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from bench_python import measure_python
from report import Report, Series, Target

LIMIT_SECONDS = 600         # a run that takes longer hangs somewhere
HANG_SECONDS = 60           # so does a single request
PLAIN_PATH = '/usr/bin:/bin'
RESIDENT_MIB = 1024
PROCESSES = 1000
TREE_FD = 200               # as in stop.c
DEADLINE_MS = 200
LOG_BOUND = 64 << 20        # rein's default
HELD_JOBS = 20
SHIELD_PRIORITY = 10
ROUNDS_MIN = 3
ROUNDS_QUICK = 2


class HostEnded(Exception):
    """What a bench-host was asked for has failed; the messages say why."""


class Host:
    """A bench-host, or another program like it, which measures what it is asked to."""

    def __init__(self, bench, *args, program=None, **env):
        self.process = subprocess.Popen(
            [*(program or [os.path.join(bench.programs, 'bench-host')]), *args], cwd=bench.scratch, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=bench.messages,
            env={**bench.env, **env})
        if bench.shield:
            os.sched_setscheduler(self.process.pid, os.SCHED_FIFO, os.sched_param(SHIELD_PRIORITY))

    def send(self, *words):
        self.process.stdin.write('\t'.join(map(str, words)) + '\n')
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise HostEnded
        return [int(word) for word in line.split()]

    def ask(self, *words):
        self.send(*words)
        return self.receive()

    def seconds(self, *words):
        return [ns / 1e9 for ns in self.ask(*words)]

    def close(self):
        """It ends at the end of its requests, but for one that hangs."""
        self.process.stdin.close()
        try:
            self.process.wait(HANG_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Bench:
    def __init__(self, build, args, report):
        self.quick = args.quick
        self.shield = args.shield
        self.report = report
        self.build = build
        self.rein = os.path.join(build, 'rein')
        self.programs = os.path.join(build, 'tests', 'bench')
        self.scratch = tempfile.mkdtemp(prefix='bench-', dir=build)
        self.state = os.path.join(self.scratch, 'state')
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith('REIN_')}
        self.env |= {'REIN_STATE': self.state, 'PATH': PLAIN_PATH}
        # What hosts and commands say on standard error; rein has a line for each deadline.
        self.messages = tempfile.TemporaryFile()
        self.hosts = []
        self.host = self.new_host()

    def new_host(self, *args, program=None, **env):
        host = Host(self, *args, program=program, **env)
        self.hosts.append(host)
        return host

    def close(self):
        for host in self.hosts:
            host.close()
        shutil.rmtree(self.scratch)

    def last_messages(self):
        size = self.messages.seek(0, os.SEEK_END)
        self.messages.seek(max(0, size - 1000))
        return self.messages.read().decode(errors='replace')

    def program(self, name):
        return os.path.join(self.programs, f'bench-{name}')

    def file(self, name, text):
        path = os.path.join(self.scratch, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path

    def interleave(self, candidates, rounds, seconds, warm_up=True):
        """Runs each candidate once a round; before the first round once more for nothing. Where
        that takes longer than so many seconds, there are fewer rounds, but not too few."""
        if self.quick:
            rounds = ROUNDS_QUICK
        series = {name: Series() for name in candidates}
        names = list(candidates)
        until = time.monotonic() + seconds
        for name in names if warm_up else ():
            candidates[name]()
        for i in range(rounds):
            if i >= ROUNDS_MIN and time.monotonic() > until:
                break
            for name in names[i % len(names):] + names[:i % len(names)]:
                series[name].add(candidates[name]())
        return series


# ---- start and wait ---------------------------------------------------------------------------

def measure_start(bench):
    """A process from a small and from a large host."""
    batch = 3 if bench.quick else 10
    hosts = {'small': bench.host, 'large': bench.new_host(str(RESIDENT_MIB))}
    what = {'no-op': bench.program('noop'), 'true': '/bin/true'}
    found = bench.interleave(
        {(how, program, size): lambda h=host, v=verb, p=path: h.seconds(v, batch, p)
         for size, host in hosts.items()
         for program, path in what.items()
         for how, verb in (('spawn', 'spawn'), ('rein', 'job'))}, rounds=60, seconds=15)
    for program, title, limit in (('no-op', 'a static no-op', 2.0), ('true', '/bin/true', 1.4)):
        peer = found['spawn', program, 'small']
        small = found['rein', program, 'small']
        bench.report.group(f'Start and wait: {title}', found,
                           'cold: one after the other in one context; there is no nursery yet')
        bench.report.time('posix_spawn + waitpid', peer)
        bench.report.time('library', small, ('posix_spawn', peer), Target(limit))
        bench.report.time('posix_spawn, from 1 GiB', found['spawn', program, 'large'],
                          ('the same from a small host', peer))
        bench.report.time('library, from 1 GiB, to small host',
                          found['rein', program, 'large'], ('the same from a small host', small),
                          Target(1.1))


# ---- the command line -------------------------------------------------------------------------

def measure_run(bench):
    """`rein run` as a whole process."""
    batch = 2 if bench.quick else 5
    found = bench.interleave({
        'spawn': lambda: bench.host.seconds('spawn', batch, 'true'),
        'timeout': lambda: bench.host.seconds('spawn', batch, 'timeout', 9, 'true'),
        'version': lambda: bench.host.seconds('spawn', batch, bench.rein, '--version'),
        'run': lambda: bench.host.seconds('spawn', batch, bench.rein, 'run', '--', 'true'),
    }, rounds=40, seconds=10)
    peer = ('timeout 9 true', found['timeout'])
    bench.report.group('Whole process: a command line that runs true', found)
    bench.report.time('true', found['spawn'])
    bench.report.time('timeout 9 true', found['timeout'])
    bench.report.time('rein --version', found['version'], peer)
    bench.report.time('rein run -- true', found['run'], peer, Target(1.5))


# ---- code -------------------------------------------------------------------------------------

def find_shim():
    """A version manager's script that stands for python3 on the caller's PATH, or None."""
    first = shutil.which('python3')
    if not first:
        return None
    with open(first, 'rb') as f:
        return first if f.read(2) == b'#!' else None


def measure_code(bench):
    """Python with and without rein."""
    file = bench.file('hi.py', 'print("hi")\n')
    code = 'print("hi")'
    python = ('python3', '-X', 'utf8', '-u', file)
    found = bench.interleave({
        'python': lambda: bench.host.seconds('spawn', 1, *python),
        'timeout': lambda: bench.host.seconds('spawn', 1, 'timeout', 9, *python),
        'library': lambda: bench.host.seconds('code', 1, 'python', code),
        'file': lambda: bench.host.seconds('spawn', 1, bench.rein, 'code', 'python', file),
        'text': lambda: bench.host.seconds('spawn', 1, bench.rein, 'code', 'python', '-c', code),
    }, rounds=60, seconds=15)
    peer = ('python3 FILE', found['python'])
    bench.report.group('Code: print("hi") in /usr/bin/python3', found)
    bench.report.time('python3 -X utf8 -u FILE', found['python'])
    bench.report.time('timeout 9 python3 -X utf8 -u FILE', found['timeout'], peer)
    bench.report.time('library: rein_start_code', found['library'], peer, Target(1.1))
    bench.report.time('rein code python FILE', found['file'], peer, Target(1.1))
    bench.report.time('rein code python -c', found['text'], peer, Target(1.1))
    if find_shim():
        measure_shim(bench, file, code)


def measure_shim(bench, file, code):
    """The same where `python3` is a version manager's script that looks for the real one."""
    path = os.environ['PATH']
    first_state = os.path.join(bench.scratch, 'first')
    later = bench.new_host(PATH=path)
    first = bench.new_host(PATH=path, REIN_STATE=first_state)
    real = subprocess.run(['python3', '-c', 'import sys; print(sys.executable)'], check=True,
                          cwd=bench.scratch, stdout=subprocess.PIPE, text=True).stdout.strip()

    def first_call():
        shutil.rmtree(first_state, ignore_errors=True)
        return first.seconds('spawn', 1, bench.rein, 'code', 'python', '-c', code)

    found = bench.interleave({
        'real': lambda: later.seconds('spawn', 1, real, '-X', 'utf8', '-u', file),
        'shim': lambda: later.seconds('spawn', 1, 'python3', '-X', 'utf8', '-u', file),
        'first': first_call,
        'later': lambda: later.seconds('spawn', 1, bench.rein, 'code', 'python', '-c', code),
    }, rounds=10, seconds=10)
    peer = ('the real python3 FILE', found['real'])
    bench.report.group('Code: through the version manager that is first on this PATH', found,
                       f'{find_shim()} stands for {real}')
    bench.report.time('the real python3 -X utf8 -u FILE', found['real'])
    bench.report.time('python3 -X utf8 -u FILE', found['shim'], peer)
    bench.report.time('rein code python -c, first call', found['first'], peer)
    bench.report.time('rein code python -c, later calls', found['later'], peer)


# ---- output -----------------------------------------------------------------------------------

def measure_log(bench):
    """Output to the log. Files are removed after each run, outside of what is timed."""
    total = (128 << 20) if bench.quick else (1 << 30)
    target_file = os.path.join(bench.scratch, 'copied')

    def run(*words):
        seconds = bench.host.seconds(*words)
        shutil.rmtree(bench.state, ignore_errors=True)
        if os.path.exists(target_file):
            os.unlink(target_file)
        return seconds

    for block, title in ((64 << 10, '64 KiB a write'), (4 << 10, '4 KiB a write')):
        writer = (bench.program('writer'), total, block)
        rein = (bench.rein, 'run', '--json', '--show', '1K')
        copy = (bench.program('copy'), target_file)
        found = bench.interleave({
            'copy': lambda: run('spawn', 1, *copy, 0, *writer),
            'bounded': lambda: run('spawn', 1, *copy, LOG_BOUND, *writer),
            'run': lambda: run('spawn', 1, *rein, '--', *writer),
            'library': lambda: run('output', LOG_BOUND, *writer),
            'all': lambda: run('output', 2 * total, *writer),
        }, rounds=5, seconds=20, warm_up=False)
        peer = ('copy loop', found['copy'])
        bench.report.group(f'Output: {total >> 20} MiB, {title}', found)
        bench.report.rate('copy loop, 64 KiB buffer', found['copy'], total)
        bench.report.rate('copy loop over the same 64 MiB', found['bounded'], total, peer)
        bench.report.rate('library', found['library'], total, peer, Target(0.8, at_least=True))
        bench.report.rate('library, nothing dropped', found['all'], total, peer,
                          Target(0.8, at_least=True))
        bench.report.rate('rein run --json --show 1K', found['run'], total, peer,
                          Target(0.8, at_least=True))


# ---- memory -----------------------------------------------------------------------------------

def status_field(pid, name):
    """A size from /proc/PID/status, in KiB."""
    with open(f'/proc/{pid}/status', encoding='ascii', errors='replace') as f:
        return next(int(line.split()[1]) for line in f if line.startswith(f'{name}:'))


def parent_of(pid):
    with open(f'/proc/{pid}/stat', 'rb') as f:
        return int(f.read().rpartition(b')')[2].split()[1])


def child_of(pid):
    """The only child of a process."""
    for name in os.listdir('/proc'):
        try:
            if name.isdigit() and parent_of(name) == pid:
                return int(name)
        except OSError:
            continue
    raise RuntimeError(f'process {pid} has no child')


def resident_share(pid):
    """The proportional set size in KiB and what it is called, or the resident set where that may
    not be seen: supervisors are closed to other processes of their user."""
    try:
        with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as f:
            return next(int(line.split()[1]) for line in f if line.startswith('Pss:')), 'PSS'
    except PermissionError:
        return status_field(pid, 'VmRSS'), 'RSS, for PSS be root'


def measure_memory(bench):
    """Peaks while output passes, and what an idle job keeps."""
    total = (128 << 20) if bench.quick else (1 << 30)
    fifo = os.path.join(bench.scratch, 'fifo')
    host = bench.new_host()     # whose only child will be rein
    os.mkfifo(fifo)
    host.send('peak', bench.rein, 'run', '-t', HANG_SECONDS, '--json', '--show', '1K', '--',
              bench.program('writer'), total, 64 << 10, fifo)
    with open(fifo, 'w', encoding='ascii'):     # waits until all was written
        rein = child_of(host.process.pid)
        supervisor = child_of(child_of(rein))
        peaks = status_field(supervisor, 'VmHWM'), status_field(rein, 'VmHWM')
    _, peak_to_the_end = host.receive()

    bench.report.group(f'Memory: {total >> 20} MiB of output',
                       note='resident, shared pages included')
    bench.report.value('supervisor and guard, peak', peaks[0], 'KiB', Target(8192))
    bench.report.value('rein run --json --show 1K, peak until then', peaks[1], 'KiB', Target(8192))
    bench.report.value('the same until its end', peak_to_the_end, 'KiB', Target(8192))

    # Guard and supervisor share one address space, so each of them shows all of it: it counts once.
    pids = bench.host.ask('hold', 1, 'sleep', 999)
    alone, unit = resident_share(parent_of(pids[0]))
    pids += bench.host.ask('hold', HELD_JOBS - 1, 'sleep', 999)
    shares = [resident_share(parent_of(pid))[0] for pid in pids]
    tables = status_field(parent_of(pids[0]), 'VmPTE')
    bench.host.ask('release')
    bench.report.group('Memory: an idle job', note=f'guard and supervisor together, '
                       f'{unit}; their page tables not counted')
    bench.report.value('one job', alone, 'KiB', Target(250))
    bench.report.value(f'each of {HELD_JOBS} jobs of one context', sum(shares) / len(shares), 'KiB')
    bench.report.value('page tables of one job', tables, 'KiB')


# ---- ends -------------------------------------------------------------------------------------

def measure_stop(bench):
    """The end of a large tree."""
    sleepers = (bench.program('sleepers'), PROCESSES, TREE_FD)
    left = dict.fromkeys(('stop-job', 'stop-by-term', 'kill-group'), 0)

    def stop(verb, *words):
        nanoseconds, survivors = bench.host.ask(verb, *words)
        left[verb] += survivors
        return [nanoseconds / 1e9]

    found = bench.interleave({
        'kill-group': lambda: stop('kill-group', *sleepers),
        'stop-job': lambda: stop('stop-job', *sleepers),
        'stop-by-term': lambda: stop('stop-by-term', bench.rein, 'run', '--grace', 0,
                                     '--pass-fd', TREE_FD, '--', *sleepers),
    }, rounds=15, seconds=10)
    peer = ('kill(-group), until all are gone', found['kill-group'])
    bench.report.group(f'Stop: a tree of {PROCESSES} processes, until none is left', found)
    bench.report.time('SIGKILL to a process group', found['kill-group'])
    for name, verb in (('rein_stop', 'stop-job'),
                       ('SIGTERM to rein run --grace 0', 'stop-by-term')):
        bench.report.time(name, found[verb], peer, Target(0.3, of_value=True))
    bench.report.value('runs after which something was left', sum(left.values()), 'runs',
                       Target(0))


def measure_deadline(bench):
    """How late the end of a job is that runs into its deadline, as its caller sees it."""
    def late(seconds):
        return [each - DEADLINE_MS / 1000 for each in seconds]

    found = bench.interleave({
        'timeout': lambda: late(bench.host.seconds('spawn', 1, 'timeout', DEADLINE_MS / 1000,
                                                   'sleep', 9)),
        'job': lambda: bench.host.seconds('deadline', 1, DEADLINE_MS, 'sleep', 9),
        'run': lambda: late(bench.host.seconds('spawn', 1, bench.rein, 'run', '-t',
                                               f'{DEADLINE_MS}ms', '--', 'sleep', 9)),
    }, rounds=30, seconds=25)
    bench.report.group(f'Deadline: how late after {DEADLINE_MS} ms', found,
                       'from before the start until the caller knows of the end')
    for name, series in (('timeout 0.2 sleep 9', found['timeout']),
                         ('library', found['job']), ('rein run -t 200ms', found['run'])):
        target = None if series is found['timeout'] else Target(0.02)
        bench.report.time(name, series)
        bench.report.value(f'{name}: latest', series.maximum, 's', target)


# ---- the background ----------------------------------------------------------------------------

def call(bench, *args):
    """What a call of rein prints."""
    return subprocess.run([bench.rein, *args], check=True, env=bench.env, cwd=bench.scratch,
                          stdout=subprocess.PIPE, stderr=bench.messages, text=True,
                          timeout=LIMIT_SECONDS).stdout.strip()


def supervisor_of(bench, job):
    with open(os.path.join(bench.state, 'jobs', job, 'job.json'), encoding='utf-8') as f:
        return json.load(f)['supervisor_pid']


def measure_background_start(bench):
    batch = 2 if bench.quick else 5
    found = bench.interleave({
        'timeout': lambda: bench.host.seconds('spawn', batch, 'timeout', 9, 'true'),
        'run': lambda: bench.host.seconds('spawn', batch, bench.rein, 'run', '--', 'true'),
        'start': lambda: bench.host.seconds('spawn', batch, bench.rein, 'start', '--', 'true'),
    }, rounds=40, seconds=10)
    peer = ('timeout 9 true', found['timeout'])
    bench.report.group('Background: the start of a job, whole process', found)
    bench.report.time('timeout 9 true', found['timeout'])
    bench.report.time('rein run -- true', found['run'], peer)
    bench.report.time('rein start -- true', found['start'], peer)


def measure_many_jobs(bench):
    jobs = [call(bench, 'start', '--', 'sleep', '999')
            for _ in range(20 if bench.quick else PROCESSES)]
    shares = [resident_share(supervisor_of(bench, job)) for job in jobs[:HELD_JOBS]]
    found = bench.interleave({
        'ps': lambda: bench.host.seconds('spawn', 1, bench.rein, 'ps', '--json'),
        'version': lambda: bench.host.seconds('spawn', 1, bench.rein, '--version'),
    }, rounds=15, seconds=10)
    begin = time.monotonic()
    call(bench, 'stop', '--all')
    seconds = time.monotonic() - begin
    bench.report.group(f'Background: {len(jobs)} idle jobs', found)
    bench.report.value(f'one job, {shares[0][1]}', sum(share for share, _ in shares) / len(shares),
                       'KiB', Target(250))
    bench.report.time('rein --version', found['version'])
    bench.report.time('rein ps --json', found['ps'], None, Target(0.05))
    bench.report.value('rein stop --all', seconds, 's')


def measure_tail(bench):
    """Of a large log and of a small one, 64 MiB of the large one kept."""
    sizes = {'small': '64K', 'large': '256M' if bench.quick else '10G'}
    jobs = {name: call(bench, 'start', '--shell', '--',
                       f'yes "a line of some forty bytes, as many have" | head -c {size}')
            for name, size in sizes.items()}
    call(bench, 'wait', *jobs.values())
    found = bench.interleave({
        'version': lambda: bench.host.seconds('spawn', 1, bench.rein, '--version'),
        **{name: lambda j=job: bench.host.seconds('spawn', 1, bench.rein, 'output', '-n', '200', j)
           for name, job in jobs.items()}}, rounds=40, seconds=10)
    bench.report.group(f'Background: the last 200 lines of a log of {sizes["large"]}', found,
                       'whole processes')
    bench.report.time('rein --version', found['version'])
    bench.report.time(f'rein output -n 200, {sizes["small"]}', found['small'])
    bench.report.time(f'rein output -n 200, {sizes["large"]}', found['large'],
                      ('the small log', found['small']), Target(1.1))
    bench.report.value('beyond the start of the program',
                       found['large'].median - found['version'].median, 's', Target(0.001))


def measure_background(bench):
    """Jobs that stand in the store."""
    measure_background_start(bench)
    measure_many_jobs(bench)
    measure_tail(bench)


GROUPS = {
    'start': measure_start,
    'run': measure_run,
    'code': measure_code,
    'log': measure_log,
    'memory': measure_memory,
    'stop': measure_stop,
    'deadline': measure_deadline,
    'background': measure_background,
    'python': measure_python,
}


# ---- the run ----------------------------------------------------------------------------------

def processor():
    with open('/proc/cpuinfo', encoding='utf-8', errors='replace') as f:
        return next((line.partition(':')[2].strip() for line in f
                     if line.startswith('model name')), platform.machine())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('build')
    parser.add_argument('groups', nargs='*', metavar='GROUP')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--shield', action='store_true')
    parser.add_argument('--json', metavar='FILE')
    args = parser.parse_intermixed_args()
    for name in args.groups:
        if name not in GROUPS:
            parser.error(f'no group {name}; there are {", ".join(GROUPS)}')
    return args


def on_alarm(*_):
    raise TimeoutError(f'nothing should take {LIMIT_SECONDS} seconds here')


def main():
    args = parse_arguments()
    build = os.path.abspath(args.build)
    if not os.path.exists(os.path.join(build, 'tests', 'bench', 'bench-host')):
        sys.exit(f'bench.py: {build} has no bench-host: build it first, without sanitizers')
    load = os.getloadavg()
    report = Report({'processor': processor(), 'processors': os.cpu_count(),
                     'kernel': platform.release(), 'load_before': load, 'quick': args.quick,
                     'shield': args.shield})
    print(f'{processor()}, {os.cpu_count()} processors, Linux {platform.release()}, '
          f'load before: {load[0]:.2f}{", shielded" if args.shield else ""}')
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(LIMIT_SECONDS)
    bench = Bench(build, args, report)
    try:
        for name in args.groups or GROUPS:
            GROUPS[name](bench)
    except HostEnded:
        sys.exit(f'bench.py: a measurement failed:\n{bench.last_messages()}')
    finally:
        bench.close()
    report.about['load_after'] = os.getloadavg()
    count, missed = report.targets()
    print(f'\n{count - len(missed)} of {count} targets met; load after: '
          f'{report.about["load_after"][0]:.2f}')
    for name in missed:
        print(f'  missed: {name}')
    if args.json:
        report.write_json(args.json)


if __name__ == '__main__':
    main()
