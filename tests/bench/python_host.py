#!/usr/bin/env python3
"""Measures calls from Python on request, as bench-host does those from C. bench_python.py asks.

usage: python_host.py

A request is one line on standard input, its words separated by tabs: the name of what is done, how often,
and words for it. The answer is one line of nanoseconds. Whatever fails ends the host.

Two of the candidates are how other systems start things, in as few lines as show their cost.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import rein
from rein import _context, _native, _spec
from rein._native import lib
from rein.compat import genericagent, praisonai


def by_subprocess(*argv):
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                   check=True)


def by_two_readers(*argv):
    """A command with a thread for each of its streams, which are joined after its end."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept = [], []
    readers = [threading.Thread(target=lambda s=stream, k=lines: k.extend(iter(s.readline, '')),
                                daemon=True)
               for stream, lines in zip((process.stdout, process.stderr), kept)]
    for reader in readers:
        reader.start()
    process.wait(timeout=30)
    for reader in readers:
        reader.join(timeout=1)
    process.stdout.close()
    process.stderr.close()


def by_polling(code):
    """Code in a file, a thread that reads it line by line, and a look at it each second."""
    with tempfile.NamedTemporaryFile('w', suffix='.ai.py', delete=False) as f:
        f.write(code)
    process = subprocess.Popen([sys.executable, '-X', 'utf8', '-u', f.name], bufsize=0,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    kept = []
    reader = threading.Thread(target=lambda: kept.extend(iter(process.stdout.readline, b'')),
                              daemon=True)
    reader.start()
    while reader.is_alive():
        time.sleep(1)
    process.wait()
    process.stdout.close()
    os.unlink(f.name)


def by_code_run(code):
    for _ in genericagent.code_run(code, echo=False):
        pass


class Bare:
    """The library's functions and nothing around them: what a call costs without the package. In the
    same process, for two processes differ by more than is to be measured."""

    def __init__(self):
        self.context = _context.Context()
        self.result = _native.Result(size=ctypes.sizeof(_native.Result))
        self.job, self.text = ctypes.c_void_p(), ctypes.c_void_p()
        self.error = ctypes.byref(_context.new_error())

    def run(self, *argv):
        with _spec.prepare(argv=argv) as prepared:
            spec = ctypes.byref(prepared.struct)
        begin = time.perf_counter_ns()
        lib.rein_start(self.context.handle, spec, ctypes.byref(self.job), self.error)
        lib.rein_wait(self.job, -1, ctypes.byref(self.result))
        lib.rein_result_done(ctypes.byref(self.result))
        lib.rein_job_json(self.job, None, ctypes.byref(self.text), self.error)
        lib.rein_text_free(self.text)
        lib.rein_job_free(self.job)
        return time.perf_counter_ns() - begin

    def tool(self, *argv):
        arguments = json.dumps({'command': argv}).encode()
        begin = time.perf_counter_ns()
        lib.rein_tool_call(self.context.handle, b'execute_command', arguments, len(arguments),
                           None, ctypes.byref(self.text), self.error)
        lib.rein_text_free(self.text)
        return time.perf_counter_ns() - begin


BARE = Bare()
CANDIDATES = {
    'bare run': BARE.run,
    'bare tool': BARE.tool,
    'subprocess': by_subprocess,
    'two readers': by_two_readers,
    'run': lambda *argv: rein.run(argv),
    'tool': lambda *argv: rein.call_tool('execute_command', {'command': argv}),
    'drop-in': lambda *argv: praisonai.execute_command(argv),
    'python -c': lambda code: by_subprocess(sys.executable, '-X', 'utf8', '-c', code),
    'polling': by_polling,
    'code': lambda code: rein.code('python', code),
    'code_run': by_code_run,
}


def measure(name, count, *words):
    function = CANDIDATES[name]
    for _ in range(int(count)):
        begin = time.perf_counter_ns()
        own = function(*words)
        taken = time.perf_counter_ns() - begin
        yield own if isinstance(own, int) else taken


def main():
    for line in sys.stdin:
        print(*measure(*line.rstrip('\n').split('\t')), flush=True)


if __name__ == '__main__':
    main()
