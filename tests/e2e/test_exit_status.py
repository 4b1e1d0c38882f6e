"""How a job ended, in the exit status of rein and in the result."""

import os
import signal
import unittest

from rein_test import ReinTest

# Signals whose default is not to end the process, or that rein's own mechanics may need to send.
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN,
            signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH}
DEADLY = [n for n in range(1, 65) if n not in HARMLESS and n not in (32, 33)]


class Own(ReinTest):
    """The command's own end."""

    def test_every_exit_code(self):
        for code in range(256):
            o = self.rein('run', '--', 'sh', '-c', f'exit {code}')
            self.assertEqual((o.rc, o.out, o.err), (code, b'', b''), str(o))

    def test_exit_codes_in_the_result(self):
        for code in 0, 1, 2, 77, 124, 125, 126, 127, 128, 129, 137, 143, 255:
            with self.subTest(code=code):
                o = self.sh(f'exit {code}')
                r = self.assert_ended(o, 'exit', code)
                self.assertNotIn('error_code', r)
                self.assertEqual(o.rc, code)

    def test_G1_every_deadly_signal(self):
        die_by = self.helper('die-by')
        for signo in DEADLY:
            o = self.run_json('--', die_by, str(signo))
            r = self.assert_ended(o, 'signal', -signo)
            self.assertEqual(o.rc, 128 + signo)
            self.assertIs(r['success'], False)
            if signo <= 31:
                self.assertEqual(r['signal'], signal.Signals(signo).name)
            self.assertEqual(os.listdir(self.work), [], 'a core file')

    def test_G1_by_the_shell(self):
        o = self.run_json('--', 'sh', '-c', 'kill -9 $$')
        self.assert_ended(o, 'signal', -9, 'SIGKILL')
        self.assertEqual(o.rc, 137)

    def test_G1_in_text_mode(self):
        o = self.rein('run', '--', 'sh', '-c', 'echo out; kill -9 $$')
        self.assertEqual((o.rc, o.out), (137, b'out\n'))
        self.assertRegex(o.err_text, r'\Arein: [^\n]*SIGKILL[^\n]*\n\Z')

    def test_a_plain_end_says_nothing(self):
        for code in 0, 1, 127:
            o = self.rein('run', '--', 'sh', '-c', f'echo out; echo err >&2; exit {code}')
            self.assertEqual((o.rc, o.out, o.err), (code, b'out\nerr\n', b''))
            o = self.rein('run', '--split', '--', 'sh', '-c',
                          f'echo out; echo err >&2; exit {code}')
            self.assertEqual((o.rc, o.out, o.err), (code, b'out\n', b'err\n'))

    def test_G5_pipes(self):
        for script, code in (('false | cat', 0), ('set -o pipefail; false | cat', 1),
                             ('set -o pipefail; yes | head -1', 141)):
            with self.subTest(script=script):
                o = self.run_json('--shell', '--', script)
                self.assert_ended(o, 'exit', code)
                self.assertEqual(o.rc, code)

    def test_sigterm_from_elsewhere_is_a_signal_not_a_stop(self):
        o = self.sh('kill -TERM $$; sleep 1')
        self.assert_ended(o, 'signal', -15, 'SIGTERM')
        self.assertEqual(o.rc, 143)


