"""A job of the library, held: each call short and under a lock, so that any thread may make it.

Nothing here waits. Whoever has to wait polls fileno(), which _steps.py does for all.
"""

import ctypes
import errno
import threading

from . import _context, _native, errors
from ._native import lib

_CHUNK = 64 << 10


class Ended(Exception):
    """The output has ended."""


class Handle:
    def __init__(self, context, pointer, free=lib.rein_job_free):
        self._context = context
        self._pointer = pointer
        self._lock = threading.RLock()
        self._free = free
        self._buffer = None
        self._names = None
        context.jobs += 1

    def names(self):
        """(handle for people, pid of the main process), which stay when this is closed."""
        if self._names is None:
            with self._lock:
                pointer = self._held()
                self._names = lib.rein_job_id(pointer).decode(), lib.rein_job_pid(pointer)
        return self._names

    @property
    def id(self):
        return self.names()[0]

    @property
    def pid(self):
        return self.names()[1]

    @classmethod
    def start(cls, spec, code=None):
        context, error, pointer = _context.shared(), _context.new_error(), ctypes.c_void_p()
        with context.lock:
            if code is None:
                failed = lib.rein_start(context.handle, ctypes.byref(spec), ctypes.byref(pointer),
                                        ctypes.byref(error))
            else:
                failed = lib.rein_start_code(context.handle, ctypes.byref(code),
                                             ctypes.byref(spec), ctypes.byref(pointer),
                                             ctypes.byref(error))
            if failed < 0:
                _context.raise_error(error)
            return cls(context, pointer)

    @classmethod
    def attach(cls, process_id):
        context, error, pointer = _context.shared(), _context.new_error(), ctypes.c_void_p()
        known = str(process_id).encode(errors='replace').partition(b'\0')[0]
        with context.lock:
            if lib.rein_attach(context.handle, known, ctypes.byref(pointer),
                               ctypes.byref(error)) < 0:
                _context.raise_error(error)
            return cls(context, pointer)

    # ---- its end ----------------------------------------------------------------------------

    def close(self):
        """Lets the job go, or ends it where it belongs to this handle. A child of fork() leaves it
        to its parent."""
        with self._lock:
            pointer, self._pointer = self._pointer, None
            if pointer and self._context.is_ours():
                with self._context.lock:
                    self._free(pointer)
                    self._context.job_gone()

    def __del__(self):
        if self.__dict__.get('_pointer') and _context._contexts:
            self.close()

    def _held(self):
        if not self._pointer:
            raise errors.BadRequestError(f'the handle of job {self._name()} is closed')
        if not self._context.is_ours():
            raise errors.BadRequestError(f'job {self._name()} belongs to the process that this one '
                                         'was forked from; attach() gives a handle of its own')
        return self._pointer

    def _name(self):
        return self._names[0] if self._names else '(unknown)'

    # ---- reading ----------------------------------------------------------------------------

    def fileno(self):
        with self._lock:
            return lib.rein_job_fd(self._held())

    def read(self, size=_CHUNK):
        """(bytes, stream, cursor, skipped bytes), or None when there is nothing yet. Ended at the
        end."""
        piece = _native.Piece()
        with self._lock:
            if self._buffer is None or len(self._buffer) < size:
                self._buffer = ctypes.create_string_buffer(size)
            n = lib.rein_read(self._held(), self._buffer, size, 0, ctypes.byref(piece))
            if n == -errno.EAGAIN:
                return None
            if n < 0:
                raise errors.from_errno(n, f'cannot read the output of job {self.id}')
            if n == 0:
                raise Ended
            return (ctypes.string_at(self._buffer, n), _native.STREAMS[piece.stream],
                    piece.cursor, piece.skipped_bytes)

    def read_at(self, offset, size=_CHUNK):
        """(bytes, cursor, skipped bytes); no bytes when there is nothing there yet."""
        piece = _native.Piece(cursor=offset)
        buffer = ctypes.create_string_buffer(size)
        with self._lock:
            n = lib.rein_read_at(self._held(), offset, buffer, size, ctypes.byref(piece))
        if n < 0:
            raise errors.from_errno(n, f'cannot read the output of job {self.id}')
        return ctypes.string_at(buffer, n), piece.cursor if n else offset, piece.skipped_bytes

    def seek(self, offset):
        with self._lock:
            lib.rein_seek(self._held(), offset)

    def json(self, view=None):
        """The result object as bytes."""
        error, text = _context.new_error(), ctypes.c_void_p()
        with self._lock:
            failed = lib.rein_job_json(self._held(), None if view is None else ctypes.byref(view),
                                       ctypes.byref(text), ctypes.byref(error))
        if failed < 0:
            _context.raise_error(error)
        return _native.take_text(text)

    # ---- the job ----------------------------------------------------------------------------

    def is_running(self):
        """Also takes what the job's supervisor has to say; without it fileno() tells no news."""
        result = _native.Result(size=ctypes.sizeof(_native.Result))
        with self._lock:
            r = lib.rein_wait(self._held(), 0, ctypes.byref(result))
        lib.rein_result_done(ctypes.byref(result))
        if r < 0 and r != -errno.EAGAIN:
            raise errors.from_errno(r, f'cannot look at job {self.id}')
        return r != 0

    def stop(self, grace_ms):
        with self._lock:
            self._check(lib.rein_stop(self._held(), grace_ms), 'stop')

    def send_signal(self, number):
        with self._lock:
            self._check(lib.rein_job_signal(self._held(), number), 'signal')

    def send(self, data):
        """How many bytes were taken; None when the job does not read at the moment."""
        with self._lock:
            n = lib.rein_send(self._held(), data, len(data))
        return None if n == -errno.EAGAIN else self._check(n, 'send input to')

    def send_eof(self):
        """False when the job does not read at the moment."""
        with self._lock:
            r = lib.rein_send_eof(self._held())
        return False if r == -errno.EAGAIN else self._check(r, 'end the input of') == 0

    def ask_port(self, port):
        with self._lock:
            self._check(lib.rein_port_ask(self._held(), port), 'ask for a port of')

    def port_is_open(self):
        with self._lock:
            return bool(lib.rein_port_is_open(self._held()))

    def _check(self, r, what):
        if r == -errno.EPIPE:
            raise errors.BadRequestError(f'the standard input of job {self.id} is closed')
        if r == -errno.EINVAL and 'input' in what:
            raise errors.BadRequestError(
                f'job {self.id} has no pipe as its standard input', hint='start it with stdin=PIPE')
        if r == -errno.ESRCH:
            raise errors.JobEndedError(f'job {self.id} has ended', errno=errno.ESRCH)
        if r < 0:
            raise errors.from_errno(r, f'cannot {what} job {self.id}')
        return r
