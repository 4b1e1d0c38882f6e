"""What all black-box tests share: running rein, finding a job's processes, judging its results.

The tests know the program only from outside: its command line, its output, its exit status, and the
processes and files that it makes or leaves. They run in parallel with themselves (other users,
other builds), so each one has its own directory, and a number by which its processes are found.

Environment: REIN_BIN (the program), REIN_HELPERS (directory of the built helper programs),
REIN_WITH_HOOKS (the program with test hooks), REIN_TEST_MUST_WORK=1 (a test that cannot run here
fails instead of being skipped), REIN_TEST_SLOW (a factor for all waits, for slow builds).
"""

import ctypes
import json
import os
import pwd
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REIN = os.path.abspath(os.environ.get('REIN_BIN') or os.path.join(ROOT, 'build', 'rein'))
HELPERS = os.path.abspath(os.environ.get('REIN_HELPERS')
                          or os.path.join(ROOT, 'build', 'tests', 'helpers'))
MUST_WORK = os.environ.get('REIN_TEST_MUST_WORK') == '1'
SLOW = float(os.environ.get('REIN_TEST_SLOW') or 1)

AT_ONCE = 2 * SLOW      # seconds; the faults take many times as long
PATIENCE = 20 * SLOW    # seconds until a run counts as hung
IS_ROOT = os.geteuid() == 0

MIB = 1 << 20
SKIPPED = 'cannot run here: '

# Variables of the tests' own environment that a build with sanitizers or coverage needs.
PASSED_ON = ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'TSAN_OPTIONS', 'LD_LIBRARY_PATH',
             'GCOV_PREFIX', 'GCOV_PREFIX_STRIP', 'LLVM_PROFILE_FILE')

# Folders that this user may not look into would make every unknown command "permission denied".
PATH = ':'.join(folder for folder in os.environ.get('PATH', os.defpath).split(':')
                if os.path.isabs(folder) and os.access(folder, os.X_OK))

RESULT_KEYS = frozenset((
    'process_id', 'pid', 'status', 'reason', 'success', 'exit_code', 'signal', 'command', 'cwd',
    'name', 'started_at', 'duration_ms', 'output_bytes', 'omitted_bytes', 'omitted_at', 'truncated',
    'cursor', 'encoding', 'log_file', 'left_running', 'usage', 'sandbox', 'warnings'))

REASONS = ('exit', 'signal', 'timeout', 'stopped', 'owner_gone', 'memory_limit', 'cpu_limit',
           'file_size_limit', 'output_limit', 'lost')

GAP_LINE = re.compile(r'\[… ([\d,]+) bytes omitted; (full|kept) output: (.+) …\]')

PR_SET_CHILD_SUBREAPER = 36
# Whatever rein leaves behind comes back to the test process instead of to init, and is found.
ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def sanitized():
    """Is the program built with sanitizers? Then memory and address space say little."""
    if not hasattr(sanitized, 'answer'):
        with open(REIN, 'rb') as f:
            sanitized.answer = b'__asan_init' in f.read()
    return sanitized.answer


def wait_until(predicate, seconds=5, what='the event'):
    """Looks until predicate() is true, and returns what it gave. Fails after so many seconds."""
    end = time.monotonic() + seconds * SLOW
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f'{what} did not come within {seconds * SLOW:g} s')
        time.sleep(0.005)


def proc_argv(pid):
    """The arguments of a process as bytes; empty for zombies and for what has gone."""
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as f:
            return f.read().split(b'\0')[:-1]
    except OSError:
        return []


def proc_stat(pid):
    """(state letter, parent's pid), or None when there is no such process."""
    try:
        with open(f'/proc/{pid}/stat', 'rb') as f:
            fields = f.read().rpartition(b')')[2].split()
    except OSError:
        return None
    return fields[0].decode(), int(fields[1])


def proc_status(pid, key):
    """A number of /proc/PID/status, in its own unit, or None."""
    try:
        with open(f'/proc/{pid}/status', encoding='utf-8', errors='replace') as f:
            for line in f:
                if line.startswith(key + ':'):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return None


def all_pids():
    return [int(name) for name in os.listdir('/proc') if name.isdigit()]


def children_of(pid):
    """The children of a process, zombies too."""
    return [p for p in all_pids() if (proc_stat(p) or ('', 0))[1] == pid]


