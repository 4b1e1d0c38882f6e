"""Jobs of the background: started here, listed, stopped and forgotten there."""

import json
import os
import pty
import signal
import subprocess
import time
import unittest

from background_test import SHORT_KEYS, BackgroundTest
from rein_test import PATIENCE, SLOW, chain_between, free_of_signals, proc_stat, wait_until


class Start(BackgroundTest):

    def test_returns_at_once_with_the_handle(self):
        m = self.marker(98800)
        o = self.rein('start', '--', 'sleep', m)
        self.assert_at_once(o)
        self.wait_running('sleep', m)
        self.assertEqual(self.ids(), [o.text.strip()])

    def test_json_gives_the_result_object(self):
        m = self.marker(98801)
        o = self.rein('start', '--json', '--name', 'a label', '--', 'sleep', m)
        self.assertEqual(o.rc, 0)
        r = o.R
        self.assertEqual((r['status'], r['reason'], r['success']), ('running', None, True))
        self.assertEqual((r['exit_code'], r['signal'], r['output']), (None, None, ''))
        self.assertEqual((r['command'], r['name'], r['cwd']), (['sleep', m], 'a label', self.work))
        self.assertTrue(os.path.exists(r['log_file']))
        split = self.rein('start', '--json', '--split', '--', 'true').R
        self.assertEqual((split['stdout'], split['stderr']), ('', ''))

    def test_path_of_the_log_only_on_a_terminal(self):
        master, slave = pty.openpty()
        o = self.rein('start', '--', 'true', stderr=slave)
        os.close(slave)
        said = self.read_some(master, b'output.log')
        os.close(master)
        self.assertRegex(o.text, r'\A[0-9a-f]{8}\n\Z')
        self.assertIn(os.path.join(self.state, 'jobs', o.text.strip()).encode(), said)

    def test_G6_what_cannot_run_gives_no_handle(self):
        self.write('plain', '')
        for command, rc, code in (('nosuchcmd', 127, 'command_not_found'),
                                  ('./plain', 126, 'not_executable')):
            self.assert_complains(self.rein('start', '--', command), rc)
            self.assert_refused(self.rein('start', '--json', '--', command), code, rc)
        self.assert_refused(self.rein('start', '--json', '-C', '/nope', '--', 'pwd'), 'bad_cwd',
                            125, '/nope')
        self.assertEqual(self.ids('--all'), [])

    def test_usage(self):
        for args in ([], ['--shell', '--', 'a', 'b'], ['--owner', '0', '--', 'true'],
                     ['--owner', '1', '--detach', '--', 'true'], ['--session', '', '--', 'true'],
                     ['--session', 'a/b', '--', 'true'], ['--nonsense', '--', 'true'],
                     ['--jsonl', '--', 'true']):
            with self.subTest(args=args):
                self.assert_complains(self.rein('start', *args), 125)
        self.assertEqual(self.ids('--all'), [])

    def test_options_of_a_job(self):
        job = self.start('--shell', '-C', '/', '-e', 'A=b', '--stdin', 'null', '--',
                         'pwd; echo $A; cat; echo $PAGER')
        self.assertEqual(self.wait(job)['output'], '/\nb\ncat\n')

    def test_deadline(self):
        m = self.marker(98802)
        job = self.start('-t', '0.3', '--', 'sleep', m)
        r = self.wait(job)
        self.assertEqual((r['reason'], r['exit_code'], r['success']), ('timeout', -9, False))
        self.assert_gone(m)

    def test_input_of_the_caller(self):
        job = self.start('--stdin', 'inherit', '--', 'cat', input=b'from the caller')
        self.assertEqual(self.wait(job)['output'], 'from the caller')

    def test_signal_while_starting_leaves_no_unknown_job(self):
        p = self.spawn('start', '--', 'true', preexec_fn=free_of_signals)
        p.send_signal(signal.SIGTERM)
        o = self.finish(p)
        known = self.ids('--all')
        self.assertEqual(known, o.text.split())

    def test_handle_that_nobody_got_is_named(self):
        if not os.path.exists('/dev/full'):
            self.cannot('there is no /dev/full')
        with open('/dev/full', 'wb') as full:
            o = self.rein('start', '--', 'true', stdout=full)
        self.assertEqual(o.rc, 125)
        self.assertIn(self.ids('--all')[0], o.err_text)


