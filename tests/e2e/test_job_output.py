"""What `rein output` shows of a job of the background: all, parts, pages, matches, what comes."""

import os
import signal
import subprocess
import time
import unittest

from background_test import BackgroundTest
from rein_test import AT_ONCE, GAP_LINE, MIB, PATIENCE, SLOW, free_of_signals, proc_status, \
    wait_until


class Whole(BackgroundTest):

    def ended(self, script, *options, **kw):
        job = self.start_sh(script, *options, **kw)
        self.rein('wait', job)
        return job

    def test_text_is_the_log_as_it_is(self):
        job = self.ended(r"printf 'a\r\n\033[1mb\0\xff\xe2\x80'")
        o = self.rein('output', job)
        self.assertEqual((o.rc, o.out, o.err), (0, b'a\r\n\x1b[1mb\0\xff\xe2\x80', b''))

    def test_split_streams_go_their_own_ways(self):
        job = self.ended('echo out; echo err >&2; echo more', '--split')
        o = self.rein('output', job)
        self.assertEqual((o.out, o.err), (b'out\nmore\n', b'err\n'))
        r = self.output(job)
        self.assertEqual((r['stdout'], r['stderr'], r['cursor']), ('out\nmore\n', 'err\n', 13))
        self.assertNotIn('output', r)

    def test_D5_the_log_file_has_exactly_these_bytes(self):
        self.write('random', data := os.urandom(100000))
        job = self.ended('cat random')
        self.assertEqual(self.log_of(job), data)
        self.assertEqual(self.rein('output', job).out, data)
        self.assertEqual(self.output(job, '--show', '1M')['output_bytes'], 100000)

    def test_B3_a_fast_exit_loses_nothing(self):
        jobs = []
        for _ in range(50):
            jobs.append(job := self.start('--', 'sh', '-c', 'echo err >&2; exit 3'))
            r = wait_until(lambda: (r := self.output(job))['status'] == 'exited' and r)
            self.assertEqual((r['output'], r['exit_code']), ('err\n', 3))
        for job in jobs:
            self.assertEqual(self.output(job)['output'], 'err\n')

    def test_rendering_and_encoding(self):
        job = self.ended(r"printf '\033[31mred\033[0m 1%%\r\033[31mred\033[0m 2%%\n\xc4\xe3\n'")
        self.assertEqual(self.output(job)['output'], 'red 2%\n你\n')
        self.assertEqual(self.rein('output', job, '--render', 'clean').text, 'red 2%\n你\n')
        self.assertEqual(self.rein('output', job, '--render', 'plain').text,
                         'red 1%\rred 2%\n你\n')
        self.assertIn('\x1b[31m', self.output(job, '--render', 'raw')['output'])
        self.assertEqual(self.rein('output', job, '--encoding', 'utf-8').text.count('\ufffd'), 2)

    def test_reader_that_has_enough(self):
        job = self.ended('seq 1 300000')
        p = self.spawn('output', job)
        p.stdout.read(10)
        p.stdout.close()
        p.stdout = None
        self.assertEqual(p.wait(PATIENCE), 0)
        self.assertEqual(p.stderr.read(), b'')