def descendants_of(pid):
    """All that stands below a process."""
    parents = {p: (proc_stat(p) or ('', 0))[1] for p in all_pids()}
    found, new = set(), {pid}
    while new:
        new = {p for p, parent in parents.items() if parent in new} - found
        found |= new
    return found


def chain_between(top, pid):
    """The processes between a process and its descendant, the nearest to the descendant first."""
    chain = []
    while True:
        pid = (proc_stat(pid) or ('', 0))[1]
        if pid in (0, 1, top):
            return chain if pid == top else None
        chain.append(pid)


def expected_rc(r):
    """The exit status that goes with a result object."""
    if r['reason'] == 'timeout':
        return 124
    if r['reason'] == 'lost' or r['exit_code'] is None:
        return 125
    if r['exit_code'] < 0:
        return 128 - r['exit_code']
    if r['exit_code'] == 0 and r['reason'] != 'exit':
        return 137
    return r['exit_code']


class Outcome:
    """What one call of rein gave."""

    def __init__(self, args, rc, out, err, seconds):
        self.args, self.rc, self.out, self.err, self.seconds = args, rc, out, err, seconds

    def __str__(self):
        return (f'\n  {" ".join(map(repr, self.args))}\n  rc {self.rc} after {self.seconds:.3f} s'
                f'\n  stdout {self.out[:1500]!r}\n  stderr {self.err[:1500]!r}')

    @property
    def text(self):
        return self.out.decode('utf-8')

    @property
    def err_text(self):
        return self.err.decode('utf-8', 'backslashreplace')

    @property
    def json(self):
        """Standard output as exactly one JSON object."""
        try:
            value = json.loads(self.out.decode('utf-8'))
        except ValueError as e:
            raise AssertionError(f'standard output is not one JSON document: {e}{self}') from e
        assert isinstance(value, dict), f'not an object: {self}'
        return value

    R = json

    @property
    def events(self):
        """Standard output as one JSON object a line."""
        try:
            return [json.loads(line) for line in self.out.decode('utf-8').splitlines()]
        except ValueError as e:
            raise AssertionError(f'standard output is not one event a line: {e}{self}') from e


def open_the_way(path):
    """Lets others pass through the folders above, as far as they are closed."""
    while (path := os.path.dirname(path)) != '/':
        mode = os.stat(path).st_mode
        if not mode & 0o001:
            os.chmod(path, mode & 0o7777 | 0o011)