class Owners(BackgroundTest):

    def test_A13_nobody_asked_nobody_kills(self):
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve('/bin/sh', ['sh', '-c', '"$0" start -- bash -c "sleep 1; echo done" >id',
                                  *self.command()], self.env)
        os.waitpid(pid, 0)
        os.close(master)
        with open(os.path.join(self.work, 'id'), encoding='utf-8') as f:
            job = f.read().strip()
        for _ in range(30):
            self.assertEqual(self.rein('ps', '--json').rc, 0)
        r = self.wait(job)
        self.assertEqual((r['reason'], r['exit_code'], r['output']), ('exit', 0, 'done\n'))

    def test_A11_the_starter_dies_by_kill(self):
        m = self.marker(98711)
        script = self.write('starter.sh', f'"$0" start -- sleep {m} >id\nsleep {m}1\n')
        p = subprocess.Popen(['sh', '-c', f'. {script}', *self.command()], cwd=self.work,
                             env=self.env, start_new_session=True)
        self.spawned.append(p)
        self.wait_running('sleep', f'{m}1')
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        job = self.read(os.path.join(self.work, 'id')).decode().strip()
        self.assertEqual(self.output(job)['status'], 'running')
        self.assertEqual(self.stop(job)['reason'], 'stopped')
        self.assert_gone(m)

    def test_owner_ends_and_takes_the_job_along(self):
        m = self.marker(98803)
        owner = subprocess.Popen(['sleep', m + '9'])
        self.spawned.append(owner)
        job = self.start('--owner', str(owner.pid), '--', 'sleep', m)
        self.wait_running('sleep', m)
        owner.kill()
        owner.wait()
        r = self.wait(job)
        self.assertEqual((r['reason'], r['success']), ('owner_gone', False))
        self.assert_gone(m)

    def test_owner_that_is_none(self):
        p = subprocess.Popen(['true'])
        p.wait()
        o = self.rein('start', '--json', '--owner', str(p.pid), '--', 'true')
        self.assert_refused(o, 'bad_request', 125, str(p.pid))
        self.assertEqual(self.ids('--all'), [])

    def test_detach_is_stronger_than_a_setting(self):
        job = self.start('--detach', '--', 'true', extra_env={'REIN_OWNER': '1'})
        self.assertEqual(self.wait(job)['reason'], 'exit')


class Supervisor(BackgroundTest):

    def test_killed_supervisor_is_a_lost_job(self):
        m = self.marker(98804)
        job = self.start_sh(f'echo before; setsid sleep {m} & sleep {m}')
        self.wait_for_line(job, 'before')
        main = self.wait_running('sleep', m, count=2)[0]
        chain = chain_between(os.getpid(), self.output(job)['pid'])
        self.assertTrue(chain, proc_stat(main))
        os.kill(chain[0], signal.SIGKILL)
        r = self.wait(job)
        self.assert_gone(m, within=2)
        self.assertEqual((r['status'], r['reason'], r['success']), ('exited', 'lost', False))
        self.assertEqual((r['exit_code'], r['output']), (None, 'before\n'))
        self.assertEqual(self.stop(job)['reason'], 'lost')


class Notify(BackgroundTest):

    def test_gets_the_result_once(self):
        job = self.start('--notify', 'cat >>told; echo >>told', '--', 'sh', '-c',
                         'echo text; exit 3')
        told = os.path.join(self.work, 'told')
        wait_until(lambda: os.path.exists(told) and self.read(told).endswith(b'\n\n'),
                   what='the notification')
        r = json.loads(self.read(told))
        self.assertEqual((r['process_id'], r['status'], r['exit_code'], r['output']),
                         (job, 'exited', 3, 'text\n'))

    def test_command_is_one_string_of_the_caller(self):
        job = self.start('--notify', "cat >/dev/null; printf %s \"it's $REIN_PROCESS_ID\" >told",
                         '--', 'true')
        told = os.path.join(self.work, 'told')
        wait_until(lambda: os.path.exists(told) and self.read(told), what='the notification')
        self.assertEqual(self.read(told).decode(), f"it's {job}")


