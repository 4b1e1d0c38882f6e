"""What /proc says of the machine and its processes. Only reads."""

import os
import platform
import pwd
import shutil
import time
from typing import Any, Dict, Iterator, List, Optional

_TICKS = os.sysconf('SC_CLK_TCK')
_PAGE = os.sysconf('SC_PAGE_SIZE')
_SAMPLE_SECONDS = 0.1


def _read(path: str) -> str:
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def _memory_sizes() -> Dict[str, int]:
    """Of /proc/meminfo, in bytes."""
    found = {}
    for line in _read('/proc/meminfo').splitlines():
        name, _, value = line.partition(':')
        found[name] = int(value.split()[0]) * 1024
    return found


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole > 0 else 0.0


def _process(pid: str, uptime: float, memory: int) -> Optional[Dict[str, Any]]:
    """One process; None when it has gone meanwhile."""
    try:
        name, _, rest = _read(f'/proc/{pid}/stat').partition('(')[2].rpartition(')')
        owner = os.stat(f'/proc/{pid}').st_uid
    except OSError:
        return None
    fields = rest.split()
    busy = (int(fields[11]) + int(fields[12])) / _TICKS
    age = uptime - int(fields[19]) / _TICKS
    return {'pid': int(pid), 'name': name, 'username': _user_name(owner),
            'memory_percent': _percent(int(fields[21]) * _PAGE, memory),
            'cpu_percent': _percent(busy, age)}


def processes() -> List[Dict[str, Any]]:
    """All that can be seen; cpu_percent is over a process's whole life."""
    uptime = float(_read('/proc/uptime').split()[0])
    memory = _memory_sizes()['MemTotal']
    found = (_process(pid, uptime, memory) for pid in os.listdir('/proc') if pid.isdigit())
    return [process for process in found if process]


def _processor_times() -> List[int]:
    return [int(word) for word in _read('/proc/stat').splitlines()[0].split()[1:9]]


def _processor_percent() -> float:
    before = _processor_times()
    time.sleep(_SAMPLE_SECONDS)
    spent = [now - then for now, then in zip(_processor_times(), before)]
    idle = spent[3] + spent[4]
    return round(100 * (1 - idle / sum(spent)), 1) if sum(spent) else 0.0


def _cores() -> Iterator[str]:
    for block in _read('/proc/cpuinfo').split('\n\n'):
        facts = dict(line.replace('\t', '').partition(':')[::2] for line in block.splitlines())
        if 'core id' in facts:
            yield f'{facts.get("physical id")}/{facts["core id"]}'


def system() -> Dict[str, Any]:
    """Processor, memory, disk of /, time of boot; sizes in bytes, times in seconds since 1970."""
    sizes, disk = _memory_sizes(), shutil.disk_usage('/')
    total, available = sizes['MemTotal'], sizes.get('MemAvailable', sizes['MemFree'])
    boot = next(line for line in _read('/proc/stat').splitlines() if line.startswith('btime'))
    return {
        'cpu': {'percent': _processor_percent(), 'cores': os.cpu_count(),
                'physical_cores': len(set(_cores())) or None},
        'memory': {'total': total, 'available': available,
                   'percent': round(100 * (total - available) / total, 1),
                   'used': total - available, 'free': sizes['MemFree']},
        'disk': {'total': disk.total, 'used': disk.used, 'free': disk.free,
                 'percent': round(100 * disk.used / disk.total, 1) if disk.total else 0.0},
        'boot_time': float(boot.split()[1]),
        'platform': platform.system(),
    }