class ReinTest(unittest.TestCase):
    """A test with its own directory, store and environment, that leaves nothing behind."""

    maxDiff = 2000

    def setUp(self):
        self.temp = os.path.realpath(tempfile.mkdtemp(prefix='rein-e2e-'))
        self.addCleanup(self._remove_temp)
        for name in ('state', 'home', 'work', 'tmp', 'config'):
            path = os.path.join(self.temp, name)
            os.mkdir(path, 0o700)
            setattr(self, name, path)
        self.env = {
            'PATH': PATH, 'HOME': self.home, 'TMPDIR': self.tmp, 'XDG_CONFIG_HOME': self.config,
            'REIN_STATE': self.state}
        for name in PASSED_ON:
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.markers, self.spawned = [], []
        self.addCleanup(self._nothing_left)

    # ---- clean-up -------------------------------------------------------------------------

    def _remove_temp(self):
        shutil.rmtree(self.temp, ignore_errors=True)

    def _nothing_left(self):
        """Ends what this test started, and fails when rein left anything."""
        for p in self.spawned:
            if p.poll() is None:
                p.kill()
                p.wait()
            for stream in (p.stdin, p.stdout, p.stderr):
                if stream:
                    stream.close()
        left = self._end_leftovers()
        self.assertEqual(left, [], 'processes were left behind')
        self.assert_no_scripts()

    def _end_leftovers(self):
        """Waits for what is on its way out, then names and kills the rest: all children of the
        test process are this test's, because orphans come back to it."""
        end = time.monotonic() + 2 * SLOW
        while self._reap_orphans() and time.monotonic() < end:
            time.sleep(0.01)
        left = []
        for _ in range(200):
            living = self._reap_orphans() + [p for m in self.markers for p in self.processes(m)]
            if not living:
                break
            for pid in living:
                left.append(b' '.join(proc_argv(pid))[:200] or pid)
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)
        return left

    @staticmethod
    def _reap_orphans():
        """Reaps what came back to the test process. Returns the children that still live."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return []
            if pid == 0:
                return children_of(os.getpid())

    def assert_no_scripts(self):
        """No script of `rein code` and no temporary file is left in any place rein may use."""
        self.assertEqual(os.listdir(self.tmp), [], 'temporary files were left behind')
        for folder, _, names in os.walk(self.state):
            for name in names:
                self.assertNotRegex(name, r'\.(ai\.py|py|sh|bash|js|mjs|rb|pl|ps1)$',
                                    f'a script was left in {folder}')

    # ---- what cannot be tested here -------------------------------------------------------

    def cannot(self, reason):
        """This machine or user cannot do what the test needs."""
        if MUST_WORK:
            self.fail(SKIPPED + reason)
        self.skipTest(SKIPPED + reason)

    def not_with_sanitizers(self, reason):
        """The ordinary build shows what this test is about; one with sanitizers cannot."""
        if sanitized():
            self.skipTest(f'with sanitizers {reason}')

    def without_leak_check(self):
        """Variables for where a leak checker cannot work: it needs a process, /proc, and ptrace."""
        given = self.env.get('ASAN_OPTIONS')
        return {'ASAN_OPTIONS': ':'.join([*([given] if given else []), 'detect_leaks=0'])} \
            if sanitized() else {}

    def need(self, program):
        """The path of a program, or no test."""
        path = shutil.which(program, path=self.env['PATH'])
        if not path:
            self.cannot(f'{program} is not installed')
        return path

    def need_account(self):
        """This user's entry in the user data base, or no test."""
        try:
            return pwd.getpwuid(os.getuid())
        except KeyError:
            self.cannot('this user is not in the user data base')

    def helper(self, name):
        path = os.path.join(HELPERS, name)
        self.assertTrue(os.path.exists(path), f'helper {path} is not built')
        return path

    def as_namespace_root(self, *flags):
        """The beginning of a command that is the superuser in namespaces of its own."""
        self.need('unshare')
        if IS_ROOT and not flags:
            return []
        command = ['unshare', *([] if IS_ROOT else ['-Ur']), *flags]
        probe = subprocess.run([*command, 'true'], capture_output=True, check=False, env=self.env)
        if probe.returncode != 0:
            self.cannot(f'{" ".join(command)}: {probe.stderr.decode().strip()}')
        return command

    def as_ordinary_user(self):
        """Arguments for rein() that make it run as somebody without privileges: for the superuser
        a user of its own, who then owns the test's directory."""
        if not IS_ROOT:
            return {}
        uid = 200000 + os.getpid() % 1000000
        user = {'user': uid, 'group': uid, 'extra_groups': []}
        try:
            subprocess.run(self.command('--version'), check=True, capture_output=True, **user)
        except (OSError, subprocess.SubprocessError) as e:
            self.cannot(f'another user cannot run {REIN}: {e}')
        for folder, folders, names in os.walk(self.temp):
            for name in ['.', *folders, *names]:
                os.chown(os.path.join(folder, name), uid, uid, follow_symlinks=False)
        open_the_way(self.temp)
        return user

    # ---- running rein ---------------------------------------------------------------------

    def command(self, *args):
        return [REIN, *args]

    def _environment(self, env, extra_env):
        result = dict(self.env if env is None else env)
        result.update(extra_env or {})
        return result

    def rein(self, *args, env=None, extra_env=None, prefix=(), input=None, stdin=subprocess.DEVNULL,
             cwd=None, timeout=PATIENCE, **popen):
        """Runs rein to its end. One that hangs is killed, alone, and fails the test."""
        command = [*prefix, *self.command(*args)]
        start = time.monotonic()
        if input is not None:
            stdin = subprocess.PIPE
        popen.setdefault('stdout', subprocess.PIPE)
        popen.setdefault('stderr', subprocess.PIPE)
        p = subprocess.Popen(command, env=self._environment(env, extra_env), stdin=stdin,
                             cwd=cwd or self.work, **popen)
        self.spawned.append(p)
        try:
            out, err = p.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            self.fail(f'hung for {timeout:g} s: {command}')
        return Outcome(command, p.returncode, out or b'', err or b'', time.monotonic() - start)

    def run_json(self, *args, **kw):
        return self.rein('run', '--json', *args, **kw)

    def code_json(self, *args, **kw):
        return self.rein('code', '--json', *args, **kw)

    def sh(self, script, *options, **kw):
        """`rein run --json OPTIONS -- bash -c SCRIPT`."""
        return self.run_json(*options, '--', 'bash', '-c', script, **kw)

    def ready_before(self, run, seconds, ready):
        """Calls run(DUR) with a deadline, and with longer ones where the machine is too slow for
        the job to have written `ready` before it. Returns the outcome and the deadline in ms."""
        for factor in 1, 3, 10:
            o = run(f'{seconds * factor:g}')
            if ready in o.R.get('output', ''):
                break
        return o, seconds * factor * 1000

    def spawn(self, *args, env=None, extra_env=None, prefix=(), stdin=subprocess.DEVNULL, cwd=None,
              **popen):
        """Starts rein and returns while it runs."""
        popen.setdefault('stdout', subprocess.PIPE)
        popen.setdefault('stderr', subprocess.PIPE)
        p = subprocess.Popen([*prefix, *self.command(*args)],
                             env=self._environment(env, extra_env), stdin=stdin,
                             cwd=cwd or self.work, **popen)
        p.started = time.monotonic()
        self.spawned.append(p)
        return p

    def finish(self, p, timeout=PATIENCE):
        """Waits for a spawned rein; its Outcome has what was not yet read."""
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            self.fail(f'hung for {timeout:g} s: {p.args}')
        return Outcome(p.args, p.returncode, out or b'', err or b'', time.monotonic() - p.started)

    def read_some(self, file, until, seconds=5):
        """Reads from a pipe or terminal, and nothing but what is there, until it contains bytes."""
        fd = file if isinstance(file, int) else file.fileno()
        got, end = b'', time.monotonic() + seconds * SLOW
        while until not in got:
            left = end - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                self.fail(f'{until!r} did not come within {seconds * SLOW:g} s, only {got!r}')
            try:
                chunk = os.read(fd, 65536)
            except OSError:     # a terminal whose last user has gone
                chunk = b''
            if not chunk:
                self.fail(f'the output ended before {until!r}, with {got!r}')
            got += chunk
        return got

    # ---- files ----------------------------------------------------------------------------

    def write(self, name, content, mode=0o644):
        """A file in the working directory; returns its path."""
        path = os.path.join(self.work, name)
        with open(path, 'wb') as f:
            f.write(content.encode() if isinstance(content, str) else content)
        os.chmod(path, mode)
        return path

    @staticmethod
    def read(path):
        with open(path, 'rb') as f:
            return f.read()

    # ---- processes of a job ---------------------------------------------------------------

    def marker(self, number):
        """A number of seconds that only this test's processes have among their arguments."""
        m = f'{number}.{int.from_bytes(os.urandom(4), "big"):010d}1'
        self.markers.append(m)
        return m

    def processes(self, marker):
        """The living processes with a marker in their arguments, without rein itself."""
        needle = marker.encode()
        own = {p.pid for p in self.spawned}
        return [p for p in all_pids()
                if p not in own and any(needle in arg for arg in proc_argv(p))]

    def running(self, *argv):
        """The processes that have exactly these arguments, whatever path their program has."""
        wanted = [os.fsencode(a) for a in argv]
        found = []
        for pid in all_pids():
            has = proc_argv(pid)
            if has and [os.path.basename(has[0]), *has[1:]] == wanted:
                found.append(pid)
        return found

    def wait_running(self, *argv, count=1):
        """Waits until that many processes have exactly these arguments; returns their pids."""
        return wait_until(lambda: len(p := self.running(*argv)) >= count and p,
                          what=f'{count} × {argv}')

    def assert_gone(self, marker, within=0):
        """No process with the marker is alive: now, or after so many seconds at most."""
        end = time.monotonic() + within * SLOW
        while True:
            living = self.processes(marker)
            if not living:
                return
            if time.monotonic() >= end:
                self.fail(f'alive: {[(p, proc_argv(p)) for p in living]}')
            time.sleep(0.01)

    # ---- judging --------------------------------------------------------------------------

    def assert_shape(self, r, split=False):
        """What holds for every result object of an ended job that was shown from its beginning."""
        texts = {'stdout', 'stderr'} if split else {'output'}
        missing = (RESULT_KEYS | texts) - set(r)
        self.assertFalse(missing, f'keys are missing: {r}')
        self.assertFalse(({'stdout', 'stderr', 'output'} - texts) & set(r), r)
        self.assertRegex(r['process_id'], r'^[0-9a-f]{8}$')
        self.assertGreater(r['pid'], 0)
        self.assertEqual(r['status'], 'exited')
        self.assertIn(r['reason'], REASONS)
        self.assertIs(r['success'], r['reason'] == 'exit' and r['exit_code'] == 0, r)
        if r['reason'] == 'lost':
            self.assertIsNone(r['exit_code'])
        else:
            self.assertIsInstance(r['exit_code'], int)
            self.assertTrue(-64 <= r['exit_code'] <= 255)
            self.assertIs(r['signal'] is not None, r['exit_code'] < 0, r)
        self.assertRegex(r['started_at'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$')
        self.assertGreaterEqual(r['duration_ms'], 0)
        self.assertGreaterEqual(r['output_bytes'], 0)
        self.assertGreaterEqual(r['omitted_bytes'], 0)
        self.assertIs(r['truncated'], r['omitted_bytes'] > 0)
        self.assertIs(r['omitted_at'] is not None, r['truncated'], r)
        if r['truncated']:
            self.assertIsInstance(r['log_file'], str)
        self.assertEqual(r['cursor'], r['output_bytes'])
        self.assertIsInstance(r['encoding'], str)
        for entry in r['left_running']:
            self.assertGreater(entry['pid'], 0)
            self.assertIsInstance(entry['command'], str)
        self.assertEqual(set(r['usage']), {'user_ms', 'system_ms', 'max_rss_bytes'})
        self.assertEqual(r['sandbox']['level'], 'off')
        self.assertEqual(r['sandbox']['enforced'], [])
        self.assertTrue(all(isinstance(line, str) for line in r['warnings']), r)

    def assert_ended(self, outcome, reason, exit_code=None, signal_name=None, output=None,
                     split=False):
        """The job ended for this reason, and the object and the exit status agree with each other.
        Returns the result object."""
        r = outcome.R
        self.assertNotIn('error', r, str(outcome))
        self.assert_shape(r, split)
        self.assertEqual(r['reason'], reason, str(outcome))
        if exit_code is not None:
            self.assertEqual(r['exit_code'], exit_code, str(outcome))
        if signal_name is not None:
            self.assertEqual(r['signal'], signal_name, str(outcome))
        if output is not None:
            self.assertEqual(r['output'], output, str(outcome))
        self.assertEqual(outcome.rc, expected_rc(r), str(outcome))
        return r

    def assert_duration(self, r, at_least_ms, at_most_ms):
        self.assertGreaterEqual(r['duration_ms'], at_least_ms)
        self.assertLessEqual(r['duration_ms'], at_most_ms * SLOW)

    def assert_at_once(self, outcome):
        self.assertLess(outcome.seconds, AT_ONCE, str(outcome))

    def assert_refused(self, outcome, codes, rc, *words):
        """A call with --json that could not be carried out says so on standard output."""
        codes = (codes,) if isinstance(codes, str) else codes
        r = outcome.json
        self.assertEqual(outcome.rc, rc, str(outcome))
        self.assertIs(r.get('success'), False, str(outcome))
        self.assertIn(r.get('error_code'), codes, str(outcome))
        self.assertIn('hint', r, str(outcome))
        self.assertNotIn('\n', r['error'], str(outcome))
        for word in words:
            self.assertIn(word, r['error'] + '\n' + (r['hint'] or ''), str(outcome))
        return r

    def assert_complains(self, outcome, rc, *words):
        """A call in text mode that could not be carried out: one clear line, and a hint at most."""
        self.assertEqual(outcome.rc, rc, str(outcome))
        self.assertEqual(outcome.out, b'', str(outcome))
        lines = outcome.err_text.splitlines()
        self.assertTrue(lines and lines[0].startswith('rein: '), str(outcome))
        self.assertLessEqual(len(lines), 2, str(outcome))
        self.assertNotIn('\x1b', outcome.err_text)
        for word in words:
            self.assertIn(word, outcome.err_text, str(outcome))


def free_of_signals():
    """For preexec_fn: all dispositions default, nothing blocked, whatever the test runner has."""
    for n in range(1, signal.NSIG):
        if n not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(n, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def is_private(path):
    """Is a file or directory closed to everybody else?"""
    return stat.S_IMODE(os.lstat(path).st_mode) & 0o077 == 0


if __name__ == '__main__':
    sys.exit('rein_test.py holds no tests: run the test_*.py files')