class Ps(BackgroundTest):

    def test_H4_list_stop_one_stop_all(self):
        m = self.marker(98805)
        jobs = [self.start('--', 'sleep', m) for _ in range(5)]
        self.assertEqual(self.ids(), jobs)
        for one in self.list():
            self.assertFalse((SHORT_KEYS | {'session', 'usage'}) - set(one), one)
            self.assertNotIn('output', one)
        self.assertEqual(self.stop(jobs[2])['reason'], 'stopped')
        self.assertEqual(self.ids(), jobs[:2] + jobs[3:])
        self.assertEqual(len(self.processes(m)), 4)
        o = self.rein('stop', '--all', '--json')
        self.assertEqual(o.rc, 0)
        self.assertEqual(sorted(one['process_id'] for one in json.loads(o.text)),
                         sorted(jobs[:2] + jobs[3:]))
        self.assert_gone(m)
        self.assertEqual(self.list(), [])
        self.assertEqual({one['reason'] for one in self.list('--all')}, {'stopped'})
        self.assertEqual(json.loads(self.rein('stop', '--all', '--json').text), [])

    def test_H5_two_stores(self):
        m = self.marker(98806)
        job = self.start('--', 'sleep', m)
        other = {'REIN_STATE': os.path.join(self.temp, 'other')}
        self.assertEqual(self.ids('--all', extra_env=other), [])
        for args in (['output'], ['wait'], ['stop'], ['send', '--eof'], ['rm']):
            self.assert_no_job(self.rein(*args, '--json', job, extra_env=other), job)
        self.assertEqual(self.rein('stop', '--all', extra_env=other).rc, 0)
        self.assertEqual(self.ids(), [job])

    def test_sessions(self):
        m = self.marker(98807)
        one = self.start('--session', 'one', '--', 'sleep', m)
        two = self.start('--', 'sleep', m, extra_env={'REIN_SESSION': 'two'})
        three = self.start('--', 'sleep', m)
        self.assertEqual(self.ids('--session', 'one'), [one])
        self.assertEqual(self.ids('--session', 'two'), [two])
        self.assertEqual(self.ids('--session', 'none'), [])
        self.assertEqual(sorted(self.ids()), sorted([one, two, three]))
        self.assertEqual([x['session'] for x in self.list()], ['one', 'two', None])

    def test_table(self):
        m = self.marker(98808)
        job = self.start('--name', 'evil\x1b[2J\nname', '--', 'sh', '-c', f'sleep {m} # \x07\u4f60')
        done = self.start('--', 'sh', '-c', 'exit 7')
        self.wait(done)
        lines = self.rein('ps').text.splitlines()
        self.assertEqual(lines[0].split(),
                         ['ID', 'STATUS', 'AGE', 'CPU', 'MEMORY', 'COMMAND', 'NAME'])
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], rf'^{job}  running  ')
        self.assertIn(f"sh -c 'sleep {m} # \\x07\u4f60'", lines[1])
        self.assertTrue(lines[1].endswith('  evil\\x1b[2J\\x0aname'), lines[1])
        lines = self.rein('ps', '--all').text.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[2], rf'^{done}  exit 7  ')

    def test_command_is_cut_on_a_terminal_only(self):
        long = 'x' * 300
        self.start('--', 'sh', '-c', 'sleep 300', long)
        self.assertIn(long, self.rein('ps').text)
        master, slave = pty.openpty()
        subprocess.run(['stty', 'cols', '100'], stdin=slave, check=True)
        p = self.spawn('ps', stdout=slave)
        os.close(slave)
        said = self.read_some(master, b'\xe2\x80\xa6').decode()
        self.finish(p)
        os.close(master)
        self.assertTrue(all(len(line) <= 100 for line in said.splitlines()), said)

    def test_no_store_no_jobs(self):
        extra = {'REIN_STATE': os.path.join(self.temp, 'nowhere')}
        self.assertEqual(self.list(extra_env=extra), [])
        self.assertEqual(len(self.rein('ps', extra_env=extra).text.splitlines()), 1)
        self.assertFalse(os.path.exists(extra['REIN_STATE']))


