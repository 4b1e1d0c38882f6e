"""Standard input and programs that ask questions."""

import os
import subprocess
import sys
import unittest

import unknown_ssh_server
from rein_test import SLOW, ReinTest


class Stdin(ReinTest):

    def test_C1_commands_that_read(self):
        """rein's own input is open and silent."""
        read_fd, write_fd = os.pipe()
        try:
            for command, exit_code in (['cat'], 0), (['grep', 'x'], 1), (['python3', '-'], 0):
                with self.subTest(command=command):
                    o = self.run_json('--', *command, stdin=read_fd)
                    self.assert_at_once(o)
                    self.assert_ended(o, 'exit', exit_code, output='')
        finally:
            os.close(read_fd)
            os.close(write_fd)

    def test_null_is_the_default_and_takes_nothing(self):
        o = self.rein('run', '--', 'cat', input=b'not for the job\n')
        self.assertEqual((o.rc, o.out), (0, b''))
        o = self.rein('run', '--stdin', 'null', '--', 'cat', input=b'not for the job\n')
        self.assertEqual((o.rc, o.out), (0, b''))

    def test_input_stays_the_callers(self):
        script = f'"{self.command()[0]}" run -- cat; read line; echo "got $line"'
        p = subprocess.run(['sh', '-c', script], input=b'one\n', capture_output=True, env=self.env,
                           cwd=self.work, timeout=20 * SLOW, check=False)
        self.assertEqual(p.stdout, b'got one\n')

    def test_inherit(self):
        o = self.rein('run', '--stdin', 'inherit', '--', 'cat', input=b'a\0b\nc')
        self.assertEqual((o.rc, o.out), (0, b'a\0b\nc'))

    def test_inherit_of_much(self):
        data = os.urandom(3 << 20)
        o = self.rein('run', '--stdin', 'inherit', '--', 'cat', input=data)
        self.assertEqual(o.rc, 0)
        self.assertTrue(o.out == data)

    def test_file(self):
        path = self.write('input', b'from a file\n')
        for name in path, 'input', './input':
            o = self.rein('run', '--stdin', name, '--', 'cat')
            self.assertEqual((o.rc, o.out), (0, b'from a file\n'), str(o))

    def test_file_is_the_callers_not_the_jobs(self):
        """A relative name counts from where the caller stands, whatever -C says."""
        self.write('input', b'here\n')
        o = self.rein('run', '-C', self.home, '--stdin', 'input', '--', 'cat')
        self.assertEqual((o.rc, o.out), (0, b'here\n'), str(o))

    def test_file_that_is_not_there(self):
        o = self.run_json('--stdin', '/nope/input', '--', 'touch', 'ran')
        self.assert_refused(o, 'bad_request', 125, '/nope/input')
        o = self.rein('run', '--stdin', '/nope/input', '--', 'touch', 'ran')
        self.assert_complains(o, 125, '/nope/input', 'No such file or directory')
        self.assertEqual(os.listdir(self.work), [])

    def test_file_that_may_not_be_read(self):
        path = self.write('secret', b'x', mode=0)
        o = self.run_json('--stdin', path, '--', 'touch', 'ran', **self.as_ordinary_user())
        self.assert_refused(o, 'bad_request', 125, path)
        self.assertEqual(os.listdir(self.work), ['secret'])

    def test_fifo_without_a_writer_does_not_block_for_ever(self):
        """The deadline holds before the command has even begun, or the fifo is opened at once."""
        m = self.marker(98793)
        fifo = os.path.join(self.work, 'fifo')
        os.mkfifo(fifo)
        p = self.spawn('run', '--json', '-t', '0.5', '--stdin', fifo, '--', 'sh', '-c', 'cat', m)
        o = self.finish(p, 5 * SLOW)
        self.assertIn(o.rc, (0, 124, 125), str(o))
        self.assert_gone(m)

    def test_pipe_is_for_jobs_in_the_background(self):
        for verb in ['run'], ['code', 'bash', '-c', 'true']:
            options = ['--json', '--stdin', 'pipe', *([] if verb[1:] else ['--', 'touch', 'ran'])]
            o = self.rein(*verb, *options)
            self.assert_refused(o, 'bad_request', 125, 'inherit')
        self.assertEqual(os.listdir(self.work), [])

    def test_C7_code_on_standard_input(self):
        o = self.code_json('bash', '-', input=b'echo one\ncat\necho two\n')
        self.assert_ended(o, 'exit', 0, output='one\ntwo\n')
        o = self.code_json('bash', input=b'echo one\ncat\necho two\n')
        self.assert_ended(o, 'exit', 0, output='one\ntwo\n')

    def test_code_reads_the_callers_input_when_asked(self):
        o = self.code_json('bash', '--stdin', 'inherit', '-c', 'cat', input=b'for the script\n')
        self.assert_ended(o, 'exit', 0, output='for the script\n')


