"""The library in a host with a life of its own: right results, and the host is untouched."""

import subprocess
import unittest

from rein_test import MIB, SLOW, ReinTest, sanitized


class Host(ReinTest):

    def run_host(self, mode, megabytes, jobs):
        p = subprocess.Popen([self.helper('host-untouched'), mode, str(megabytes), str(jobs)],
                             env=self.env, cwd=self.work, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.spawned.append(p)
        try:
            out, _ = p.communicate(timeout=60 * SLOW)
        except subprocess.TimeoutExpired:
            p.kill()
            self.fail(f'hung: {p.args}')
        text = out.decode(errors='replace')
        self.assertEqual(p.returncode, 0, text)
        self.assertIn(f'ok {jobs} jobs\n', text)
        self.assertTrue(all(line.startswith('ok ') for line in text.splitlines()), text)

    def memory(self):
        """A large host: 1 GB where the machine has it to spare."""
        with open('/proc/meminfo', encoding='ascii') as f:
            available = next(int(line.split()[1]) for line in f if 'MemAvailable' in line) * 1024
        return 1024 if available > 4096 * MIB and not sanitized() else 64

    def test_a_thousand_jobs(self):
        self.run_host('plain', self.memory(), 1000)

    def test_a_host_that_reaps_every_child(self):
        self.run_host('greedy', 0, 60)

    def test_a_host_that_ignores_sigchld(self):
        self.run_host('ignore', 0, 60)

    def test_contexts_in_several_threads(self):
        self.run_host('threads', 0, 200)


if __name__ == '__main__':
    unittest.main()