class Gap(BackgroundTest):

    def setUp(self):
        super().setUp()
        self.job = self.start('--output-limit', '64K', '--', 'sh', '-c',
                              'seq 1 100000; echo last; exit 1')
        self.rein('wait', self.job)

    def test_text_has_head_line_and_tail(self):
        o = self.rein('output', self.job)
        lines = o.text.splitlines()
        self.assertEqual((lines[0], lines[-1]), ('1', 'last'))
        gap = GAP_LINE.search(o.text)
        self.assertEqual(gap.group(2), 'kept')
        log, lost = self.log_of(self.job).decode(), int(gap.group(1).replace(',', ''))
        begin = log.index('\0')
        self.assertEqual(o.text, log[:begin] + '\n' * (log[begin - 1] != '\n') + gap.group(0) + '\n'
                         + log[begin + lost:])
        self.assertTrue(os.path.exists(gap.group(3)))
        self.assertEqual(o.err, b'')

    def test_raw_inserts_nothing_and_tells_on_standard_error(self):
        o = self.rein('output', self.job, '--render', 'raw')
        self.assertNotIn('omitted', o.text)
        self.assertRegex(o.err_text, r'^rein: .* bytes of output were dropped; kept output: /')

    def test_pages_tell_it(self):
        r, since, text = None, 0, ''
        while r is None or r['cursor'] > since:
            since = r['cursor'] if r else 0
            r = self.output(self.job, '--since', str(since), '--show', '8K')
            text += r['output']
            if r['omitted_bytes']:
                gap = GAP_LINE.search(r['output'])
                self.assertEqual(int(gap.group(1).replace(',', '')), r['omitted_bytes'])
        self.assertEqual(len(GAP_LINE.findall(text)), 1)
        self.assertTrue(text.startswith('1\n2\n') and text.endswith('100000\nlast\n'))

    def test_lines_at_the_end(self):
        self.assertEqual(self.rein('output', self.job, '-n', '2').text, '100000\nlast\n')
        r = self.output(self.job, '-n', '3')
        self.assertEqual((r['output'], r['omitted_bytes']), ('99999\n100000\nlast\n', 0))