class NotStarted(ReinTest):
    """Commands that cannot be executed."""

    def test_G6_not_found(self):
        for name in 'nosuchcmd', './nosuchcmd', '/nonexistent/cmd', 'no/such/cmd':
            with self.subTest(name=name):
                self.assert_complains(self.rein('run', '--', name), 127, name)
                self.assert_refused(self.run_json('--', name), 'command_not_found', 127, name)

    def test_G6_not_executable(self):
        self.write('plain', '#!/bin/sh\necho ran\n')
        os.mkdir(os.path.join(self.work, 'folder'))
        for name in './plain', os.path.join(self.work, 'plain'), './folder':
            with self.subTest(name=name):
                self.assert_complains(self.rein('run', '--', name), 126, name)
                self.assert_refused(self.run_json('--', name), 'not_executable', 126, name)

    def test_G6_not_executable_on_the_path(self):
        """As execvp: what cannot be executed is passed over, and told when nothing else is there
        to run."""
        self.write('plain', '#!/bin/sh\necho ran\n')
        o = self.run_json('-e', f'PATH={self.work}:/usr/bin:/bin', '--', 'plain')
        self.assert_refused(o, 'not_executable', 126, 'plain')
        good = os.path.join(self.temp, 'good')
        os.mkdir(good)
        os.symlink('/bin/echo', os.path.join(good, 'plain'))
        o = self.run_json('-e', f'PATH={self.work}:{good}', '--', 'plain', 'second')
        self.assert_ended(o, 'exit', 0, output='second\n')

    def test_a_file_in_the_place_of_a_folder(self):
        self.write('plain', '')
        o = self.run_json('--', './plain/cmd')
        self.assertIn(o.rc, (126, 127), str(o))
        self.assertIn(o.json['error_code'], ('command_not_found', 'not_executable'))

    def test_G6_the_shell_does_not_find_it(self):
        o = self.run_json('--shell', '--', 'nosuchcmd')
        r = self.assert_ended(o, 'exit', 127)
        self.assertIn('nosuchcmd', r['output'])

    def test_missing_interpreter_of_a_script(self):
        self.write('script', '#!/nonexistent/interpreter\n', 0o755)
        o = self.run_json('--', './script')
        r = self.assert_refused(o, 'command_not_found', 127, './script')
        self.assertIn('/nonexistent/interpreter', r['hint'] or '', str(o))
        self.assert_complains(self.rein('run', '--', './script'), 127, './script')

    def test_no_search_in_the_working_directory(self):
        self.write('tool', '#!/bin/sh\necho ran\n', 0o755)
        self.assert_refused(self.run_json('--', 'tool'), 'command_not_found', 127, 'tool')
        self.assert_ended(self.run_json('--', './tool'), 'exit', 0, output='ran\n')

    def test_relative_command_counts_from_the_jobs_directory(self):
        path = os.path.join(self.work, 'sub')
        os.mkdir(path)
        self.write('sub/tool', '#!/bin/sh\necho ran\n', 0o755)
        o = self.run_json('-C', path, '--', './tool')
        self.assert_ended(o, 'exit', 0, output='ran\n')

    def test_busy_program(self):
        path = self.write('busy', self.read('/bin/true'), 0o755)
        with open(path, 'r+b'):
            o = self.run_json('--', './busy')
        self.assertIn(o.rc, (125, 126), str(o))
        self.assertIn(o.json['error_code'], ('spawn_failed', 'not_executable'))

    def test_a_script_without_an_interpreter_line(self):
        """As execvp, and so as timeout and env: the shell runs it."""
        self.write('script', 'echo "ran $0 $*"\n', 0o755)
        o = self.run_json('--', './script', 'a', 'b')
        self.assert_ended(o, 'exit', 0, output='ran ./script a b\n')

    def test_not_a_program(self):
        path = self.write('garbage', b'\x7fELF' + bytes(100), 0o755)
        o = self.run_json('--', path)
        self.assertIn(o.rc, (125, 126, 127), str(o))
        if 'error_code' in o.json:
            self.assertIn(o.json['error_code'], ('spawn_failed', 'not_executable'))
        else:
            self.assert_ended(o, 'exit')

    def test_G7_the_working_directory_is_missing(self):
        o = self.run_json('-C', '/nope', '--', 'touch', f'{self.work}/ran')
        self.assert_refused(o, 'bad_cwd', 125, '/nope')
        self.assert_complains(self.rein('run', '-C', '/nope', '--', 'pwd'), 125, '/nope',
                              'No such file or directory')
        self.assertEqual(os.listdir(self.work), [])
        self.assert_ended(self.run_json('--', 'pwd'), 'exit', 0, output=f'{self.work}\n')

    def test_errors_have_no_colour(self):
        o = self.rein('run', '--', 'nosuchcmd')
        self.assertNotIn(b'\x1b', o.err)


if __name__ == '__main__':
    unittest.main()
