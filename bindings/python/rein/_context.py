"""Contexts of the library, one for the jobs of this process and some for calls of tools.

A context serves one thread at a time, so each has a lock. It belongs to the process that opened it:
after a fork the child begins with none, and leaves those of its parent alone.
"""

import contextlib
import ctypes
import os
import threading

from . import _native, errors
from ._native import lib

_STATE_VARIABLES = ('REIN_STATE', 'XDG_STATE_HOME', 'HOME')


def raise_error(pointer):
    """Raises what the library says went wrong, and frees it."""
    e = pointer.contents
    made = errors.make(_text(e.code), _text(e.message), step=_text(e.step), hint=_text(e.hint),
                       errno=e.errnum or None)
    lib.rein_error_free(pointer)
    raise made


def _text(value):
    return None if value is None else value.decode(errors='replace')


def new_error():
    return ctypes.POINTER(_native.Error)()


class _Process:
    """Stands for this process; a child of fork gets another one."""


class Context:
    """A context, freed when neither it nor a job of it is needed any more."""

    def __init__(self):
        error = new_error()
        self.process = _contexts.process
        self.lock = threading.RLock()
        self.jobs = 0
        self._unused = False
        self.handle = lib.rein_open(None, ctypes.byref(error))
        if not self.handle:
            raise_error(error)

    def is_ours(self):
        return self.process is _contexts.process

    def job_gone(self):
        self.jobs -= 1
        if self._unused and self.jobs == 0:
            self._free()

    def _free(self, free=lib.rein_free):
        handle, self.handle = self.handle, None
        if handle:
            free(handle)

    def __del__(self):
        # In garbage with cycles it may come before its jobs; at the end of the interpreter after
        # the globals of this module.
        self._unused = True
        if self.__dict__.get('handle') and self.jobs == 0 and _contexts and self.is_ours():
            self._free()


def _state():
    return tuple(os.environ.get(name) for name in _STATE_VARIABLES)


class _Contexts:
    """Those of this process, by the store that the environment names."""

    def __init__(self):
        self.process = _Process()
        self.lock = threading.Lock()
        self.state = None
        self.shared = None
        self.idle = []

    def _follow_environment(self):
        state = _state()
        if state != self.state:
            self.state, self.shared, self.idle = state, None, []

    def get_shared(self):
        with self.lock:
            self._follow_environment()
            if self.shared is None:
                self.shared = Context()
            return self.shared

    def take(self):
        with self.lock:
            self._follow_environment()
            return self.state, self.idle.pop() if self.idle else Context()

    def give_back(self, state, context):
        with self.lock:
            if state == self.state:
                self.idle.append(context)


_contexts = _Contexts()


def _forget_parents():
    global _contexts
    _left_to_the_parent.append(_contexts)   # freeing them is not this process's business
    _contexts = _Contexts()


_left_to_the_parent = []
os.register_at_fork(after_in_child=_forget_parents)


def shared():
    """The context for jobs. Hold its lock while using its handle."""
    return _contexts.get_shared()


@contextlib.contextmanager
def borrowed():
    """A context for a call that may take long, for this thread alone."""
    contexts = _contexts
    state, context = contexts.take()
    try:
        yield context
    finally:
        if contexts is _contexts and context.is_ours():
            contexts.give_back(state, context)
