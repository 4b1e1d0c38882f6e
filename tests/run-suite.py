#!/usr/bin/env python3
"""Runs the tests of a build directory and counts what really ran.

usage: run-suite.py BUILD [--suite NAME]... [--also-user NAME] [--no-long] [--jobs N] [--counts FILE]
                    [TEST...]

The list of tests is Meson's (tests/*/meson.build). Each one runs by itself: own session, own HOME
and TMPDIR, standard input from /dev/null, a deadline, and a parent that inherits its orphans, so
that a process which it leaves behind is noticed, named and ended. It reports in TAP; a test that
crashes, hangs, says nothing, or reports fewer results than it planned is a failure of its own.
What a sanitizer reports in any process fails the suite.

--also-user runs the suites that do not install anything once more as that user (only root can): a
copy of the tree and of the built programs is made for it, so it does not matter where they are.

--no-long leaves out the tests that take longest, those with a priority of LONG_PRIORITY or more.

The last line is 'N passed, N failed', with ', N skipped' where some were; --counts writes the three
numbers to a file as well.
"""

import argparse
import ctypes
import dataclasses
import json
import os
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

USER_SUITES = ('unit', 'fuzz', 'e2e')   # those that --also-user repeats
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
LONG_PRIORITY = 20
LEFTOVER_SECONDS = 2        # for processes that are on their way out when their test has ended
SHOWN_LINES = 200           # of a failed test's output
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f'{self.passed} passed, {self.failed} failed'
        return text + (f', {self.skipped} skipped' if self.skipped else '')


@dataclasses.dataclass
class Test:
    name: str       # suite/name
    suite: str
    command: list
    env: dict
    timeout: float
    tap: bool
    parallel: bool
    priority: int   # the long ones first, so that the cores are busy to the end


@dataclasses.dataclass
class Context:
    """How the tests of one pass are run."""
    title: str
    scratch: str        # each test gets a directory below
    user: str = None
    uid: int = None
    gid: int = None


# ---- the list ---------------------------------------------------------------------------------

def load_tests(build, suites, names, without_long):
    with open(os.path.join(build, 'meson-info', 'intro-tests.json'), encoding='utf-8') as f:
        entries = json.load(f)
    tests = []
    for e in entries:
        suite = e['suite'][0].rpartition(':')[2]
        if (suites and suite not in suites) or (names and e['name'] not in names):
            continue
        if without_long and e['priority'] >= LONG_PRIORITY:
            continue
        tests.append(Test(f'{suite}/{e["name"]}', suite, e['cmd'], e['env'], e['timeout'],
                          e['protocol'] == 'tap', e['is_parallel'], e['priority']))
    return tests


def source_root(build):
    with open(os.path.join(build, 'meson-info', 'meson-info.json'), encoding='utf-8') as f:
        return json.load(f)['directories']['source']


# ---- another user -----------------------------------------------------------------------------

def is_build_directory(path):
    return os.path.exists(os.path.join(path, 'meson-info')) or \
        os.path.exists(os.path.join(path, 'meson-private'))


def stage_source(source, target):
    """Copies the tree without history and build directories."""
    def ignored(folder, names):
        return [n for n in names if n in ('.git', '__pycache__')
                or is_build_directory(os.path.join(folder, n))]
    shutil.copytree(source, target, symlinks=True, ignore=ignored)


def stage_build(build, target):
    """Copies what can be run or loaded from a build directory, not what it was made of."""
    def ignored(folder, names):
        return [n for n in names if n.endswith(('.p', '.o', '.a', '.d', '.c'))
                or n.startswith(('.ninja', 'meson-', 'compile_commands'))]
    shutil.copytree(build, target, symlinks=True, ignore=ignored)


def open_to_all(path):
    """What chmod -R a+rX does: a strict umask must not decide what the tests see."""
    for folder, _, names in os.walk(path):
        os.chmod(folder, 0o755)
        for name in names:
            file = os.path.join(folder, name)
            if not os.path.islink(file):
                executable = os.stat(file).st_mode & 0o100
                os.chmod(file, 0o755 if executable else 0o644)


def move_test(test, moves):
    """The same test with its paths in another place."""
    def moved(text):
        if text.startswith('/'):  # the build directory may be named on the way to a source
            text = os.path.normpath(text)
        for old, new in moves:
            text = re.sub(rf'^{re.escape(old)}(?=/|$)', new, text)
        return text
    return dataclasses.replace(test, command=[moved(word) for word in test.command],
                               env={key: moved(value) for key, value in test.env.items()})


def stage(tests, build, source, directory):
    stage_source(source, os.path.join(directory, 'source'))
    stage_build(build, os.path.join(directory, 'build'))
    for name in ('source', 'build'):
        open_to_all(os.path.join(directory, name))
    moves = ((build, os.path.join(directory, 'build')), (source, os.path.join(directory, 'source')))
    return [move_test(test, moves) for test in tests if test.suite in USER_SUITES]