class Ranges(BackgroundTest):

    def setUp(self):
        super().setUp()
        self.job = self.start('--', 'seq', '1', '50000')
        self.rein('wait', self.job)

    @staticmethod
    def seq(first, last):
        return ''.join(f'{n}\n' for n in range(first, last + 1))

    def test_json_shows_the_last_200_lines(self):
        r = self.output(self.job)
        self.assertEqual(r['output'], self.seq(49801, 50000))
        self.assertEqual((r['omitted_bytes'], r['truncated'], r['cursor']),
                         (0, False, r['output_bytes']))

    def test_last_lines(self):
        self.assertEqual(self.output(self.job, '-n', '3')['output'], self.seq(49998, 50000))
        self.assertEqual(self.rein('output', '-n1', self.job).text, '50000\n')
        r = self.output(self.job, '-n', '40000')
        self.assertLessEqual(len(r['output']), 65536)
        self.assertTrue(r['output'].endswith('\n50000\n'))
        self.assertTrue(r['truncated'])
        shown = r['output'].partition('…]\n')[2]
        whole = len(self.seq(10001, 50000))
        self.assertEqual(len(shown) + r['omitted_bytes'], whole)
        self.assertEqual(r['omitted_at'], len(self.seq(1, 10000)))
        self.assertEqual(self.rein('output', '-n', '99999', self.job).text, self.seq(1, 50000))

    def test_one_long_line(self):
        job = self.start_sh("echo first; head -c 20000000 /dev/zero | tr '\\0' x")
        self.rein('wait', job)
        r = self.output(job, '-n', '1')
        self.assertLessEqual(len(r['output'].encode()), 65536)
        shown = r['output'].partition('…]\n')[2]
        self.assertEqual((len(shown) + r['omitted_bytes'], set(shown)), (20000000, {'x'}))
        self.assertEqual(r['omitted_at'], len('first\n'))

    def test_pages_join_to_the_whole(self):
        text, since, pages = '', 0, 0
        while True:
            r = self.output(self.job, '--since', str(since))
            self.assertLessEqual(len(r['output'].encode()), 65536)
            self.assertEqual(r['omitted_bytes'], 0)
            if not r['output']:
                break
            self.assertTrue(r['output'].endswith('\n'))
            text, since, pages = text + r['output'], r['cursor'], pages + 1
        self.assertEqual(text, self.seq(1, 50000))
        self.assertEqual(since, r['output_bytes'])
        self.assertLess(pages, 8, 'pages are filled')

    def test_pages_of_wide_characters(self):
        job = self.start_sh("for i in $(seq 300); do printf '你好—'; done")
        self.rein('wait', job)
        for show in '1', '4', '100':
            text, since = '', 0
            for _ in range(3000 if show == '100' else 20):
                r = self.output(job, '--since', str(since), '--show', show)
                if not r['output']:
                    break
                self.assertGreater(r['cursor'], since)
                self.assertLessEqual(len(r['output'].encode()), max(3, int(show)))
                text, since = text + r['output'], r['cursor']
            self.assertTrue(('你好—' * 300).startswith(text))
            self.assertNotEqual(text, '')
        self.assertEqual(text, '你好—' * 300)

    def test_pages_of_a_split_job(self):
        job = self.start_sh('for i in $(seq 2000); do echo out $i; echo err $i >&2; done',
                            '--split')
        self.rein('wait', job)
        out, err, since = '', '', 0
        while True:
            r = self.output(job, '--since', str(since), '--show', '3000')
            self.assertLessEqual(len(r['stdout'] + r['stderr']), 3000)
            if r['cursor'] == since:
                break
            out, err, since = out + r['stdout'], err + r['stderr'], r['cursor']
        self.assertEqual(out, ''.join(f'out {n}\n' for n in range(1, 2001)))
        self.assertEqual(err, ''.join(f'err {n}\n' for n in range(1, 2001)))

    def test_since_in_text_goes_to_the_end(self):
        begin = len(self.seq(1, 100))
        self.assertEqual(self.rein('output', self.job, '--since', str(begin)).text,
                         self.seq(101, 50000))
        self.assertEqual(self.output(self.job, '--since', '999999999')['output'], '')

    def test_show(self):
        o = self.rein('output', self.job, '--show', '1000')
        self.assertLessEqual(len(o.out), 1000)
        self.assertTrue(o.text.startswith('1\n2\n') and o.text.endswith('\n50000\n'))
        self.assertRegex(o.text, GAP_LINE)
        r = self.output(self.job, '--show', '500')
        self.assertLessEqual(len(r['output'].encode()), 500)
        self.assertTrue(r['output'].endswith('\n50000\n'), 'the end is kept')
        self.assertNotIn('\n49801\n', r['output'])

    def test_a_character_that_is_not_complete(self):
        m = self.marker(98820)
        job = self.start_sh(rf"printf 'ab\xe2\x80'; until test -e go; do sleep 0.01; done; "
                            rf"printf '\x94c'; sleep {m}")
        r = wait_until(lambda: (r := self.output(job))['output_bytes'] == 4 and r)
        self.assertEqual((r['output'], r['cursor']), ('ab', 2))
        self.assertEqual(self.output(job, '--since', '2')['cursor'], 2)
        self.write('go', '')
        r = wait_until(lambda: (r := self.output(job, '--since', '2'))['output_bytes'] == 6 and r)
        self.assertEqual((r['output'], r['cursor']), ('—c', 6))

    def test_the_end_of_a_large_log_costs_nothing(self):
        job = self.start_sh('yes 0123456789 | head -c 60000000', '--output-limit', '64M')
        self.rein('wait', job)
        times = []
        for args in ('-n', '10'), ('--json',):
            times.append(min(self.rein('output', job, *args).seconds for _ in range(5)))
        small = min(self.rein('output', self.job, '-n', '10').seconds for _ in range(5))
        self.assertLess(max(times), small + 0.02 * SLOW)
        p = self.spawn('output', '--json', job, prefix=['strace', '-f', '-o', 'calls', '-e',
                                                        'trace=pread64'],
                       extra_env=self.without_leak_check())
        self.finish(p)
        self.assertLess(len(self.read(os.path.join(self.work, 'calls')).splitlines()), 20)


