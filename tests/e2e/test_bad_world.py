"""When the machine gives rein less than it needs: each time one clear line, the right status, and
nothing left behind."""

import itertools
import os
import resource
import shutil
import signal
import stat
import subprocess
import unittest

from rein_test import SLOW, ReinTest, free_of_signals, sanitized

OWN_FAILURES = ('spawn_failed', 'limit_exceeded', 'internal')


class BadWorld(ReinTest):

    def assert_works_or_complains(self, outcome, codes=OWN_FAILURES):
        """With --json. True when it worked."""
        if outcome.rc == 0:
            self.assert_ended(outcome, 'exit', 0)
            return True
        self.assert_refused(outcome, codes, 125)
        return False

    def assert_no_new_scripts(self):
        """As assert_no_scripts(), and what one case left is not held against the next one."""
        try:
            self.assert_no_scripts()
        finally:
            for folder in self.tmp, self.state:
                for name in os.listdir(folder):
                    shutil.rmtree(os.path.join(folder, name))


class ClosedDescriptors(BadWorld):
    """0, 1 and 2 closed at the start, in every combination."""

    @staticmethod
    def closing(fds):
        def close():
            for fd in fds:
                os.close(fd)
        return close

    def combinations(self):
        for n in range(4):
            yield from itertools.combinations(range(3), n)

    def test_the_job_has_all_three(self):
        fd_list = self.helper('fd-list')
        for closed in self.combinations():
            with self.subTest(closed=closed):
                # Descriptor 3 up are closed by subprocess; what the job sees comes by a file.
                o = self.rein('run', '--', 'sh', '-c', f'exec 9>seen; "{fd_list}" >&9 9>&-',
                              preexec_fn=self.closing(closed))
                self.assertEqual(o.rc, 0, str(o))
                self.assertEqual((o.out, o.err), (b'', b''))
                fds = dict(line.split(' ', 1) for line in
                           self.read(os.path.join(self.work, 'seen')).decode().splitlines())
                self.assertEqual(sorted(fds), ['0', '1', '2'])
                self.assertEqual(fds['0'], '/dev/null')

    def test_output_that_cannot_be_written(self):
        for closed in self.combinations():
            with self.subTest(closed=closed):
                o = self.rein('run', '--', 'sh', '-c', 'echo out; echo err >&2',
                              preexec_fn=self.closing(closed))
                if 1 in closed:
                    self.assertEqual(o.rc, 125, str(o))
                    self.assertEqual(o.out, b'')
                    if 2 not in closed:
                        self.assertRegex(o.err_text, r'\Arein: [^\n]*\n\Z')
                else:
                    self.assertEqual((o.rc, o.out, o.err), (0, b'out\nerr\n', b''))

    def test_results(self):
        for closed in self.combinations():
            with self.subTest(closed=closed):
                o = self.run_json('--', 'sh', '-c', 'echo out; exit 3',
                                  preexec_fn=self.closing(closed))
                if 1 in closed:
                    self.assertEqual(o.rc, 125, str(o))
                else:
                    self.assert_ended(o, 'exit', 3, output='out\n')

    def test_inherited_input_that_is_closed(self):
        for closed in (0,), (0, 1), (0, 1, 2):
            with self.subTest(closed=closed):
                o = self.rein('run', '--stdin', 'inherit', '--', 'sh', '-c',
                              'cat; echo $? > status', preexec_fn=self.closing(closed),
                              timeout=5 * SLOW)
                self.assertIn(o.rc, (0, 1, 125), str(o))
                self.assertEqual(o.out, b'')

    def test_code(self):
        for closed in self.combinations():
            with self.subTest(closed=closed):
                o = self.rein('code', 'bash', '-c', 'echo ran > seen',
                              preexec_fn=self.closing(closed))
                self.assertEqual(o.rc, 0, str(o))
                self.assertEqual(self.read(os.path.join(self.work, 'seen')), b'ran\n')
                os.unlink(os.path.join(self.work, 'seen'))


