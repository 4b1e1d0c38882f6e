"""The end of a job is the end of its main process, and nothing written before it is lost."""

import json
import os
import signal
import subprocess
import time
import unittest

from rein_test import SLOW, ReinTest, children_of

NUMBERS = b''.join(b'%d\n' % i for i in range(1, 200001))


class End(ReinTest):
    """What is not waited for."""

    def test_B1_a_child_holds_standard_output(self):
        m = self.marker(98721)
        o = self.sh(f'echo child-done; (sleep {m}) &', '-t', '20')
        self.assert_gone(m)
        self.assert_at_once(o)
        r = self.assert_ended(o, 'exit', 0, output='child-done\n')
        self.assertTrue(any(f'sleep {m}' in e['command'] for e in r['left_running']), r)

    def test_B1_after_keep(self):
        m = self.marker(98721)
        o = self.sh(f'echo child-done; (exec sleep {m}) &', '-t', '20', '--after', 'keep')
        self.assert_at_once(o)
        r = self.assert_ended(o, 'exit', 0, output='child-done\n')
        (pid,) = (e['pid'] for e in r['left_running'])
        self.assertEqual(self.wait_running('sleep', m), [pid])
        time.sleep(0.2)     # rein has gone; what it kept lives on
        self.assertEqual(self.running('sleep', m), [pid])
        os.kill(pid, signal.SIGKILL)

    def test_after_keep_and_a_deadline(self):
        """Keep is about the main process's own end: a deadline still ends all."""
        m = self.marker(98721)
        o, _ = self.ready_before(
            lambda t: self.sh(f'sleep {m} & echo up; sleep {m}', '-t', t, '--after', 'keep'), 0.3,
            'up')
        self.assert_gone(m)
        self.assert_ended(o, 'timeout', -9, output='up\n')

    def test_after_wait(self):
        o = self.sh('(sleep 0.4; echo late) & echo first', '--after', 'wait')
        r = self.assert_ended(o, 'exit', 0, output='first\nlate\n')
        self.assert_duration(r, 400, 2000)

    def test_after_wait_keeps_the_exit_code(self):
        o = self.sh('(sleep 0.2; exit 9) & exit 5', '--after', 'wait')
        self.assert_ended(o, 'exit', 5)

    def test_A4_daemon_outlives_the_main_process(self):
        m = self.marker(98704)
        o = self.run_json('--', self.helper('daemonize'), m)
        self.assert_gone(m)
        self.assert_at_once(o)
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(len(r['left_running']), 1)
        self.assertIn(f'daemonize {m}', r['left_running'][0]['command'])

    def test_leftovers_are_told_in_text_mode(self):
        m = self.marker(98724)
        o = self.rein('run', '--', 'bash', '-c', f'echo out; sleep {m} &')
        self.assert_gone(m)
        self.assertEqual((o.rc, o.out), (0, b'out\n'))
        self.assertRegex(o.err_text, r'\Arein: [^\n]*\n\Z')
        self.assertIn(f'sleep {m}', o.err_text)

    def test_leftovers_get_the_grace_that_was_given(self):
        m = self.marker(98725)
        o = self.sh(f'(trap "echo bye; exit" TERM; echo up; touch ready; sleep {m} & wait) & '
                    'until test -e ready; do sleep 0.01; done', '--grace', '10')
        self.assert_gone(m)
        self.assert_ended(o, 'exit', 0, output='up\nbye\n')

    def test_stopped_leftovers(self):
        m = self.marker(98726)
        o = self.run_json('--', self.helper('stopper'), m, 'alone')
        self.assert_gone(m)
        self.assert_at_once(o)
        r = self.assert_ended(o, 'exit', 0, output='stopped\n')
        self.assertEqual(len(r['left_running']), 1)

    def test_A18_a_shell_that_ends_its_own_child(self):
        m = self.marker(98718)
        o = self.sh(f'sleep {m} & kill %1; wait; echo over')
        self.assert_gone(m)
        r = self.assert_ended(o, 'exit', 0)
        self.assertTrue(r['output'].endswith('over\n'))
        self.assertEqual(r['left_running'], [])

    def test_A19_a_busy_child_stays_behind(self):
        m = self.marker(98719)
        o = self.run_json('--', 'bash', '-c', '(while :; do :; done) & echo started', m)
        self.assert_gone(m)
        self.assert_at_once(o)
        r = self.assert_ended(o, 'exit', 0, output='started\n')
        self.assertEqual(len(r['left_running']), 1)

    def test_B4_true_takes_no_time(self):
        start = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.rein('run', '--', 'true').rc, 0)
        self.assertLess(time.monotonic() - start, 2 * SLOW)

    def test_B10_text_like_a_prompt(self):
        o = self.sh("printf 'a > '; sleep 0.3; printf '>>> '; sleep 0.3; echo done")
        self.assert_ended(o, 'exit', 0, output='a > >>> done\n')

    def test_B11_text_like_a_marker(self):
        text = ('{"status": "exited", "exit_code": 0}\n[Stopped] 用户强制终止\n'
                '[Timeout Error] 超时强制终止\n'
                '[… 1,234 bytes omitted; full output: /nowhere/output.log …]\n'
                '{"event":"exit","reason":"exit"}\n')
        self.write('text', text)
        o = self.sh('cat text; false')
        r = self.assert_ended(o, 'exit', 1, output=text)
        self.assertFalse(r['truncated'])


