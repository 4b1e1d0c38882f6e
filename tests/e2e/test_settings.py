"""Settings: flags win over REIN_* variables, these over the user's configuration file."""

import os
import unittest

from rein_test import ReinTest


class Settings(ReinTest):

    def configure(self, text, folder=None):
        folder = folder or os.path.join(self.config, 'rein')
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'config.ini'), 'w', encoding='utf-8') as f:
            f.write(text)

    def ends_by_deadline(self, *options, extra_env=None):
        m = self.marker(98810)
        o = self.run_json(*options, '--', 'sleep', m, extra_env=extra_env, timeout=10)
        self.assert_gone(m)
        return self.assert_ended(o, 'timeout')


class Variables(Settings):

    def test_timeout(self):
        self.ends_by_deadline(extra_env={'REIN_TIMEOUT': '0.2'})

    def test_each(self):
        self.write('input', 'from the file\n')
        show = ['--', 'sh', '-c', 'pwd; cat; echo err >&2']
        for name, value, key, expected in (
                ('REIN_CWD', self.home, 'cwd', self.home),
                ('REIN_NAME', 'label', 'name', 'label'),
                ('REIN_STDIN', os.path.join(self.work, 'input'), 'output',
                 f'{self.work}\nfrom the file\nerr\n'),
                ('REIN_SPLIT', '1', 'stderr', 'err\n'),
                ('REIN_RENDER', 'raw', 'output', f'{self.work}\nerr\n')):
            with self.subTest(name=name):
                o = self.run_json(*show, extra_env={name: value})
                self.assertEqual(o.R[key], expected, str(o))

    def test_more(self):
        o = self.run_json('--', 'seq', '1', '100000', extra_env={'REIN_SHOW': '4K'})
        self.assertLessEqual(len(self.assert_ended(o, 'exit', 0)['output']), 4096)
        o = self.run_json('--', 'seq', '1', '100000', extra_env={
            'REIN_OUTPUT_LIMIT': '64K', 'REIN_ON_OUTPUT_LIMIT': 'kill'})
        self.assert_ended(o, 'output_limit')
        o = self.run_json('--', 'env', extra_env={'REIN_ENV_PROFILE': 'clean', 'API_KEY': 'sk'})
        self.assertNotIn('API_KEY', self.assert_ended(o, 'exit', 0)['output'])
        o = self.rein('run', '--', 'true', extra_env={'REIN_JSON': '1'})
        self.assert_ended(o, 'exit', 0)
        o = self.run_json('--', 'echo $((1 + 1))', extra_env={'REIN_SHELL': '1'})
        self.assert_ended(o, 'exit', 0, output='2\n')

    def test_flags_win(self):
        o = self.run_json('-t', '0', '--', 'sleep', '0.3', extra_env={'REIN_TIMEOUT': '0.1'})
        self.assert_ended(o, 'exit', 0)

    def test_hold_for_code_too(self):
        m = self.marker(98811)
        o = self.code_json('bash', '-c', f'sleep {m}', extra_env={'REIN_TIMEOUT': '0.2'})
        self.assert_gone(m)
        self.assert_ended(o, 'timeout')

    def test_bad_values_are_refused_by_name(self):
        for name, value in ('REIN_TIMEOUT', '5x'), ('REIN_SHOW', 'much'), ('REIN_AFTER', 'x'):
            with self.subTest(name=name):
                o = self.run_json('--', 'touch', 'ran', extra_env={name: value})
                self.assert_refused(o, 'bad_request', 125, name, value)
        self.assertEqual(os.listdir(self.work), [])


class File(Settings):

    def test_timeout(self):
        self.configure('timeout = 0.2\n')
        self.ends_by_deadline()

    def test_comments_and_blanks(self):
        self.configure('# a comment\n\n; another\n  timeout=0.2  \n')
        self.ends_by_deadline()

    def test_home_when_there_is_no_other_place(self):
        self.configure('timeout = 0.2\n', os.path.join(self.home, '.config', 'rein'))
        del self.env['XDG_CONFIG_HOME']
        self.ends_by_deadline()

    def test_variables_win(self):
        self.configure('timeout = 0.1\n')
        o = self.run_json('--', 'sleep', '0.3', extra_env={'REIN_TIMEOUT': '0'})
        self.assert_ended(o, 'exit', 0)

    def test_flags_win(self):
        self.configure('timeout = 0.1\nshow = 4K\n')
        o = self.run_json('-t', '0', '--', 'sh', '-c', 'sleep 0.3; seq 1 10000')
        r = self.assert_ended(o, 'exit', 0)
        self.assertLessEqual(len(r['output']), 4096, 'the other setting holds')

    def test_bad_values_are_refused_by_file_and_line(self):
        for text, words in (('show = 4K\ntimeout = 5x\n', ('config.ini', '2', 'timeout', '5x')),
                            ('nonsense = 1\n', ('config.ini', '1', 'nonsense'))):
            with self.subTest(text=text):
                self.configure(text)
                o = self.run_json('--', 'touch', 'ran')
                self.assert_refused(o, 'bad_request', 125, *words)
        self.assertEqual(os.listdir(self.work), [])

    def test_an_unreadable_file(self):
        os.makedirs(os.path.join(self.config, 'rein', 'config.ini'))
        o = self.run_json('--', 'touch', 'ran')
        self.assert_refused(o, 'bad_request', 125, 'config.ini')
        self.assertEqual(os.listdir(self.work), [])


class Show(Settings):
    """`rein config show`."""

    def test_where_each_comes_from(self):
        self.configure('show = 4K\ngrace = 9s\n')
        o = self.rein('config', 'show', extra_env={'REIN_TIMEOUT': '3', 'REIN_GRACE': '2'})
        self.assertEqual((o.rc, o.err), (0, b''))
        self.assertRegex(o.text, r'(?m)^timeout = 3\s+; REIN_TIMEOUT$')
        self.assertRegex(o.text, r'(?m)^grace = 2\s+; REIN_GRACE$')
        self.assertRegex(o.text, r'(?m)^show = 4K\s+; .*/config\.ini')
        self.assertRegex(o.text, r'(?m)^; after: kill')

    def test_its_output_is_a_configuration_file(self):
        o = self.rein('config', 'show', extra_env={'REIN_TIMEOUT': '0.2'})
        self.configure(o.text)
        self.ends_by_deadline()

    def test_json(self):
        o = self.rein('config', 'show', '--json', extra_env={'REIN_TIMEOUT': '3'})
        self.assertEqual((o.rc, o.err), (0, b''))
        self.assertIn('timeout', str(o.json))
        self.assertIn('REIN_TIMEOUT', str(o.json))

    def test_usage(self):
        for args in [], ['nonsense'], ['show', 'x']:
            self.assert_complains(self.rein('config', *args), 2, 'show')

    def test_bad_settings_are_refused(self):
        self.configure('timeout = 5x\n')
        self.assert_complains(self.rein('config', 'show'), 2, 'timeout', '5x')


if __name__ == '__main__':
    unittest.main()