class Limits(BadWorld):

    def test_few_descriptors(self):
        worked = []
        for limit in range(4, 40):
            def limited():
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            for verb in ['run', '--json', '--', 'true'], ['code', '--json', 'bash', '-c', 'true']:
                o = self.rein(*verb, preexec_fn=limited)
                if o.rc == 127 and b'shared librar' in o.err:
                    continue    # not even the loader could work
                with self.subTest(limit=limit, verb=verb[0]):
                    if self.assert_works_or_complains(o):
                        worked.append(limit)
                    self.assert_no_new_scripts()
        self.assertIn(39, worked)
        self.assertLess(min(worked), 32, 'rein needs many descriptors')

    def test_no_process_may_be_made(self):
        """With a limit of so many processes for this user; each further one gets rein further."""
        user = self.as_ordinary_user()
        # A user of our own has exactly what is given here; other users have processes already.
        for limit in range(7) if user else [0]:
            def limited():
                resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
            for verb in ['run', '--json', '--', 'touch'], ['code', '--json', 'bash', '-c', 'true']:
                with self.subTest(limit=limit, verb=verb[0]):
                    name = os.path.join(self.work, 'ran')
                    o = self.rein(*verb, *([name] if verb[0] == 'run' else []),
                                  extra_env=self.without_leak_check(),
                                  preexec_fn=self.after_becoming(user, limited))
                    worked = self.assert_works_or_complains(o)
                    if verb[0] == 'run':
                        self.assertEqual(os.path.exists(name), worked)
                        if worked:
                            os.unlink(name)
                    if limit == 0:
                        self.assertFalse(worked)
                    self.assert_no_new_scripts()
            if limit == 0:
                o = self.rein('run', '--', 'true', extra_env=self.without_leak_check(),
                              preexec_fn=self.after_becoming(user, limited))
                self.assert_complains(o, 125)

    @staticmethod
    def after_becoming(user, limited):
        """subprocess changes the user last, and then the kernel holds the limit against exec."""
        def become():
            if user:
                os.setgroups([])
                os.setgid(user['group'])
                os.setuid(user['user'])
            limited()
        return become

    def test_small_address_space(self):
        self.not_with_sanitizers('rein needs much of it')
        worked = False
        for mib in 4, 6, 8, 12, 16, 24, 32, 64:
            def limited():
                resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))
            o = self.run_json('--', '/bin/true', preexec_fn=limited)
            if o.rc == 127 and b'shared librar' in o.err or o.rc < 0:
                self.assertFalse(worked, str(o))
                continue        # not even the loader could work
            with self.subTest(mib=mib):
                worked = self.assert_works_or_complains(o) or worked

    def test_own_file_size_limit(self):
        """A limit on the size of files is the job's, not the log's, as far as it can be lifted."""
        size = 1988895
        for limit in 1024, 16384, 65536, 262144, 1 << 20, 4 << 20:
            def limited():
                hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            with self.subTest(limit=limit):
                o = self.run_json('--', 'bash', '-c', 'ulimit -f', preexec_fn=limited)
                if o.rc == 0:
                    self.assertEqual(o.json['output'], f'{limit // 1024}\n')
                o = self.run_json('--show', '4K', '--', 'seq', '1', '300000', preexec_fn=limited)
                if o.rc == 125:
                    self.assert_refused(o, OWN_FAILURES, 125)
                    if not sanitized():
                        self.assertLess(limit, 262144, 'more than rein itself needs')
                    continue
                r = o.R
                self.assertEqual((r['reason'], r['exit_code'], r['output_bytes'], r['truncated']),
                                 ('exit', 0, size, True), str(o))
                self.assertTrue(r['output'].startswith('1\n2\n'))
                self.assertEqual(r['warnings'], [], str(o))
                self.assertTrue(r['output'].endswith('\n299999\n300000\n'))
                o = self.rein('run', '--', 'seq', '1', '300000', preexec_fn=limited)
                self.assertEqual((o.rc, len(o.out)), (0, size), str(o))


class LongArguments(BadWorld):

    def test_I3_more_than_the_kernel_takes(self):
        """As much as rein itself can be started with; with what the profile adds it is too much
        for the command."""
        def fits(extra):
            words = ['x' * 1000] * extra
            try:
                p = subprocess.run([*self.command('--version'), *words], env=self.env,
                                   capture_output=True, check=False)
            except OSError:
                return False
            return p.returncode >= 0
        low, high = 1, 1 << 14
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        words = ['x' * 1000] * (low - 1)
        for pad in range(0, 1000, 200):
            with self.subTest(pad=pad):
                o = self.run_json('--', 'true', *words, 'x' * pad)
                self.assert_works_or_complains(o)
        o = self.run_json('-e', 'A=' + 'a' * 1500, '-e', 'B=' + 'b' * 1500, '--', 'true',
                          *words[:-6], extra_env={'C': 'c' * 1000})
        self.assert_works_or_complains(o)
        o = self.rein('run', '--', 'true', *words)
        if o.rc:
            self.assert_complains(o, 125, 'Argument list too long')

    def test_long_single_words_that_fit(self):
        word = 'x' * 131000
        o = self.run_json('--show', '1M', '--', 'printf', '%s', word)
        self.assert_ended(o, 'exit', 0, output=word)
        o = self.run_json('--show', '1M', '-e', f'A={word}', '--', 'sh', '-c', 'printf %s "$A"')
        self.assert_ended(o, 'exit', 0, output=word)

    def test_I3_one_word_that_is_too_long_for_a_shell(self):
        """`-c` of this size is a word that no program can be given; code goes by a file."""
        code = ': ' + 'x' * 131000 + '\n' + ': ' + 'y' * 131000 + '\necho ran\n'
        o = self.code_json('bash', '-', input=code.encode())
        self.assert_ended(o, 'exit', 0, output='ran\n')


