"""Bounds: of the log, of rein's own memory, and the resource limits of a job."""

import os
import unittest

from rein_test import GAP_LINE, IS_ROOT, MIB, SLOW, ReinTest, descendants_of, proc_argv, \
    proc_status

NUMBERS = b''.join(b'%d\n' % i for i in range(1, 1000001))


class Log(ReinTest):
    """--output-limit: the first quarter and the newest three quarters are kept."""

    LIMIT = 1 << 20

    def flood(self, *options):
        o = self.run_json('--output-limit', str(self.LIMIT), *options, '--', 'seq', '1', '1000000')
        return self.assert_ended(o, 'exit', 0)

    def test_what_is_kept(self):
        r = self.flood('--show', '16M', '--render', 'raw')
        self.assertEqual(r['output_bytes'], len(NUMBERS))
        self.assertTrue(r['truncated'])
        match = GAP_LINE.search(r['output'])
        self.assertEqual(match[2], 'kept')
        self.assertEqual(match[3], r['log_file'])
        self.assertEqual(int(match[1].replace(',', '')), r['omitted_bytes'])
        head, tail = r['output'][:match.start()].encode(), r['output'][match.end() + 1:].encode()
        if not NUMBERS.startswith(head):
            head = head[:-1]    # the newline that puts the gap line on a line of its own
        self.assertTrue(NUMBERS.startswith(head) and NUMBERS.endswith(tail))
        self.assertEqual(len(head) + r['omitted_bytes'] + len(tail), len(NUMBERS))
        self.assertEqual(r['omitted_at'], len(head))
        # A line that the gap cuts may be left out, and the newest part grows in steps.
        self.assertTrue(self.LIMIT // 4 - 16 <= len(head) <= self.LIMIT // 4, len(head))
        self.assertTrue(self.LIMIT // 2 <= len(tail) <= self.LIMIT * 3 // 4, len(tail))

    def test_the_file(self):
        r = self.flood('--show', '4K')
        content = self.read(r['log_file'])
        quarter = self.LIMIT // 4
        self.assertTrue(content[:quarter] == NUMBERS[:quarter])
        self.assertEqual(len(content), len(NUMBERS), 'an offset in the file is one in the output')
        self.assertTrue(content[-2 * quarter:] == NUMBERS[-2 * quarter:])
        self.assertLessEqual(os.stat(r['log_file']).st_blocks * 512, self.LIMIT + 256 * 1024)

    def test_disk_blocks_of_the_whole_store(self):
        self.flood('--show', '4K')
        blocks = sum(os.lstat(os.path.join(folder, name)).st_blocks
                     for folder, _, names in os.walk(self.state) for name in names)
        self.assertLessEqual(blocks * 512, self.LIMIT + 256 * 1024)

    def test_book_keeping_at_the_bound(self):
        for extra in -1, 0, 1, 4096:
            with self.subTest(extra=extra):
                size = 65536 + extra
                o = self.run_json('--output-limit', '64K', '--show', '1M', '--', 'head', '-c',
                                  str(size), '/dev/zero')
                r = self.assert_ended(o, 'exit', 0)
                self.assertEqual(r['output_bytes'], size)
                self.assertEqual(r['truncated'], extra > 0)
                self.assertEqual(r['output'].count('\0') + r['omitted_bytes'], size)

    def test_text_output_has_everything(self):
        o = self.rein('run', '--output-limit', '64K', '--', 'seq', '1', '1000000')
        self.assertEqual((o.rc, o.err), (0, b''))
        self.assertTrue(o.out == NUMBERS)

    def test_split_streams(self):
        o = self.run_json('--split', '--output-limit', '64K', '--show', '1M', '--render', 'raw',
                          '--', 'sh', '-c', 'seq 1 20000; seq 1 20000 >&2')
        r = self.assert_ended(o, 'exit', 0, split=True)
        size = len(b''.join(b'%d\n' % i for i in range(1, 20001)))
        self.assertEqual(r['output_bytes'], 2 * size)
        self.assertTrue(r['stdout'].startswith('1\n2\n'))
        self.assertTrue(r['stderr'].endswith('\n19999\n20000\n'))
        shown = sum(len(GAP_LINE.sub('', r[s]).encode()) for s in ('stdout', 'stderr'))
        self.assertAlmostEqual(shown + r['omitted_bytes'], 2 * size, delta=4)

    def test_D6_a_limit_that_kills_says_so(self):
        o = self.run_json('--output-limit', '64K', '--on-output-limit', 'kill', '--', 'seq', '1',
                          '1000000')
        r = self.assert_ended(o, 'output_limit')
        self.assertIsNotNone(r['exit_code'])
        self.assertTrue(r['output'].endswith('\n'))
        self.assertNotIn(o.rc, (0, 124))

    def test_D6_reaches_the_whole_tree(self):
        m = self.marker(98820)
        o = self.sh(f'{self.helper("daemonize")} {m}; sleep {m} & yes {m}',
                    '--output-limit', '64K', '--on-output-limit', 'kill')
        self.assert_gone(m)
        self.assert_at_once(o)
        self.assert_ended(o, 'output_limit', -9)
        self.assertEqual(o.rc, 137)

    def test_D6_in_text_mode(self):
        o = self.rein('run', '--output-limit', '64K', '--on-output-limit', 'kill', '--', 'yes')
        self.assertEqual(o.rc, 137)
        self.assertGreaterEqual(len(o.out), 60000)
        self.assertRegex(o.err_text, r'\A\n?rein: [^\n]*\n\Z')

    def test_D6_below_the_limit_nothing_happens(self):
        o = self.run_json('--output-limit', '64K', '--on-output-limit', 'kill', '--', 'head', '-c',
                          '65536', '/dev/zero')
        self.assert_ended(o, 'exit', 0)


class Memory(ReinTest):
    """rein's own processes stay small, whatever the job writes."""

    def peak(self, p, m):
        """The largest resident set so far of rein and what stands between it and the job."""
        own = [pid for pid in descendants_of(p.pid)
               if not any(m.encode() in arg for arg in proc_argv(pid)[1:])] + [p.pid]
        return max(proc_status(pid, 'VmHWM') or 0 for pid in own) * 1024

    def test_D2_memory_does_not_grow_with_output(self):
        self.not_with_sanitizers('rein needs memory of its own')
        for options in ['--json', '--show', '16K'], ['--jsonl', '--show', '16K'], []:
            with self.subTest(options=options):
                m = self.marker(98821)
                with open('/dev/null', 'wb') as null:
                    p = self.spawn('run', *options, '-t', '1', '--grace', '0', '--', 'yes', m,
                                   stdout=null)
                    peak = 0
                    while p.poll() is None:
                        peak = max(peak, self.peak(p, m))
                        try:
                            p.wait(0.05)
                        except Exception:   # it runs on
                            pass
                self.assertEqual(p.returncode, 124)
                self.assert_gone(m)
                self.assertGreater(peak, 0)
                self.assertLess(peak, 16 * MIB)

    def test_D2_everything_is_counted(self):
        o = self.run_json('--show', '16K', '--', 'head', '-c', '400000000', '/dev/zero')
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(r['output_bytes'], 400000000)

    def test_D2_output_at_the_deadline_is_counted(self):
        m = self.marker(98822)
        o = self.run_json('-t', '0.5', '--show', '16K', '--', 'yes', m)
        r = self.assert_ended(o, 'timeout', -9)
        self.assertGreater(r['output_bytes'], MIB)
        self.assertEqual(GAP_LINE.sub('', r['output']).replace(f'{m}\n', '').strip('\n'), '')


class Resources(ReinTest):
    """--memory, --cpu-time, --procs, --file-size."""

    def test_G2_memory(self):
        o = self.run_json('--memory', '200M', '--', 'python3', '-c', 'x = bytearray(2 << 30)')
        r = o.R
        self.assertIs(r['success'], False, str(o))
        if r['reason'] == 'memory_limit':
            self.assert_ended(o, 'memory_limit')
        else:
            self.assert_ended(o, 'exit', 1)
            self.assertIn('MemoryError', r['output'])
            self.assertIn('memory', r['sandbox']['missing'])
            self.assertTrue(any('memory' in w for w in r['warnings']), r['warnings'])

    def test_memory_that_suffices(self):
        o = self.run_json('--memory', '2G', '--', 'python3', '-c', 'x = bytearray(20 << 20)')
        self.assert_ended(o, 'exit', 0)

    def test_cpu_time(self):
        m = self.marker(98823)
        o = self.run_json('-t', '20', '--cpu-time', '1', '--', 'sh', '-c', 'while :; do :; done',
                          m, timeout=30 * SLOW)
        self.assert_gone(m)
        r = self.assert_ended(o, 'cpu_limit')
        self.assertLess(r['exit_code'], 0)
        self.assertLess(r['usage']['user_ms'] + r['usage']['system_ms'], 2600)
        # The kernel's two ways of counting differ by a good part of a second on virtual machines.
        self.assertGreater(r['usage']['user_ms'] + r['usage']['system_ms'], 300)

    def test_cpu_time_is_not_wall_time(self):
        o = self.run_json('--cpu-time', '1', '--', 'sleep', '1.2')
        self.assert_ended(o, 'exit', 0)

    def test_file_size(self):
        o = self.run_json('--file-size', '1M', '--', 'dd', 'if=/dev/zero', 'of=big', 'bs=64K',
                          'count=64')
        r = self.assert_ended(o, 'file_size_limit')
        self.assertEqual(r['signal'], 'SIGXFSZ')
        self.assertEqual(os.path.getsize(os.path.join(self.work, 'big')), 1 << 20)

    def test_file_size_does_not_bind_the_log(self):
        o = self.run_json('--file-size', '64K', '--show', '4K', '--', 'seq', '1', '200000')
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(os.path.getsize(r['log_file']), r['output_bytes'])

    def test_procs(self):
        script = ('import os, time\nn = 0\ntry:\n    while n < 60:\n        if os.fork() == 0:\n'
                  '            time.sleep(5); os._exit(0)\n        n += 1\n'
                  'except OSError as e:\n    print(type(e).__name__)\nprint(n)')
        o = self.run_json('--procs', '20', '--', 'python3', '-c', script)
        r = self.assert_ended(o, 'exit', 0)
        count = int(r['output'].split()[-1])
        if 'procs' in r['sandbox']['missing']:
            self.assertTrue(any('procs' in w for w in r['warnings']), r['warnings'])
        else:
            self.assertLessEqual(count, 20)
        if IS_ROOT and count == 60:
            self.assertIn('procs', r['sandbox']['missing'])

    def test_limits_hold_for_code_too(self):
        o = self.code_json('python', '--file-size', '64K', '-c',
                           'open("big", "wb").write(bytes(1 << 20))')
        self.assertIn(o.R['reason'], ('exit', 'file_size_limit'))
        self.assertLessEqual(os.path.getsize(os.path.join(self.work, 'big')), 64 << 10)


if __name__ == '__main__':
    unittest.main()