class Zombies(ReinTest):

    LOOP = '''
        for i in $(seq 200); do (sleep 0.01 &); done; sleep 0.7
        for stat in /proc/[0-9]*/stat; do
            read -r line < $stat && case "${line##*)}" in " Z"*) echo "$line";; esac
        done 2>/dev/null
        true'''

    def test_A17_rein_as_process_1(self):
        prefix = self.as_namespace_root('-p', '-f', '--mount-proc')
        o = self.sh(self.LOOP, prefix=prefix)
        self.assert_ended(o, 'exit', 0, output='')

    def test_A17_rein_as_process_1_of_a_job_that_dies_early(self):
        prefix = self.as_namespace_root('-p', '-f', '--mount-proc')
        o = self.sh('(sleep 0.05; exit 3) & exit 4', prefix=prefix)
        self.assert_ended(o, 'exit', 4)

    def test_A17_many_calls(self):
        for _ in range(200):
            p = self.spawn('run', '--', 'bash', '-c', '(sleep 0.01 &); true',
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.assertEqual(p.wait(20), 0)
            self.spawned.remove(p)
        # What lost its parent came to this process: rein must have waited for all of its own.
        self.assertEqual(children_of(os.getpid()), [], 'rein left children, dead or alive')


class NothingIsLost(ReinTest):

    def test_B2_the_tail_of_text_output(self):
        for script in ['seq', '1', '200000'], ['bash', '-c', '(sleep 98722) & seq 1 200000']:
            for i in range(25):
                o = self.rein('run', '--', *script)
                self.assertEqual(o.rc, 0)
                self.assertTrue(o.out == NUMBERS, f'run {i}: {len(o.out)} of {len(NUMBERS)} bytes, '
                                f'ends {o.out[-40:]}')

    def test_B2_the_tail_in_json(self):
        m = self.marker(98722)
        for script in ['seq', '1', '200000'], ['bash', '-c', f'(sleep {m}) & seq 1 200000']:
            for _ in range(20):
                o = self.run_json('--show', '16M', '--', *script)
                r = self.assert_ended(o, 'exit', 0)
                self.assertTrue(r['output'].encode() == NUMBERS, o)
                self.assertEqual(r['output_bytes'], len(NUMBERS))

    def test_B6_more_than_a_pipe_holds(self):
        o = self.run_json('--show', '16M', '--', 'python3', '-c', 'print("a" * (1 << 20))')
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(r['output_bytes'], (1 << 20) + 1)
        self.assertTrue(r['output'] == 'a' * (1 << 20) + '\n')

    def test_B6_on_standard_error(self):
        o = self.run_json('--show', '16M', '--split', '--', 'python3', '-c',
                          'import sys; sys.stderr.write("a" * (1 << 20) + "\\n")')
        r = self.assert_ended(o, 'exit', 0, split=True)
        self.assertEqual(r['output_bytes'], (1 << 20) + 1)
        self.assertEqual(r['stdout'], '')
        self.assertTrue(r['stderr'] == 'a' * (1 << 20) + '\n')

    def test_the_tail_of_a_job_that_dies_by_a_signal(self):
        for _ in range(10):
            o = self.run_json('--show', '16M', '--', 'sh', '-c', 'seq 1 20000; kill -9 $$')
            r = self.assert_ended(o, 'signal', -9)
            self.assertTrue(r['output'].endswith('\n19999\n20000\n'))

    def test_the_tail_of_what_the_deadline_ended(self):
        m = self.marker(98723)
        o, _ = self.ready_before(
            lambda t: self.run_json('--show', '16M', '-t', t, '--', 'sh', '-c',
                                    f'seq 1 200000; sleep {m}'), 0.7, '\n199999\n')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -9)
        self.assertTrue(r['output'].encode() == NUMBERS)

    def test_every_byte_as_it_was(self):
        content = os.urandom(300000) + b'\r\n\0\x1b[31m no newline at the end'
        self.write('binary', content)
        o = self.rein('run', '--', 'cat', 'binary')
        self.assertEqual(o.rc, 0)
        self.assertTrue(o.out == content)
        self.assertEqual(o.err, b'')

    def test_streams_in_the_order_written(self):
        script = 'for i in $(seq 1 300); do echo o$i; echo e$i >&2; done'
        expected = ''.join(f'o{i}\ne{i}\n' for i in range(1, 301))
        self.assert_ended(self.sh(script), 'exit', 0, output=expected)
        o = self.rein('run', '--', 'bash', '-c', script)
        self.assertEqual((o.rc, o.out.decode(), o.err), (0, expected, b''))

    def test_closed_output(self):
        """A command that closes its output early goes on to its own end."""
        o = self.sh('echo first; exec >&- 2>&-; sleep 0.3; exit 6')
        r = self.assert_ended(o, 'exit', 6, output='first\n')
        self.assert_duration(r, 300, 2000)