class Directories(BadWorld):

    def test_bad_cwd(self):
        path = self.write('plain', 'x')
        long = '/' + 'x' * 5000
        for cwd in '/nope', path, './nope', '', long:
            with self.subTest(cwd=cwd[:20]):
                o = self.run_json('-C', cwd, '--', 'touch', f'{self.work}/ran')
                self.assert_refused(o, 'bad_cwd', 125, cwd[:100])
                self.assert_complains(self.rein('run', '-C', cwd, '--', 'pwd'), 125, cwd[:100])
                self.assertEqual(self.code_json('bash', '-C', cwd, '-c', 'true').rc, 125)
                self.assert_no_new_scripts()
        self.assertEqual(os.listdir(self.work), ['plain'])

    def test_cwd_that_may_not_be_entered(self):
        path = os.path.join(self.work, 'closed')
        os.mkdir(path, 0)
        o = self.run_json('-C', path, '--', 'true', **self.as_ordinary_user())
        self.assert_refused(o, 'bad_cwd', 125, path)
        os.chmod(path, 0o700)

    def test_own_directory_was_deleted(self):
        """The job starts where the caller is, or not at all; never somewhere else."""
        gone = os.path.join(self.temp, 'gone')
        os.mkdir(gone)
        script = (f'cd "{gone}" && rmdir "{gone}" && exec "{self.command()[0]}" run --json -- '
                  'sh -c "readlink /proc/self/cwd"')
        p = subprocess.run(['sh', '-c', script], env=self.env, capture_output=True, check=False,
                           timeout=20 * SLOW)
        if p.returncode == 0:
            self.assertIn(b'(deleted)', p.stdout)
        else:
            self.assertEqual(p.returncode, 125, p)
            self.assertIn(b'"bad_cwd"', p.stdout)

    def test_own_directory_was_deleted_and_another_is_given(self):
        gone = os.path.join(self.temp, 'gone')
        os.mkdir(gone)
        script = (f'cd "{gone}" && rmdir "{gone}" && '
                  f'exec "{self.command()[0]}" run -C "{self.work}" -- pwd')
        p = subprocess.run(['sh', '-c', script], env=self.env, capture_output=True, check=False,
                           timeout=20 * SLOW)
        self.assertEqual((p.returncode, p.stdout), (0, f'{self.work}\n'.encode()), p.stderr)

    def test_a_store_that_cannot_be_made(self):
        """Not needed for a small job; a large one keeps what fits and says so."""
        blocked = self.write('plain', 'x')
        env = {'REIN_STATE': os.path.join(blocked, 'state')}
        o = self.run_json('--', 'echo', 'x', extra_env=env)
        self.assert_ended(o, 'exit', 0, output='x\n')
        o = self.rein('run', '--', 'seq', '1', '300000', extra_env=env)
        self.assertEqual(o.rc, 0, str(o))
        self.assertEqual(len(o.out.splitlines()), 300000)
        o = self.run_json('--show', '4K', '--', 'seq', '1', '300000', extra_env=env)
        r = o.R
        self.assertEqual((r['reason'], r['exit_code']), ('exit', 0), str(o))
        self.assertTrue(r['output'].startswith('1\n2\n') and r['output'].endswith('\n300000\n'))
        self.assertTrue(r['warnings'], r)

    def test_a_store_in_which_a_script_cannot_be_written(self):
        """Code needs a file: it is refused, or another private place is found."""
        blocked = self.write('plain', 'x')
        o = self.code_json('bash', '-c', 'echo ran',
                           extra_env={'REIN_STATE': os.path.join(blocked, 'state')})
        self.assert_works_or_complains(o)

    def test_a_relative_store(self):
        """It counts from where the caller stands, or is refused; never from the job's directory."""
        o = self.run_json('-C', self.home, '--show', '4K', '--', 'seq', '1', '10000',
                          extra_env={'REIN_STATE': 'here'})
        if o.rc == 125:
            self.assert_refused(o, 'bad_request', 125, 'REIN_STATE')
        else:
            r = self.assert_ended(o, 'exit', 0)
            self.assertTrue(r['log_file'].startswith(f'{self.work}/here/'), r['log_file'])