class Grep(BackgroundTest):

    def setUp(self):
        super().setUp()
        self.job = self.start_sh(r"for i in $(seq 1000); do printf '\033[3%dmline %d\033[0m\n' "
                                 r"$((i % 8)) $i; done; printf 'no end 77'")
        self.rein('wait', self.job)

    def test_rendered_lines_that_match(self):
        expected = ''.join(f'line {n}\n' for n in (7, 17, 27, 37, 47, 57, 67, 77, 87, 97))
        o = self.rein('output', self.job, '--grep', r'^line \d?7$')
        self.assertEqual((o.rc, o.text), (0, expected))
        self.assertEqual(self.output(self.job, '--grep', r'^line \d?7$')['output'], expected)
        self.assertEqual(self.rein('output', self.job, '--grep', '77$').text.splitlines()[-1],
                         'no end 77')

    def test_last_ones(self):
        for args in ['-n', '2'], ['-n2', '--show', '1M']:
            o = self.rein('output', self.job, '--grep', r'^line', *args)
            self.assertEqual(o.text, 'line 999\nline 1000\n')
        r = self.output(self.job, '--grep', '^line', '-n', '2')
        self.assertEqual((r['output'], r['truncated']), ('line 999\nline 1000\n', False))
        self.assertEqual(len(self.output(self.job, '--grep', '^line')['output'].splitlines()), 200)

    def test_pages(self):
        text, since = '', 0
        while True:
            r = self.output_any(self.job, '--grep', '5$', '--since', str(since), '--show', '100')
            text += r['output']
            if r['cursor'] == since:
                break
            since = r['cursor']
        self.assertEqual(text, ''.join(f'line {n}\n' for n in range(5, 1001, 10)))

    def output_any(self, *args):
        return self.rein('output', '--json', *args).R

    def test_limit_keeps_the_end(self):
        r = self.output(self.job, '--grep', '^line', '--show', '30')
        self.assertEqual(r['output'], 'line 998\nline 999\nline 1000\n')
        self.assertTrue(r['truncated'])

    def test_nothing_matches(self):
        o = self.rein('output', self.job, '--grep', 'nowhere')
        self.assertEqual((o.rc, o.out, o.err), (1, b'', b''))
        o = self.rein('output', self.job, '--grep', 'nowhere', '--json')
        self.assertEqual((o.rc, o.R['output'], o.R['process_id']), (1, '', self.job))

    def test_bad_expressions(self):
        o = self.rein('output', self.job, '--grep', '(', '--json')
        self.assert_refused(o, 'bad_request', 2, '(')
        job = self.start_sh("head -c 5000 /dev/zero | tr '\\0' a; echo b")
        self.rein('wait', job)
        for args in [], ['--json']:
            o = self.rein('output', job, '--grep', '^(a+)+$', *args)
            self.assertEqual(o.rc, 125)
            self.assertIn('steps', o.text + o.err_text)


class Follow(BackgroundTest):

    def test_until_the_job_ends(self):
        job = self.start_sh('echo one; until test -e go; do sleep 0.01; done; printf two; exit 3')
        p = self.spawn('output', '--follow', job)
        self.assertEqual(self.read_some(p.stdout, b'\n'), b'one\n')
        self.write('go', '')
        o = self.finish(p)
        self.assertEqual((o.rc, o.out, o.err), (0, b'two', b''))
        self.assertEqual(self.rein('output', '-f', job).out, b'one\ntwo')

    def test_begins_where_it_is_told(self):
        job = self.start_sh('seq 1 100; until test -e go; do sleep 0.01; done; echo new')
        self.wait_for_line(job, '^100$')
        ways = {'-n': ('2', '99\n100\n'), '--since': ('282', '98\n99\n100\n')}
        for option, (value, there) in ways.items():
            ways[option] = (self.spawn('output', '-f', option, value, job), there)
        there = self.spawn('output', '-f', '--grep', '9', '-n', '1', job)
        self.read_some(there.stdout, b'99\n')
        for p, text in ways.values():
            self.read_some(p.stdout, text.encode())
        self.write('go', '')
        for p, _ in ways.values():
            self.assertEqual(self.finish(p).text, 'new\n')
        self.assertEqual((o := self.finish(there)).rc, 0, str(o))

    def test_only_what_matches(self):
        job = self.start_sh('echo yes; echo no; until test -e go; do sleep 0.01; done; echo yes 2')
        p = self.spawn('output', '-f', job, '--grep', 'yes')
        self.read_some(p.stdout, b'yes\n')
        self.write('go', '')
        self.assertEqual(self.finish(p).text, 'yes 2\n')

    def test_interrupt_ends_following_not_the_job(self):
        m = self.marker(98821)
        job = self.start_sh(f'echo up; sleep {m}')
        for signo in signal.SIGINT, signal.SIGTERM:
            p = self.spawn('output', '-f', job, preexec_fn=free_of_signals)
            self.read_some(p.stdout, b'up\n')
            p.send_signal(signo)
            o = self.finish(p, AT_ONCE)
            self.assertEqual((o.rc, o.err), (0, b''))
        self.assertEqual(len(self.running('sleep', m)), 1)

    def test_reader_goes_away(self):
        m = self.marker(98822)
        job = self.start_sh(f'echo up; sleep {m}')
        p = self.spawn('output', '-f', job)
        self.read_some(p.stdout, b'up\n')
        p.stdout.close()
        p.stdout = None
        self.assertEqual(p.wait(AT_ONCE), 0)
        self.assertEqual(self.output(job)['status'], 'running')

    def test_events(self):
        job = self.start_sh('echo out; echo err >&2; exit 2', '--split')
        o = self.rein('output', '--follow', '--jsonl', job)
        first, *pieces, last = o.events
        self.assertEqual((o.rc, first['event'], first['process_id']), (0, 'started', job))
        self.assertEqual([(e['event'], e['stream'], e['text']) for e in pieces],
                         [('output', 'stdout', 'out\n'), ('output', 'stderr', 'err\n')])
        self.assertEqual((last['event'], last['exit_code'], last['stdout']), ('exit', 2, 'out\n'))

    def test_usage(self):
        job = self.start('--', 'true')
        for args in (['--follow', '--json'], ['--jsonl'], ['-f', '--show', '5'], ['-n', '0'],
                     ['--since', '-1'], ['other'], ['-f', '--jsonl', '--grep', 'x']):
            with self.subTest(args=args):
                self.assertEqual(self.rein('output', job, *args).rc, 2)

    def test_B15_readers_do_not_take_output_from_each_other(self):
        job = self.start_sh('for i in $(seq 1 150); do echo $i; sleep 0.001; done')
        texts, cursors = ['', ''], [0, 0]
        while True:
            for reader, show in enumerate(('64K', '60')):
                r = self.output(job, '--since', str(cursors[reader]), '--show', show)
                self.assertGreaterEqual(r['cursor'], cursors[reader])
                texts[reader] += r['output']
                cursors[reader] = r['cursor']
            if r['status'] == 'exited' and cursors == [r['output_bytes']] * 2:
                break
        whole = ''.join(f'{n}\n' for n in range(1, 151))
        self.assertEqual(texts, [whole, whole])


