#!/usr/bin/env python3
"""Runs one file of Python unit tests and reports in TAP, one line a test.

usage: tap-unittest.py FILE [NAME...]    NAME: Class or Class.test, to run only these
"""

import importlib.util
import os
import sys
import unittest


class TapResult(unittest.TestResult):
    """Collects what a test had to say until it stops: one test is one line, whatever its parts,
    its cleaning up and its class added. A test that never began gets a line, too."""

    def __init__(self, planned):
        super().__init__()
        self.planned = planned
        self.lines = 0
        self.details = []       # what went wrong in the current test
        self.skip_reason = None
        self.class_skip_reason = None

    # ---- what unittest tells --------------------------------------------------------------

    def startTest(self, test):
        super().startTest(test)
        self.details, self.skip_reason = [], None

    def stopTest(self, test):
        super().stopTest(test)
        name = test.id().partition('.')[2]
        if self.details:
            self.line('not ok', name, '\n'.join(self.details))
        elif self.skip_reason is not None:
            self.line('ok', f'{name} # SKIP {self.skip_reason}')
        else:
            self.line('ok', name)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.details.append(self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        if isinstance(test, unittest.TestCase):
            self.details.append(self.errors[-1][1])
        else:   # setting up a class or the module: no test has started
            self.line('not ok', test.id(), self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            found = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.details.append(f'{subtest}\n{found[-1][1]}')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if isinstance(test, unittest.TestCase):
            self.skip_reason = reason
        else:
            self.class_skip_reason = reason

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.details.append('succeeded, and was expected to fail')

    # ---- TAP ------------------------------------------------------------------------------

    def line(self, verdict, name, detail=''):
        self.lines += 1
        for text in detail.splitlines():
            print(f'# {text}')
        print(f'{verdict} {self.lines} - {name}', flush=True)

    def close(self):
        """Accounts for tests that never began, and writes the plan."""
        while self.lines < self.planned:
            if self.class_skip_reason is not None and self.wasSuccessful():
                self.line('ok', f'not run # SKIP {self.class_skip_reason}')
            else:
                self.line('not ok', 'did not run')
        print(f'1..{self.lines}', flush=True)


def load(path, names):
    """Imports the file as a module of its own name, with its folder on the path."""
    folder, base = os.path.split(os.path.abspath(path))
    sys.path.insert(0, folder)
    name = os.path.splitext(base)[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if names:
        return unittest.defaultTestLoader.loadTestsFromNames(names, module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main():
    sys.dont_write_bytecode = True
    suite = load(sys.argv[1], sys.argv[2:])
    if suite.countTestCases() == 0:
        sys.exit(f'{sys.argv[1]} holds no tests')
    result = TapResult(suite.countTestCases())
    suite.run(result)
    result.close()
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == '__main__':
    main()
