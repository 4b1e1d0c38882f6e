"""What is done with a job until something has happened, written once for both worlds.

Each function is a generator that yields a Pause, or something awaitable that a callback gave. ``drive`` runs one in a thread that may
block; rein.aio runs the same ones in an event loop.
"""

import inspect
import re
import select
import threading
import time
from typing import NamedTuple, Optional

from . import _native, errors
from ._handle import Ended, Handle
from ._result import Result
from ._text import Decoder, decode_line, without_escapes

# A signal that comes just before poll() is handled only when poll() returns: not too late, then.
_SIGNAL_SECONDS = 0.05
_ROOM_SECONDS = 0.01    # a job that does not read gives no sign when it does again
_UNFINISHED_SECONDS = 0.05  # for the rest of a line, before a part of it is taken for a prompt
_LINE_MAX = 256 << 10   # characters of a line that has no end


class Pause(NamedTuple):
    """Until there is news of a job, or so many seconds (None: without limit) have passed."""
    handle: Handle
    seconds: Optional[float] = None


# ---- the world that blocks ----------------------------------------------------------------------

def _milliseconds(seconds):
    if threading.current_thread() is threading.main_thread():
        seconds = _SIGNAL_SECONDS if seconds is None else min(seconds, _SIGNAL_SECONDS)
    return None if seconds is None else max(0, int(seconds * 1000 + 0.999))


def _sleep(pause):
    fd = pause.handle.fileno()
    if fd >= 0:
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        poller.poll(_milliseconds(pause.seconds))


def drive(steps):
    """Runs steps to their end, and returns what they return. Whatever is raised meanwhile, by a
    handler of a signal too, ends them."""
    try:
        wanted = next(steps)
        while True:
            if inspect.isawaitable(wanted):
                wanted.close()
                raise TypeError('a callback is asynchronous: that needs rein.aio')
            _sleep(wanted)
            wanted = next(steps)
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


# ---- looking ------------------------------------------------------------------------------------

def make_view(*, render='clean', show=None, tail=None, since=None, grep=None, chars=False):
    if render not in _native.RENDERS:
        raise errors.BadRequestError(f'render: {render!r} was given; allowed is '
                                     f'{", ".join(map(repr, _native.RENDERS))}')
    view = _native.View(size=_native.ctypes.sizeof(_native.View), render=_native.RENDERS[render])
    view.limit = _native.LIMIT_NONE if show is None else _whole('show', show, 1)
    view.lines = 0 if tail is None else _whole('tail', tail, 1)
    if since is not None:
        view.since = _whole('since', since, 0)
        view.flags |= _native.VIEW_SINCE
    if chars:
        view.flags |= _native.VIEW_CHARS
    if grep is not None:
        view.grep = grep.encode()
    return view


def _whole(name, value, least):
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise errors.BadRequestError(f'{name}: {value!r} was given; allowed is a whole number from '
                                     f'{least} on')
    return value


def result_of(handle, view=None, matched=None):
    found = Result.from_json(handle.json(view))
    if matched is not None:
        object.__setattr__(found, 'matched', matched)
    return found


# ---- to the end ---------------------------------------------------------------------------------

def pieces(handle):
    """Yields a Pause where it has to wait, and (text, stream) otherwise; ends with the output."""
    decoders = {}
    while True:
        try:
            found = handle.read()
        except Ended:
            break
        if found is None:
            yield Pause(handle)
            continue
        data, stream, _, skipped = found
        decoder = decoders.setdefault(stream, Decoder())
        text = decoder.feed(data)
        if skipped:
            text = f'\n[… {skipped:,} bytes omitted …]\n{text}'
        if text:
            yield text, stream
    for stream, decoder in decoders.items():
        text = decoder.flush()
        if text:
            yield text, stream


def listen(handle, on_output):
    for piece in pieces(handle):
        if isinstance(piece, Pause):
            yield piece
        else:
            given = on_output(*piece)
            if inspect.isawaitable(given):
                yield given


def until_end(handle, deadline=None):
    while handle.is_running():
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise errors.WaitTimeoutError(f'job {handle.id} did not end within the time')
        yield Pause(handle, left)


