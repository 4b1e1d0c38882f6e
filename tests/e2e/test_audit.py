"""rein audit: what it shows, and what it finds in a trail that was tampered with."""

import hashlib
import json
import os
import unittest

from rein_test import ReinTest


class AuditTest(ReinTest):

    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.state, 'audit')
        self.trail = os.path.join(self.folder, 'audit.jsonl')

    def lay(self, *entries):
        """Writes a trail by what the manual says about it."""
        os.makedirs(self.folder, mode=0o700)
        previous = '0' * 64
        lines = []
        for seq, entry in enumerate(entries, 1):
            line = json.dumps({'seq': seq, 'time': f'2026-11-30T06:36:{seq:02}.777Z',
                               'previous': previous, **entry})
            previous = hashlib.sha256(line.encode()).hexdigest()
            lines.append(line + '\n')
        self.rewrite(lines)
        with open(os.path.join(self.folder, 'head'), 'w', encoding='utf-8') as f:
            json.dump({'seq': len(entries), 'digest': previous, 'first': 1}, f)
        return lines

    def rewrite(self, lines):
        with open(self.trail, 'w', encoding='utf-8') as f:
            f.writelines(lines)

    def verify(self, rc, text):
        o = self.rein('audit', 'verify')
        self.assertEqual((o.rc, o.out.decode(), o.err), (rc, text, b''), str(o))


class Show(AuditTest):

    def test_no_trail(self):
        o = self.rein('audit')
        self.assertEqual((o.rc, o.out, o.err), (0, b'', b''))
        self.assertEqual(json.loads(self.rein('audit', '--json').out), [])
        self.assertFalse(os.path.exists(self.folder))

    def test_lines(self):
        self.lay({'event': 'decision', 'decision': 'refuse', 'tool': 'execute_command',
                  'command': ['rm', '-rf', '/'], 'reason': 'removes the root directory'},
                 {'event': 'end', 'process_id': '3f9a1c2b', 'reason': 'exit', 'exit_code': 0})
        o = self.rein('audit')
        self.assertEqual((o.rc, o.out.decode()), (
            0, '2026-11-30T06:36:01.777Z  refuse  execute_command  rm -rf /'
            '  (removes the root directory)\n'
            '2026-11-30T06:36:02.777Z  end  3f9a1c2b  exit 0  (exit)\n'))

    def test_the_last_lines(self):
        self.lay(*({'event': str(n)} for n in range(5)))
        self.assertEqual(self.rein('audit', '-n', '2').out.decode().split()[1::2], ['3', '4'])
        self.assertEqual([line['event'] for line in json.loads(self.rein('audit', '-n3', '--json').out)],
                         ['2', '3', '4'])

    def test_no_orders_to_a_terminal(self):
        self.lay({'event': 'x', 'command': ['a\x1b[2Jb', 'c\nd']})
        self.assertIn(b'a\\x1b[2Jb c\\x0ad\n', self.rein('audit').out)

    def test_a_line_that_is_none(self):
        lines = self.lay({'event': 'x'}, {'event': 'y'})
        self.rewrite(['nonsense\n', lines[1]])
        self.assertIn(b'(not a line of the trail)\n', self.rein('audit').out)

    def test_usage(self):
        for args in ('check',), ('verify', 'more'), ('-n', '0'):
            self.assertEqual(self.rein('audit', *args).rc, 2, args)


class Verify(AuditTest):

    def test_whole(self):
        self.verify(0, '0 lines, whole\n')
        self.lay({'event': 'a'}, {'event': 'b'})
        self.verify(0, '2 lines, whole\n')
        self.assertEqual(self.rein('audit', 'verify', '--json').json,
                         {'success': True, 'files': 1, 'lines': 2, 'torn': 0, 'fault': None})

    def test_a_changed_line(self):
        lines = self.lay({'event': 'a'}, {'event': 'b'}, {'event': 'c'})
        lines[1] = lines[1].replace('"b"', '"x"')
        self.rewrite(lines)
        self.verify(1, f'{self.trail}:2: was changed\n')
        o = self.rein('audit', 'verify', '--json')
        self.assertEqual((o.rc, o.json['success'], o.json['fault']),
                         (1, False, {'file': 'audit.jsonl', 'line': 2, 'what': 'was changed'}))

    def test_a_missing_line(self):
        lines = self.lay({'event': 'a'}, {'event': 'b'}, {'event': 'c'})
        self.rewrite([lines[0], lines[2]])
        self.verify(1, f'{self.trail}:2: lines before it are missing\n')

    def test_lines_out_of_order(self):
        lines = self.lay({'event': 'a'}, {'event': 'b'}, {'event': 'c'})
        self.rewrite([lines[0], lines[2], lines[1]])
        self.verify(1, f'{self.trail}:2: lines are out of order\n')

    def test_an_end_that_was_cut_off(self):
        lines = self.lay({'event': 'a'}, {'event': 'b'}, {'event': 'c'})
        self.rewrite(lines[:2])
        self.verify(1, f'{self.trail}:2: the end is missing: lines were cut off behind this one\n')

    def test_a_trail_of_others(self):
        self.lay({'event': 'a'})
        os.chmod(self.folder, 0o777)
        o = self.rein('audit', 'verify')
        self.assertEqual(o.rc, 125, str(o))
        self.assertIn('others can write to it', o.err_text)


if __name__ == '__main__':
    unittest.main()