class Stop(BackgroundTest):

    def test_A6_the_main_process_has_ended_the_tree_has_not(self):
        m = self.marker(98706)
        job = self.start_sh(f'sleep {m} & exit 0', '--after', 'wait')
        pid = self.list()[0]['pid']
        wait_until(lambda: (proc_stat(pid) or ('Z', 0))[0] == 'Z',
                   what='the end of the main process')
        self.assertEqual(self.output(job)['status'], 'running')
        r = self.stop(job, '--grace', '1')
        self.assert_gone(m)
        self.assertEqual((r['status'], r['reason']), ('exited', 'stopped'))

        job = self.start_sh(f'sleep {m} & exit 0')
        r = self.wait(job)
        self.assert_gone(m)
        self.assertEqual((r['reason'], r['exit_code']), ('exit', 0))
        self.assertEqual(len(r['left_running']), 1, r)
        self.assertIn(f'sleep {m}', r['left_running'][0]['command'])

    def test_A7_stop_returns_when_nothing_is_left(self):
        m = self.marker(98707)
        job = self.start_sh(f'for i in 1 2 3 4 5 6 7 8 9; do timeout 5400 sleep {m}; done')
        self.wait_running('sleep', m)
        r = self.stop(job)
        self.assert_gone(m)
        self.assertEqual((r['reason'], r['signal']), ('stopped', 'SIGTERM'))
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            self.assert_gone(m)

    def test_A3_a_descendant_in_a_new_session(self):
        m = self.marker(98703)
        job = self.start_sh(f'setsid sleep {m} & sleep {m}')
        self.wait_running('sleep', m, count=2)
        self.stop(job, '--grace', '0')
        self.assert_gone(m)

    def test_A16_the_pid_belongs_to_a_stranger_now(self):
        m = self.marker(98716)
        script = f'''
            mount -t proc proc /proc || exit 77
            id=$("$0" start -- true) && "$0" wait "$id" >/dev/null || exit 1
            pid=$("$0" output --json "$id" | sed 's/.*"pid": \\([0-9]*\\).*/\\1/')
            echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid || exit 77
            sleep {m} &
            test $! = "$pid" || exit 78
            "$0" stop "$id" --json
            kill -0 $! && kill $!'''
        o = subprocess.run([*self.as_namespace_root('--pid', '--fork', '--mount'), 'bash', '-c',
                            script, *self.command()], capture_output=True, check=False,
                           env=self.env, cwd=self.work, timeout=PATIENCE)
        if o.returncode in (77, 78):
            self.cannot(f'the next pid cannot be chosen: {o.stderr}')
        self.assertEqual(o.returncode, 0, o)
        r = json.loads(o.stdout)
        self.assertEqual((r['reason'], r['exit_code']), ('exit', 0))

    def test_A20_stop_in_the_middle_of_the_start(self):
        for _ in range(100):
            job = self.start('--', 'true')
            r = self.stop(job, '--grace', '0')
            self.assertIn(r['reason'], ('exit', 'stopped'))

    def test_a_stop_while_others_read_and_wait(self):
        m = self.marker(98716)
        job = self.start_sh(f'echo up; sleep {m}')
        waiters = [self.spawn('wait', '--json', job), self.spawn('stop', '--json', job),
                   self.spawn('output', '--follow', job), self.spawn('stop', '--json', job)]
        outcomes = [self.finish(p) for p in waiters]
        self.assertEqual([o.rc for o in outcomes], [0, 0, 0, 0], [str(o) for o in outcomes])
        self.assertEqual({outcomes[i].R['reason'] for i in (0, 1, 3)}, {'stopped'})
        self.assert_gone(m)

    def test_G3_a_stopped_job_is_stopped(self):
        m = self.marker(98809)
        job = self.start('--', 'sleep', m)
        r = self.stop(job)
        self.assertEqual(set(r), {'success', 'process_id', 'status', 'exit_code', 'signal',
                                  'reason', 'left_running', 'warnings'})
        self.assertEqual((r['success'], r['status'], r['reason'], r['signal'], r['exit_code']),
                         (True, 'exited', 'stopped', 'SIGTERM', -15))
        r = self.output(job)
        self.assertEqual((r['reason'], r['signal'], r['exit_code'], r['success']),
                         ('stopped', 'SIGTERM', -15, False))

    def test_G4_a_finished_job_stays_finished(self):
        job = self.start('--', 'true')
        before = self.wait(job)
        r = self.stop(job)
        self.assertEqual((r['reason'], r['exit_code'], r['success']), ('exit', 0, True))
        self.assertTrue(any('ended before' in line for line in r['warnings']), r)
        after = self.output(job)
        for key in ('reason', 'exit_code', 'success', 'duration_ms', 'started_at'):
            self.assertEqual(before[key], after[key])
        o = self.rein('stop', job)
        self.assertEqual((o.rc, o.text), (0, job + '\n'))
        self.assertIn('ended before', o.err_text)

    def test_grace(self):
        m = self.marker(98810)
        script = f'trap "" TERM; echo up; sleep {m}; sleep {m}'
        for options, args in (((), ('--grace', '0.2')), (('--grace', '0.2'), ()),
                              ((), ('--grace', '0'))):
            job = self.start_sh(script, *options)
            self.wait_for_line(job, 'up')
            o = self.rein('stop', '--json', job, *args)
            self.assert_at_once(o)
            self.assertEqual((o.rc, o.R['signal']), (0, 'SIGKILL'), str(o))
            if '0.2' in (*options, *args):
                self.assertGreaterEqual(o.seconds, 0.2)
            self.assert_gone(m)

    def test_several_at_the_same_time(self):
        m = self.marker(98811)
        jobs = [self.start_sh(f'trap "" TERM; echo up; sleep {m}; sleep {m}') for _ in range(4)]
        for job in jobs:
            self.wait_for_line(job, 'up')
        o = self.rein('stop', '--json', '--grace', '0.5', *jobs)
        self.assertEqual([one['process_id'] for one in json.loads(o.text)], jobs)
        self.assertLess(o.seconds, 1.5 * SLOW, 'one after the other')
        self.assert_gone(m)

    def test_usage(self):
        self.assert_complains(self.rein('stop'), 2, 'ID')
        self.assert_complains(self.rein('stop', '--all', '00000000'), 2)