def run(handle, on_output, view):
    """A job in the foreground: it does not outlive these steps."""
    try:
        if on_output is not None:
            yield from listen(handle, on_output)
        yield from until_end(handle)
        return result_of(handle, view)
    finally:
        handle.close()


# ---- waiting for something ----------------------------------------------------------------------

def _deadline(timeout):
    return None if timeout is None else time.monotonic() + max(0, timeout)


def _left(deadline, what):
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise errors.WaitTimeoutError(what)
    return left


def wait_end(handle, timeout, view=None):
    yield from until_end(handle, _deadline(timeout))
    return result_of(handle, view)


def wait_port(handle, port, timeout):
    deadline = _deadline(timeout)
    if not isinstance(port, int) or not 1 <= port <= 65535:
        raise errors.BadRequestError(f'for_port: {port!r} was given; allowed is 1 to 65535')
    if not handle.is_running():
        raise errors.JobEndedError(f'job {handle.id} has ended without listening on port {port}')
    handle.ask_port(port)
    while True:
        running = handle.is_running()
        if handle.port_is_open():
            return result_of(handle, matched=port)
        if not running:
            raise errors.JobEndedError(f'job {handle.id} has ended without listening on port '
                                       f'{port}')
        yield Pause(handle, _left(deadline, f'job {handle.id} does not listen on port {port} yet'))


class _Lines:
    """Finds a line among the pieces of an output."""

    def __init__(self, pattern):
        try:
            self.pattern = re.compile(pattern)
        except (re.error, TypeError) as e:
            raise errors.BadRequestError(f'for_line: {e}') from e
        self.rest = b''

    def feed(self, data):
        *whole, self.rest = (self.rest + data).split(b'\n')
        self.rest = self.rest[-_LINE_MAX:]
        return next((text for text in map(self._matching, whole) if text is not None), None)

    def unfinished(self):
        """What there is of a line without an end, if that matches."""
        return self._matching(self.rest) if self.rest else None

    def _matching(self, line):
        text = without_escapes(decode_line(line)).rstrip('\r').rpartition('\r')[2]
        return text if self.pattern.search(text) else None


def wait_line(handle, pattern, since, timeout):
    deadline, lines = _deadline(timeout), _Lines(pattern)
    reader = Handle.attach(handle.id)   # with a reading position of its own
    try:
        reader.seek(since)
        return result_of(handle, matched=(yield from _find_line(reader, lines, deadline)))
    finally:
        reader.close()


def _find_line(reader, lines, deadline):
    patient = False     # the rest of an unfinished line that matches was given time to come
    while True:
        try:
            found = reader.read()
        except Ended:
            break
        line = lines.unfinished() if found is None and patient else None
        if found is not None:
            line, patient = lines.feed(found[0]), False
        if line is not None:
            return line
        if found is None:
            left = _left(deadline, f'job {reader.id} has not written such a line yet')
            patient = lines.unfinished() is not None
            yield Pause(reader, min(left or _UNFINISHED_SECONDS, _UNFINISHED_SECONDS)
                        if patient else left)
    line = lines.unfinished()
    if line is None:
        raise errors.JobEndedError(f'job {reader.id} has ended without such a line')
    return line


def wait_news(handle, since, timeout):
    """Until there is output after a cursor, or the end, or no more time."""
    deadline = _deadline(timeout)
    reader = Handle.attach(handle.id)
    try:
        reader.seek(since)
        while reader.read(1) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            yield Pause(reader, left)
    except Ended:
        pass
    finally:
        reader.close()


# ---- input --------------------------------------------------------------------------------------

def send(handle, data, eof, timeout):
    deadline = _deadline(timeout)
    while data or eof:
        taken = handle.send(data) if data else handle.send_eof()
        if taken:
            data, eof = (data[taken:], eof) if data else (data, False)
            continue
        if not handle.is_running():
            raise errors.JobEndedError(f'job {handle.id} has ended')
        left = _left(deadline, f'job {handle.id} does not read its input')
        yield Pause(handle, _ROOM_SECONDS if left is None else min(left, _ROOM_SECONDS))
