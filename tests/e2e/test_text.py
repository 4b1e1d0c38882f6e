"""What a model is shown: rendering, encodings, head and tail (`rein run --json`)."""

import os
import re
import unittest

from rein_test import GAP_LINE, SLOW, ReinTest


class TextTest(ReinTest):

    def shown(self, script, *options):
        """The output of a bash script as the result shows it."""
        o = self.sh(script, *options)
        self.assertEqual(o.rc, 0, str(o))
        return self.assert_ended(o, 'exit', 0)

    def assert_gap(self, r, show):
        """Head, gap line, tail: they fit the limit and account for every byte. Returns the three
        (the line as its match)."""
        self.assertTrue(r['truncated'])
        self.assertLessEqual(len(r['output'].encode()), show)
        match = GAP_LINE.search(r['output'])
        self.assertTrue(match, r['output'][:2000])
        self.assertEqual(len(GAP_LINE.findall(r['output'])), 1)
        self.assertEqual(int(match[1].replace(',', '')), r['omitted_bytes'])
        self.assertEqual(match[1], f'{r["omitted_bytes"]:,}')
        self.assertEqual(match[3], r['log_file'])
        head, tail = r['output'][:match.start()], r['output'][match.end():]
        self.assertTrue(head == '' or head.endswith('\n'), 'the gap line stands alone')
        self.assertTrue(tail == '' or tail.startswith('\n'), 'the gap line stands alone')
        return head, match, tail[1:]


class Limits(TextTest):

    def test_D1_the_error_is_at_the_end(self):
        o = self.sh('seq 1 100000; echo "FATAL: real error" >&2; exit 1', '--show', '20000')
        r = self.assert_ended(o, 'exit', 1)
        head, match, tail = self.assert_gap(r, 20000)
        self.assertTrue(head.startswith('1\n2\n'))
        self.assertTrue(tail.endswith('\n100000\nFATAL: real error\n'))
        self.assertEqual(match[2], 'full')
        whole = b''.join(b'%d\n' % i for i in range(1, 100001)) + b'FATAL: real error\n'
        self.assertTrue(self.read(r['log_file']) == whole)
        self.assertEqual(r['output_bytes'], len(whole))
        # Cut at line ends, and every byte is either shown or counted.
        self.assertEqual(r['omitted_at'], len(head))
        self.assertEqual(len(head) + r['omitted_bytes'] + len(tail), len(whole))
        self.assertTrue(whole.startswith(head.encode()) and whole.endswith(tail.encode()))
        self.assertRegex(tail, r'\A\d+\n')
        self.assertGreater(len(r['output']), 18000, 'most of what may be shown is')

    def test_log_files_are_private_and_stay(self):
        r = self.shown('seq 1 100000', '--show', '4K')
        self.assertEqual(os.stat(r['log_file']).st_mode & 0o077, 0)
        self.assertTrue(r['log_file'].startswith(self.state + '/'))
        self.assertIn(r['process_id'], r['log_file'])

    def test_default_of_64k(self):
        r = self.shown('seq 1 100000')
        self.assert_gap(r, 64 << 10)
        r = self.shown('seq 1 1000')
        self.assertFalse(r['truncated'])
        self.assertIsNone(r['log_file'])

    def test_exactly_as_much_as_may_be_shown(self):
        r = self.shown("head -c 4095 /dev/zero | tr '\\0' x; echo", '--show', '4096')
        self.assertFalse(r['truncated'])
        self.assertEqual(r['output'], 'x' * 4095 + '\n')
        r = self.shown("head -c 4096 /dev/zero | tr '\\0' x; echo", '--show', '4096')
        self.assert_gap(r, 4096)

    def test_a_range_of_sizes(self):
        for lines in 1, 400, 700, 1000, 3000:
            for show in 512, 1024, 4096:
                with self.subTest(lines=lines, show=show):
                    whole = ''.join(f'{i}\n' for i in range(1, lines + 1))
                    r = self.shown(f'seq 1 {lines}', '--show', str(show))
                    if len(whole) <= show:
                        self.assertEqual(r['output'], whole)
                        self.assertFalse(r['truncated'])
                    else:
                        head, _, tail = self.assert_gap(r, show)
                        self.assertEqual(len(head) + r['omitted_bytes'] + len(tail), len(whole))
                        self.assertTrue(whole.startswith(head) and whole.endswith(tail))

    def test_a_tiny_limit(self):
        """Smaller than the gap line itself: nothing breaks, and it is told."""
        for show in '1', '10', '100':
            with self.subTest(show=show):
                o = self.sh('seq 1 10000', '--show', show)
                if o.rc == 125:
                    self.assert_refused(o, ('bad_request', 'limit_exceeded'), 125, '--show')
                else:
                    r = self.assert_ended(o, 'exit', 0)
                    self.assertTrue(r['truncated'])
                    self.assertLess(len(r['output']), 1000)

    def test_split_streams_share_the_limit(self):
        o = self.sh('seq 1 50000; seq 1 50000 >&2', '--split', '--show', '8K')
        r = self.assert_ended(o, 'exit', 0, split=True)
        self.assertTrue(r['truncated'])
        self.assertTrue(r['stdout'].startswith('1\n2\n') and r['stdout'].endswith('\n50000\n'))
        self.assertTrue(r['stderr'].startswith('1\n2\n') and r['stderr'].endswith('\n50000\n'))
        gaps = [int(GAP_LINE.search(r[s])[1].replace(',', '')) for s in ('stdout', 'stderr')]
        self.assertEqual(sum(gaps), r['omitted_bytes'])

    def test_B12_one_long_line_with_its_newline(self):
        r = self.shown("head -c 300000 /dev/zero | tr '\\0' X; echo", '--show', '1024')
        head, _, tail = self.assert_gap(r, 1024)
        shown = head.count('X') + tail.count('X')
        self.assertEqual(shown, r['output'].count('X'))
        self.assertTrue(head.count('X') > 0 and tail.count('X') > 0)
        self.assertIn(shown + r['omitted_bytes'], (300000, 300001))

    def test_D4_one_huge_line(self):
        o = self.sh("head -c 50000000 /dev/zero | tr '\\0' x", '--show', '16K')
        r = self.assert_ended(o, 'exit', 0)
        self.assertLess(o.seconds, 5 * SLOW)
        self.assertLess(len(o.out), 64 << 10)
        head, _, tail = self.assert_gap(r, 16 << 10)
        self.assertEqual(r['output_bytes'], 50000000)
        self.assertEqual(head.count('x') + tail.count('x') + r['omitted_bytes'], 50000000)

    def test_D5_binary(self):
        o = self.run_json('--show', '1M', '--', 'head', '-c', '100000', '/dev/urandom')
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(r['output_bytes'], 100000)
        self.assertEqual(r['encoding'], 'binary')

    def test_D5_zero_bytes_do_not_end_the_text(self):
        r = self.shown(r"printf 'a\0b\0\0c\n'")
        self.assertEqual(r['output'], 'a\0b\0\0c\n')
        self.assertEqual(r['encoding'], 'binary')

    def test_D5_every_byte(self):
        for render in 'clean', 'plain', 'raw':
            for show in '1M', '512':
                with self.subTest(render=render, show=show):
                    o = self.run_json(
                        '--render', render, '--show', show, '--', 'python3', '-c',
                        'import sys; sys.stdout.buffer.write(bytes(range(256)) * 20)')
                    r = self.assert_ended(o, 'exit', 0)
                    self.assertEqual(r['output_bytes'], 5120)