class Forget(BackgroundTest):

    def test_rm(self):
        job = self.start('--', 'true')
        self.wait(job)
        o = self.rein('rm', job)
        self.assertEqual((o.rc, o.text), (0, job + '\n'))
        self.assertEqual(self.ids('--all'), [])
        self.assert_no_job(self.rein('rm', job, '--json'), job)
        self.assertFalse(os.path.exists(os.path.join(self.state, 'jobs', job)))

    def test_rm_of_a_running_job(self):
        m = self.marker(98812)
        job, done = self.start('--', 'sleep', m), self.start('--', 'true')
        self.wait(done)
        self.assert_refused(self.rein('rm', '--json', job), 'bad_request', 2)
        o = self.rein('rm', job, done)
        self.assertEqual((o.rc, o.text), (2, done + '\n'), 'the others are not kept')
        self.assertEqual(self.ids('--all'), [job])
        self.assertEqual(len(self.processes(m)), 1)

    def test_gc(self):
        job = self.start('--', 'true')
        self.wait(job)
        o = self.rein('gc', '--json')
        self.assertEqual((o.rc, o.json), (0, {'success': True, 'removed': 0}))
        record = os.path.join(self.state, 'jobs', job)
        old = time.time() - 3 * 24 * 3600
        for folder, _, names in os.walk(record):
            for name in ['.', *names]:
                os.utime(os.path.join(folder, name), (old, old))
        self.assertIn('forgotten', self.rein('gc').text)

    def test_bad_ids(self):
        for job in ('deadbeef', 'x', '', '../../etc', 'DEADBEEF', 'deadbeef0', '*', '%s%n'):
            for args in (['output'], ['wait'], ['stop'], ['send', '--eof'], ['rm']):
                with self.subTest(job=job, verb=args[0]):
                    self.assert_no_job(self.rein(*args, '--json', '--', job), job)
        self.assert_no_job(self.rein('output', 'deadbeef'), 'deadbeef', json_output=False)
        self.assertEqual(os.listdir(self.state), [])


class Foreground(BackgroundTest):

    def test_A14_what_the_deadline_ended_is_not_running(self):
        m = self.marker(98714)
        o = self.run_json('-t', '0.3', '--grace', '0', '--', 'sleep', m)
        self.assertEqual(self.list(), [])
        listed = [one for one in self.list('--all') if one['process_id'] == o.R['process_id']]
        for one in listed:
            self.assertEqual((one['status'], one['reason']), ('exited', 'timeout'))

    def test_another_process_finds_everything(self):
        """Nothing about a job is in memory of the program that started it."""
        job = self.start_sh('echo one; echo two')
        first = self.wait(job)
        again = [self.output(job) for _ in range(3)]
        self.assertTrue(all(r == again[0] for r in again))
        self.assertEqual(again[0]['output'], first['output'])

    def test_B9_late_output_belongs_to_its_own_job(self):
        job = self.start('--', 'sh', '-c', 'sleep 0.2; echo LATE')
        o = self.run_json('--', 'sh', '-c', 'sleep 0.4; echo NEXT')
        self.assertEqual(o.R['output'], 'NEXT\n')
        self.assertEqual(self.wait(job)['output'], 'LATE\n')


if __name__ == '__main__':
    unittest.main()