class Questions(ReinTest):
    """Programs that would like to ask a person, and must not wait for one."""

    def git(self, *args, **kw):
        subprocess.run(['git', *args], cwd=self.work, check=True, stdout=subprocess.DEVNULL,
                       env={**self.env, 'GIT_CONFIG_NOSYSTEM': '1'}, **kw)

    def make_repository(self, commits):
        self.need('git')
        self.git('-c', 'init.defaultBranch=main', 'init', '-q')
        stream = b''.join(
            b'commit refs/heads/main\nmark :%d\ncommitter A <a@example.org> %d +0000\n'
            b'data 9\ncommit%03d\n' % (i, 1600000000 + i, i) for i in range(1, commits + 1))
        self.git('fast-import', '--quiet', input=stream)
        self.git('reset', '-q', '--hard', 'main')

    def test_C2_git_asks_nobody(self):
        self.need('git')
        o = self.run_json('-t', '10', '--', 'git', 'clone', 'https://127.0.0.1:1/x.git')
        r = self.assert_ended(o, 'exit')
        self.assertNotEqual(r['exit_code'], 0)
        self.assert_at_once(o)

    def test_C2_git_opens_no_editor(self):
        self.make_repository(2)
        for name in 'user.name', 'user.email':
            self.git('config', name, 'a@example.org')
        o = self.run_json('-t', '10', '--', 'git', 'commit', '--amend', '--allow-empty')
        self.assert_ended(o, 'exit', 0)

    def test_C4_pagers(self):
        m = self.marker(98794)
        self.make_repository(500)
        self.git('config', 'core.pager', f'sleep {m}')
        o = self.run_json('-t', '10', '--show', '1M', '--', 'git', 'log')
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(r['output'].count('\ncommit '), 499)
        self.assertIn('commit001', r['output'])
        self.assert_gone(m)

        o = self.run_json('-t', '10', '--', 'git', '--paginate', 'log', '-1', '--format=%s')
        self.assert_ended(o, 'exit', 0, output='commit500\n')

    def test_C4_pager_variable(self):
        self.write('text', 'one\ntwo\n')
        o = self.run_json('-t', '10', '--shell', '--', '${PAGER:-less} text')
        self.assert_ended(o, 'exit', 0, output='one\ntwo\n')

    def test_C5_ssh_to_a_closed_port(self):
        self.need('ssh')
        o = self.run_json('-t', '10', '--', 'ssh', '-F', 'none', '-o', 'ConnectTimeout=2', '-p',
                          '1', '127.0.0.1', 'true')
        self.assert_ended(o, 'exit', 255)
        self.assert_at_once(o)

    def test_C5_ssh_to_an_unknown_server(self):
        self.need('ssh')
        self.need_account()
        server = subprocess.Popen([sys.executable, unknown_ssh_server.__file__],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.spawned.append(server)
        port = server.stdout.readline().decode().strip()
        o = self.run_json('-t', '10', '--', 'ssh', '-F', 'none', '-o',
                          f'UserKnownHostsFile={self.home}/known', '-o',
                          'GlobalKnownHostsFile=/dev/null', '-p', port, '127.0.0.1', 'true')
        r = self.assert_ended(o, 'exit', 255)
        self.assertIn('Host key verification failed', r['output'])
        self.assert_at_once(o)


if __name__ == '__main__':
    unittest.main()
