"""The group `python` of bench.py: what calls from Python cost, beside the library's own, subprocess, and
how two other systems do it."""

import os

from report import Target

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
INTERPRETER = '/usr/bin/python3'
OVERHEAD_SECONDS = 150e-6


def new_host(bench):
    return bench.new_host(program=[INTERPRETER, os.path.join(HERE, 'python_host.py')],
                          PYTHONPATH=os.path.join(TREE, 'bindings', 'python'),
                          REIN_LIBRARY=os.path.join(bench.build, 'librein.so.0'))


def measure_commands(bench, host):
    batch, program = (2 if bench.quick else 10), bench.program('noop')
    names = ('bare run', 'bare tool', 'subprocess', 'two readers', 'run', 'tool', 'drop-in')
    found = bench.interleave({
        'library': lambda: bench.host.seconds('job', batch, program),
        **{name: lambda n=name: host.seconds(n, batch, program) for name in names}},
        rounds=60, seconds=20)
    peer = ('subprocess.run', found['subprocess'])
    report = bench.report
    report.group('Python: a static no-op, from start to result', found)
    report.time('library, in C', found['library'])
    report.time('the bare calls for a job', found['bare run'])
    report.time('the bare call of a tool', found['bare tool'])
    report.time('subprocess.run', found['subprocess'])
    report.time('Popen and a thread a stream', found['two readers'], peer)
    report.time('rein.run', found['run'], peer)
    report.time('rein.call_tool', found['tool'], peer)
    report.time('rein.compat execute_command', found['drop-in'], peer)
    report.value('rein.run, beyond the bare calls', found['run'].beyond(found['bare run']), 's',
                 Target(OVERHEAD_SECONDS))
    report.value('rein.call_tool, beyond the bare call', found['tool'].beyond(found['bare tool']),
                 's', Target(OVERHEAD_SECONDS))


def measure_code(bench, host):
    code = 'print("hi")'
    names = ('python -c', 'code', 'code_run', 'polling')
    found = bench.interleave({name: lambda n=name: host.seconds(n, 1, code) for name in names},
                             rounds=10, seconds=25)
    peer = ('subprocess.run', found['python -c'])
    report = bench.report
    report.group('Python: print("hi") in another Python', found)
    report.time('subprocess.run', found['python -c'])
    report.time('a file, a reader, a look each second', found['polling'], peer)
    report.time('rein.code', found['code'], peer, Target(1.1))
    report.time('rein.compat code_run, with its prelude', found['code_run'], peer)


def measure_python(bench):
    host = new_host(bench)
    measure_commands(bench, host)
    measure_code(bench, host)