class PrivateMounts(BadWorld):
    """Tests that mount file systems where only they can see them."""

    def in_private(self, setup, *args, **kw):
        prefix = [*self.as_namespace_root('-m'), 'sh', '-ec', f'{setup}; exec "$@"', 'sh']
        return self.rein(*args, prefix=prefix, **kw)

    def full_store(self, options='size=64k'):
        return f'mount -t tmpfs -o {options} tmpfs "{self.state}"'

    def test_full_disk_and_a_large_output(self):
        """The command's end is what it was, head and tail are there, and the loss is told."""
        o = self.in_private(self.full_store(), 'run', '--json', '--show', '4K', '--', 'seq', '1',
                            '1000000')
        r = o.R
        self.assertEqual((r['reason'], r['exit_code'], o.rc), ('exit', 0, 0), str(o))
        self.assertEqual(r['output_bytes'], 6888896)
        self.assertTrue(r['output'].startswith('1\n2\n'), str(o))
        self.assertTrue(r['output'].endswith('\n1000000\n'), str(o))
        self.assertTrue(r['warnings'], r)

    def test_full_disk_and_text_output(self):
        o = self.in_private(self.full_store(), 'run', '--', 'seq', '1', '1000000')
        self.assertEqual(o.rc, 0, str(o))
        self.assertEqual(len(o.out), 6888896)

    def test_full_disk_and_code(self):
        fill = f'; dd if=/dev/zero of="{self.state}/x" bs=4k count=1 2>/dev/null'
        for options, more in ('size=4k,nr_inodes=1', ''), ('size=4k', fill):
            o = self.in_private(self.full_store(options) + more, 'code', '--json', 'bash', '-c',
                                'echo ran')
            self.assert_works_or_complains(o)

    def test_read_only_store(self):
        o = self.in_private(self.full_store('ro'), 'run', '--json', '--show', '4K', '--', 'seq',
                            '1', '300000')
        r = o.R
        self.assertEqual((r['reason'], r['exit_code']), ('exit', 0), str(o))
        self.assertTrue(r['output'].endswith('\n300000\n'))
        self.assertTrue(r['warnings'], r)

    def test_no_dev_null(self):
        o = self.in_private('mount -t tmpfs tmpfs /dev', 'run', '--json', '--', 'cat')
        self.assert_works_or_complains(o)

    def test_no_proc(self):
        """Descendants cannot be found without it: the deadline holds, or it is refused."""
        self.not_with_sanitizers('/proc is needed')
        m = self.marker(98830)
        o = self.in_private('mount -t tmpfs tmpfs /proc', 'run', '--json', '-t', '0.5', '--',
                            'bash', '-c', f'setsid sleep {m} & sleep {m}; true')
        if o.rc == 125:
            self.assert_refused(o, OWN_FAILURES, 125)
        else:
            self.assert_ended(o, 'timeout', -9)
        self.assert_gone(m)


class OddStarts(BadWorld):

    def test_not_a_session_of_its_own(self):
        """rein as a group leader, as a session leader, in its parent's group: all the same."""
        for kw in {}, {'start_new_session': True}, {'process_group': 0}:
            o = self.run_json('--', 'echo', 'x', **kw)
            self.assert_ended(o, 'exit', 0, output='x\n')

    def test_sigchld_ignored(self):
        def ignore():
            free_of_signals()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for code in 0, 3:
            o = self.sh(f'(true); sh -c "exit {code}"', preexec_fn=ignore)
            self.assert_ended(o, 'exit', code)
        m = self.marker(98831)
        o = self.sh(f'setsid sleep {m} & echo x', preexec_fn=ignore)
        self.assert_gone(m)
        self.assert_ended(o, 'exit', 0, output='x\n')

    def test_without_any_environment(self):
        o = self.run_json('--', 'echo', 'x', env={})
        self.assert_ended(o, 'exit', 0, output='x\n')

    def test_by_another_name_and_through_a_link(self):
        link = os.path.join(self.temp, 'link')
        os.symlink(self.command()[0], link)
        p = subprocess.run([link, 'run', '--', 'echo', 'x'], env=self.env, capture_output=True,
                           cwd=self.work, check=False, timeout=20 * SLOW)
        self.assertEqual((p.returncode, p.stdout), (0, b'x\n'), p.stderr)

    def test_files_it_makes_are_private(self):
        old = os.umask(0)
        try:
            o = self.run_json('--show', '4K', '--', 'seq', '1', '10000')
        finally:
            os.umask(old)
        self.assert_ended(o, 'exit', 0)
        for folder, folders, names in os.walk(self.state):
            for name in folders + names:
                mode = os.lstat(os.path.join(folder, name)).st_mode
                self.assertEqual(stat.S_IMODE(mode) & 0o077, 0, f'{folder}/{name} {mode:o}')


if __name__ == '__main__':
    unittest.main()