class Rendering(TextTest):

    def test_E1_progress_bar(self):
        script = r"for i in $(seq 0 100); do printf '\rprogress %3d%%' $i; done; echo"
        r = self.shown(script)
        self.assertEqual(r['output'], 'progress 100%\n')
        self.assertEqual((r['truncated'], r['omitted_bytes']), (False, 0))
        raw = ''.join(f'\rprogress {i:3d}%' for i in range(101)) + '\n'
        self.assertEqual(self.shown(script, '--render', 'raw')['output'], raw)
        self.assertEqual(r['output_bytes'], len(raw))

    def test_E1_a_long_progress_bar_is_one_line(self):
        """Far more bytes than may be shown, and nothing is omitted."""
        script = r"for i in $(seq 0 40000); do printf '\rprogress %5d' $i; done; echo; echo end"
        r = self.shown(script, '--show', '4K')
        self.assertEqual(r['output'], 'progress 40000\nend\n')
        self.assertFalse(r['truncated'])

    def check(self, cases):
        for script, output in cases:
            with self.subTest(script=script):
                self.assertEqual(self.shown(script)['output'], output)

    def test_E2_a_carriage_return_overwrites(self):
        self.check(((r"printf 'Wo\rWork\rWorking\n'", 'Working\n'),
                    (r"printf 'abc\rX\n'", 'Xbc\n'),
                    (r"printf 'one\r\ntwo\r\n'", 'one\ntwo\n'),
                    (r"printf 'abc\b\bX\n'", 'aXc\n'),
                    (r"printf 'abcdef\r\033[Kxy\n'", 'xy\n')))

    def test_E3_sequences_vanish(self):
        self.check((
            (r"printf '\033[?25l\033[2K\033[1Gok\033[?25h\033]0;title\007"
             r"\033]8;;http://x\033\\link\033]8;;\033\\\n'", 'oklink\n'),
            (r"printf '\033[1;31mred\033[0m \033[38;5;200mpink\033[m\n'", 'red pink\n'),
            (r"printf 'a\033P1$r0m\033\\b\033(Bc\033=d\n'", 'abcd\n')))

    def test_E3_plain(self):
        r = self.shown(r"printf 'abc\rX\033[31mred\033[0m\n'", '--render', 'plain')
        self.assertEqual(r['output'], 'abc\rXred\n')

    def test_E3_a_sequence_in_pieces(self):
        self.check(((r"printf 'a\033[3'; sleep 0.1; printf '1mb\033['; sleep 0.1; "
                     r"printf '0mc\n'", 'abc\n'),))

    def test_E3_a_sequence_without_an_end(self):
        self.assertIn('a', self.shown(r"printf 'a\033['")['output'])
        self.assertIn('a', self.shown(r"printf 'a\033]0;never closed'")['output'])

    def test_E4_redraw_of_several_lines(self):
        self.check(((r"printf 'a: 0%%\nb: 0%%\n\033[2Aa: 100%%\nb: 100%%\n'",
                     'a: 100%\nb: 100%\n'),))

    def test_E5_no_width_no_wrapping(self):
        r = self.shown("printf 'x%.0s' $(seq 3000); echo")
        self.assertEqual(r['output'], 'x' * 3000 + '\n')

    def test_E6_no_colour_by_default(self):
        self.need('git')
        self.write('file', 'x marks the spot\n')
        o = self.run_json('--render', 'raw', '--shell', '--', 'git init -q .; ls --color=auto; '
                          'git -c color.ui=auto status; grep --color=auto x file')
        r = self.assert_ended(o, 'exit', 0)
        self.assertIn('x marks', r['output'])
        self.assertNotIn('\x1b', r['output'])

    def test_text_output_is_the_bytes(self):
        o = self.rein('run', '--', 'bash', '-c', r"printf 'abc\rX\033[31m\xff\n'")
        self.assertEqual(o.out, b'abc\rX\x1b[31m\xff\n')