class Bounds(BackgroundTest):

    def test_D2_memory_does_not_grow_with_output(self):
        self.not_with_sanitizers('memory is theirs')
        job = self.start('--', 'cat', '/dev/zero')
        pid = self.output(job)['pid']
        wait_until(lambda: self.list()[0]['output_bytes'] > 500 * MIB, seconds=15)
        with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
            supervisor = int(f.read().rpartition(')')[2].split()[1])
        self.assertLess(proc_status(supervisor, 'VmHWM'), 16 * 1024)
        for args in ['--json'], ['--json', '--since', '0'], ['--json', '--grep', 'x']:
            p = self.spawn('output', job, *args, stdout=subprocess.DEVNULL)
            _, _, usage = os.wait4(p.pid, 0)
            p.returncode = 0
            self.assertLess(usage.ru_maxrss, 24 * 1024, args)
        self.stop(job, '--grace', '0')

    def test_D3_disk_does_not_grow_with_output(self):
        job = self.start('--output-limit', '10M', '--', 'yes')
        wait_until(lambda: self.list()[0]['output_bytes'] > 60 * MIB, seconds=15)
        for _ in range(5):
            blocks = sum(os.stat(os.path.join(folder, name)).st_blocks * 512
                         for folder, _, names in os.walk(self.state) for name in names)
            self.assertLessEqual(blocks, 10 * MIB + 256 * 1024)
            time.sleep(0.02)
        self.assertEqual(self.output(job)['status'], 'running')
        self.assertEqual(self.output(job, '-n', '3')['output'].splitlines()[-1][:1], 'y')
        self.stop(job, '--grace', '0')
        r = self.output(job, '--since', '0', '--show', '20M')
        self.assertTrue(r['output'].startswith('y\ny\n'))
        self.assertEqual(int(GAP_LINE.search(r['output']).group(1).replace(',', '')),
                         r['omitted_bytes'])
        self.assertEqual(len(GAP_LINE.sub('', r['output'])) // 2 * 2 // MIB, 9)


if __name__ == '__main__':
    unittest.main()