class Live(ReinTest):
    """Output is shown when it is written."""

    def test_partial_lines_to_a_pipe(self):
        m = self.marker(98790)
        p = self.spawn('run', '--', 'sh', '-c', f'printf one; until test -e go; do sleep 0.02; '
                       f'done; printf two; sleep {m}')
        self.read_some(p.stdout, b'one')
        self.write('go', '')
        self.read_some(p.stdout, b'two')
        p.terminate()
        self.assertEqual(self.finish(p).rc, 143)

    def test_split_streams_each_to_its_own(self):
        m = self.marker(98791)
        p = self.spawn('run', '--split', '--', 'sh', '-c', f'echo out; echo err >&2; sleep {m}')
        self.assertEqual(self.read_some(p.stdout, b'\n'), b'out\n')
        self.assertEqual(self.read_some(p.stderr, b'\n'), b'err\n')
        p.terminate()
        self.assertEqual(self.finish(p).rc, 143)

    def test_B8_python_is_not_buffered(self):
        m = self.marker(98728)
        script = f'import os, time; print("start"); os.write(2, b"up."); time.sleep({m})'
        for options, output in ([], 'start\nup.'), (['-e', 'PYTHONUNBUFFERED='], 'up.'):
            o, _ = self.ready_before(
                lambda t: self.run_json('-t', t, *options, '--', 'python3', '-c', script), 0.7,
                'up.')
            self.assert_gone(m)
            self.assert_ended(o, 'timeout', -9, output=output)

    def test_B8_code_is_not_buffered(self):
        m = self.marker(98728)
        p = self.spawn('code', 'python', '-e', 'PYTHONUNBUFFERED=', '-c',
                       f'import time; print("start"); time.sleep({m})')
        self.read_some(p.stdout, b'start\n')
        p.terminate()
        self.assertEqual(self.finish(p).rc, 143)