class Encoding(TextTest):

    def test_F1_a_character_in_two_pieces(self):
        script = ('import sys, time; w = sys.stdout.buffer; w.write(b"cleanup \\xe2"); w.flush();'
                  ' time.sleep(0.3); w.write(b"\\x80\\x94 end"); w.flush()')
        o = self.run_json('--', 'python3', '-c', script)
        r = self.assert_ended(o, 'exit', 0, output='cleanup — end')
        self.assertEqual(r['encoding'], 'utf-8')

        o = self.rein('run', '--jsonl', '--', 'python3', '-c', script)
        texts = [e['text'] for e in o.events if e['event'] == 'output']
        self.assertGreaterEqual(len(texts), 2)
        self.assertEqual(''.join(texts), 'cleanup — end')

    def test_F1_half_a_character_at_the_end(self):
        r = self.shown(r"printf 'a\xf0\x9f\x98'")
        self.assertRegex(r['output'], '^a�+$')
        o = self.rein('run', '--jsonl', '--', 'bash', '-c', r"printf 'a\xf0\x9f\x98'")
        self.assertRegex(''.join(e['text'] for e in o.events if e['event'] == 'output'), '^a�+$')

    def test_F2_many_wide_characters(self):
        script = 'print("你" * 50000, end="")'
        o = self.run_json('--show', '1M', '--', 'python3', '-c', script)
        self.assert_ended(o, 'exit', 0, output='你' * 50000)
        for show in 1000, 1001, 1002:
            o = self.run_json('--show', str(show), '--', 'python3', '-c', script)
            r = self.assert_ended(o, 'exit', 0)
            self.assertNotIn('�', r['output'])
            head, _, tail = self.assert_gap(r, show)
            self.assertEqual((head + tail).count('你') * 3 + r['omitted_bytes'], 150000)

    def test_F2_events_have_whole_characters(self):
        o = self.rein('run', '--jsonl', '--', 'python3', '-c', 'print("é你😀" * 50000, end="")')
        texts = [e['text'] for e in o.events if e['event'] == 'output']
        self.assertTrue(''.join(texts) == 'é你😀' * 50000)

    def test_F3_gbk(self):
        for options in [], ['--encoding', 'gbk'], ['--encoding', 'auto']:
            r = self.shown(r"printf '\xc4\xe3\xba\xc3\n'", *options)
            self.assertEqual((r['output'], r['encoding']), ('你好\n', 'gbk'))

    def test_F3_utf_8_is_never_read_as_gbk(self):
        for text in '你好\n', 'é\n', 'ÄÖÜ\n', '中文 mixed\n':
            self.write('text', text)
            r = self.shown('cat text')
            self.assertEqual((r['output'], r['encoding']), (text, 'utf-8'))

    def test_F3_when_told_not_to(self):
        r = self.shown(r"printf 'a\xc4\xe3b\n'", '--encoding', 'utf-8')
        self.assertRegex(r['output'], r'^a�+b?\n$|^a�+b\n$')
        self.assertNotIn('你', r['output'])

    def test_F3_several_encodings(self):
        r = self.shown(r"printf '\xc4\xe3\n'; printf 'caf\xc3\xa9\n'; printf '\xff\xff\n'")
        self.assertEqual(r['encoding'], 'mixed')
        self.assertEqual(re.sub('�+', '�', r['output']), '你\ncafé\n�\n')

    def test_F5_utf_16(self):
        for script, encoding in ((r"printf '\xff\xfeh\0i\0'", 'utf-16le'),
                                 (r"printf '\xfe\xff\0h\0i'", 'utf-16be')):
            r = self.shown(script)
            self.assertEqual((r['output'], r['encoding']), ('hi', encoding))

    def test_decoding_never_touches_the_status(self):
        o = self.sh(r"printf '\xff\xfe\xfd\xc3'; exit 7")
        self.assert_ended(o, 'exit', 7)


if __name__ == '__main__':
    unittest.main()