# ---- one test, seen from its parent -----------------------------------------------------------

def children():
    """The living and dead children of this process."""
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', 'rb') as f:
                    fields = f.read().rpartition(b')')[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                found.append(int(name))
    return found


def reap():
    """Reaps what has ended. True while a child lives."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


def describe(pid):
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as f:
            text = f.read().replace(b'\0', b' ').decode(errors='replace').strip()
        with open(f'/proc/{pid}/comm', encoding='utf-8', errors='replace') as f:
            return f'{pid} ({text[:200] or f.read().strip()})'
    except OSError:
        return str(pid)


def wait_for_child(pid, seconds):
    """True when the child has ended within so many seconds; it is not reaped."""
    fd = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    ended = bool(poll.poll(seconds * 1000))
    os.close(fd)
    return ended


def kill_children():
    """Ends all children, and the orphans that come back in their place."""
    while reap():
        for pid in children():
            os.kill(pid, signal.SIGKILL)    # ours and not reaped: cannot be another one
            wait_for_child(pid, 5)


def leftovers():
    """Gives processes on their way out some time, then names and ends the rest."""
    end = time.monotonic() + LEFTOVER_SECONDS
    while reap() and time.monotonic() < end:
        for pid in children()[:1]:
            wait_for_child(pid, max(0, end - time.monotonic()))
    if not reap():
        return []
    found = [describe(pid) for pid in children()]
    kill_children()
    return found


def test_environment(test, directory, context):
    env = {'PATH': PATH, 'LANG': 'C.UTF-8', 'TERM': 'dumb', 'PYTHONDONTWRITEBYTECODE': '1'}
    env.update({key: value for key, value in os.environ.items() if key.startswith('REIN_TEST_')})
    env['USER'] = env['LOGNAME'] = context.user or pwd.getpwuid(os.geteuid()).pw_name
    env.update(test.env)
    for name in ('HOME', 'TMPDIR'):
        env[name] = os.path.join(directory, name.lower())
        os.mkdir(env[name], 0o700)
        if context.user:
            os.chown(env[name], context.uid, context.gid)
    return env


def supervise(test, directory, context):
    """Runs in a process of its own, the parent of the test and of its orphans."""
    os.setsid()
    os.umask(0o022)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: (kill_children(), os._exit(1)))
    identity = {}
    if context.user:
        identity = {'user': context.uid, 'group': context.gid, 'extra_groups': []}
    env = test_environment(test, directory, context)
    with open(os.path.join(directory, 'out'), 'wb') as out, \
            open(os.path.join(directory, 'err'), 'wb') as err:
        process = subprocess.Popen(test.command, env=env, cwd=env['TMPDIR'], stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL, start_new_session=True, **identity)
    timed_out = not wait_for_child(process.pid, test.timeout)
    if timed_out:
        kill_children()
        status, left = None, []
    else:
        status = process.wait()
        left = leftovers()
    with open(os.path.join(directory, 'verdict'), 'w', encoding='utf-8') as f:
        json.dump({'status': status, 'left': left}, f)


def start(test, directory, context):
    os.mkdir(directory, 0o755)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            supervise(test, directory, context)
        except BaseException as e: # pylint: disable=broad-except
            print(f'run-suite: {test.name}: {e!r}', file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return pid


# ---- judging ----------------------------------------------------------------------------------

def read_file(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return f.read()
    except FileNotFoundError:
        return ''


def judge_tap(text, status):
    """Counts the results. Returns the counts and what is wrong with the report itself."""
    counts, planned, problems, skips = Counts(), None, [], []
    for line in text.splitlines():
        plan = re.match(r'1\.\.(\d+)\s*(?:#\s*skip\b\s*(.*))?$', line, re.I)
        result = re.match(r'(not )?ok\b\s*\d*\s*(.*)$', line)
        if plan:
            if planned is not None:
                problems.append('two plans')
            planned = int(plan[1])
            if planned == 0 and plan[2] is not None:
                skips.append(plan[2])
        elif result:
            skip = re.search(r'#\s*skip\b:?\s*(.*)$', result[2], re.I)
            if skip:
                counts.skipped += 1
                skips.append(re.sub(r'\s*#\s*skip\b:?\s*', ': ', result[2], flags=re.I).strip('-: '))
            elif result[1]:
                counts.failed += 1
            else:
                counts.passed += 1
        elif line.startswith('Bail out!'):
            problems.append(line)
    if planned == 0 and skips and not counts.passed + counts.failed:
        counts.skipped += 1
        planned = 1
    seen = counts.passed + counts.failed + counts.skipped
    if planned is None:
        problems.append(f'no plan, {seen} results')
    elif planned != seen:
        problems.append(f'{planned} results planned, {seen} given')
    elif seen == 0:
        problems.append('nothing tested')
    if status and not counts.failed:
        problems.append(f'ended with {describe_status(status)} though no result says why')
    return counts, problems, skips


def describe_status(status):
    return f'exit status {status}' if status >= 0 else f'signal {signal.Signals(-status).name}'


def judge(test, directory):
    """The counts of a test that has ended, what went wrong beside its results, what it skipped."""
    verdict = json.loads(read_file(os.path.join(directory, 'verdict')) or 'null')
    if verdict is None:
        return Counts(failed=1), ['could not be run'], []
    status = verdict['status']
    if test.tap:
        counts, problems, skips = judge_tap(read_file(os.path.join(directory, 'out')), status)
    else:
        counts, problems, skips = Counts(passed=int(status == 0), skipped=int(status == 77)), [], []
        if status not in (0, 77, None):
            problems = [describe_status(status)]
    if status is None:
        problems = [f'did not end within {test.timeout:g} s']
    problems += [f'left running: {text}' for text in verdict['left']]
    counts.failed += bool(problems)     # a crash spoils the report as well: one fault, not two
    return counts, problems, skips


def show(test, directory, seconds, outcome):
    counts, problems, skips = outcome
    print(f'{"FAIL" if counts.failed else "ok":4} {test.name:28} {seconds:6.2f} s  {counts}')
    for reason in skips:
        print(f'       skipped: {reason}')
    if counts.failed:
        for name in ('out', 'err'):
            lines = read_file(os.path.join(directory, name)).splitlines()
            if len(lines) > SHOWN_LINES:
                print(f'     | ({len(lines) - SHOWN_LINES} lines before these)')
            for line in lines[-SHOWN_LINES:]:
                print(f'     | {line}')
    for problem in problems:
        print(f'     ! {problem}')


def take_sanitizer_logs(build):
    """What the sanitizers of a build with them wrote since the last look, in whatever process. That
    they do not know the supervisor's stack is no fault of the supervisor."""
    directory = os.path.join(build, 'sanitizer-logs')
    reports = []
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        path = os.path.join(directory, name)
        report = re.sub(r'^==\d+==WARNING: ASan is ignoring requested __asan_handle_no_return:.*\n'
                        r'False positive.*\nFor details.*\n', '', read_file(path), flags=re.M)
        os.unlink(path)
        if report.strip():
            reports.append(f'{name}\n{report}')
    return reports


# ---- a pass over the list ---------------------------------------------------------------------

def run_tests(tests, context, jobs):
    """Runs them all, those that want the machine for themselves last. Gives the sum."""
    total, waiting, running = Counts(), sorted(tests, key=lambda t: (not t.parallel, -t.priority)), {}
    print(f'---- {context.title}', flush=True)
    serial = 0
    try:
        while waiting or running:
            while waiting and (not running or (len(running) < jobs and waiting[0].parallel)):
                test = waiting.pop(0)
                serial += 1
                directory = os.path.join(context.scratch, f'{serial}')
                running[start(test, directory, context)] = test, directory, time.monotonic()
            pid, _ = os.wait()
            test, directory, started = running.pop(pid)
            outcome = judge(test, directory)
            show(test, directory, time.monotonic() - started, outcome)
            total.add(outcome[0])
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        for pid in running:
            os.kill(pid, signal.SIGTERM)
        for pid in running:
            os.waitpid(pid, 0)
    return total


def run_pass(tests, args, user=None):
    # Our own TMPDIR may be closed to another user.
    scratch = tempfile.mkdtemp(prefix='rein-suite-', dir='/tmp' if user else None)
    os.chmod(scratch, 0o755)
    try:
        context = Context(f'as {pwd.getpwuid(os.geteuid()).pw_name}', scratch)
        if user:
            entry = pwd.getpwnam(user)
            context = Context(f'as {user}', scratch, user, entry.pw_uid, entry.pw_gid)
            tests = stage(tests, args.build, source_root(args.build), scratch)
        return run_tests(tests, context, args.jobs)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].removeprefix('usage: '))
    parser.add_argument('build', type=os.path.abspath)
    parser.add_argument('names', nargs='*', metavar='TEST')
    parser.add_argument('--suite', action='append', dest='suites')
    parser.add_argument('--also-user')
    parser.add_argument('--no-long', action='store_true')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--counts')
    return parser.parse_intermixed_args()


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tests = load_tests(args.build, args.suites, args.names, args.no_long)
    logs = os.path.join(args.build, 'sanitizer-logs')
    os.makedirs(logs, exist_ok=True)
    take_sanitizer_logs(args.build)

    total = run_pass(tests, args)
    if args.also_user and os.geteuid() == 0:
        total.add(run_pass(tests, args, args.also_user))
    for report in take_sanitizer_logs(args.build):
        print('FAIL a sanitizer reports:', report, sep='\n')
        total.failed += 1
    if not total.passed + total.failed + total.skipped:
        print('FAIL no test was run')
        total.failed += 1

    if args.counts:
        with open(args.counts, 'w', encoding='utf-8') as f:
            f.write(f'{total.passed} {total.failed} {total.skipped}\n')
    print(total, flush=True)
    sys.exit(1 if total.failed else 0)


if __name__ == '__main__':
    main()