class Events(ReinTest):
    """--jsonl."""

    def test_order_and_content(self):
        o = self.rein('run', '--jsonl', '--', 'sh', '-c',
                      'echo one; sleep 0.2; echo two >&2; exit 3')
        self.assertEqual(o.rc, 3)
        events = o.events
        self.assertEqual(events[0]['event'], 'started')
        self.assertRegex(events[0]['process_id'], '^[0-9a-f]{8}$')
        self.assertGreater(events[0]['pid'], 0)
        pieces = events[1:-1]
        self.assertTrue(pieces)
        self.assertEqual({e['event'] for e in pieces}, {'output'})
        self.assertEqual({e['stream'] for e in pieces}, {'output'})
        self.assertEqual(''.join(e['text'] for e in pieces), 'one\ntwo\n')
        cursors = [e['cursor'] for e in pieces]
        self.assertEqual(cursors, sorted(set(cursors)))
        self.assertEqual(cursors[-1], 8)
        r = events[-1]
        self.assertEqual(r.pop('event'), 'exit')
        self.assert_shape(r)
        self.assertEqual((r['reason'], r['exit_code'], r['output']), ('exit', 3, 'one\ntwo\n'))
        for key in 'process_id', 'pid':
            self.assertEqual(r[key], events[0][key])

    def test_come_when_it_happens(self):
        m = self.marker(98792)
        p = self.spawn('run', '--jsonl', '--', 'sh', '-c', f'echo one; sleep {m}')
        lines = self.read_some(p.stdout, b'one').decode().splitlines()
        self.assertEqual(json.loads(lines[0])['event'], 'started')
        p.terminate()
        o = self.finish(p)
        self.assertEqual(o.events[-1]['reason'], 'stopped')

    def test_split(self):
        o = self.rein('run', '--jsonl', '--split', '--', 'sh', '-c', 'echo out; echo err >&2')
        events = o.events
        texts = {s: ''.join(e['text'] for e in events if e.get('stream') == s)
                 for s in ('stdout', 'stderr', 'output')}
        self.assertEqual(texts, {'stdout': 'out\n', 'stderr': 'err\n', 'output': ''})
        self.assert_shape({k: v for k, v in events[-1].items() if k != 'event'}, split=True)

    def test_without_output(self):
        o = self.rein('run', '--jsonl', '--', 'true')
        self.assertEqual([e['event'] for e in o.events], ['started', 'exit'])

    def test_text_is_decoded_and_not_rendered(self):
        o = self.rein('run', '--jsonl', '--', 'bash', '-c', r"printf 'a\rb\x1b[31mc\n'")
        self.assertEqual(''.join(e['text'] for e in o.events[1:-1]), 'a\rb\x1b[31mc\n')
        self.assertEqual(o.events[-1]['output'], 'bc\n')

    def test_everything_comes_when_the_log_is_small(self):
        o = self.rein('run', '--jsonl', '--output-limit', '64K', '--', 'seq', '1', '200000')
        text = ''.join(e['text'] for e in o.events[1:-1])
        self.assertTrue(text.encode() == NUMBERS)
        self.assertEqual(o.events[-1]['output_bytes'], len(NUMBERS))

    def test_a_refused_call_is_one_object(self):
        o = self.rein('run', '--jsonl', '--', 'no-such-command-here')
        self.assert_refused(o, 'command_not_found', 127, 'no-such-command-here')


if __name__ == '__main__':
    unittest.main()
