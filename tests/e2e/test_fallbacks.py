"""The hardest of the other tests again, where newer means are "not there": with a build that has
hooks for it, REIN_WITH_HOOKS."""

import os
import unittest

import test_deadline
import test_limits
import test_stop
from rein_test import REIN, ReinTest

WITH_HOOKS = os.path.abspath(os.environ.get('REIN_WITH_HOOKS') or f'{REIN}-with-hooks')


class Fallbacks(ReinTest):

    without = ''

    def setUp(self):
        super().setUp()
        if not os.path.exists(WITH_HOOKS):
            self.cannot(f'{WITH_HOOKS} is not built')
        self.env['REIN_TEST_FALLBACKS'] = self.without

    def command(self, *args):
        return [WITH_HOOKS, *args]


class TreeWithoutCgroup(Fallbacks, test_deadline.Tree):
    without = 'no-cgroup'


class KilledWithoutCgroup(Fallbacks, test_stop.KilledFromOutside):
    without = 'no-cgroup'


class StormWithoutCgroup(Fallbacks, test_deadline.Storm):
    without = 'no-cgroup'


class StormWithoutListsOfChildren(Fallbacks, test_deadline.Storm):
    without = 'no-cgroup no-proc-children'
    size = ['120', '0']     # what moves on all the time is faster than a look at every process


class KilledWithoutListsOfChildren(Fallbacks, test_stop.KilledFromOutside):
    without = 'no-cgroup no-proc-children no-memfd-exec'


class LogWithoutHoles(Fallbacks, test_limits.Log):
    """The bound holds all the same; a line tells where the log is."""

    without = 'no-punch no-cgroup'

    # What these say about an ordinary file system does not hold.
    test_text_output_has_everything = None
    test_D6_in_text_mode = None


if __name__ == '__main__':
    unittest.main()
