"""The tools for models: JSON in, JSON out, as on every other surface of rein.

A call blocks in the library. What Python wants to do meanwhile comes by callbacks, and each has its
own difficulty with signals: a handler of Python's runs, and may raise, wherever Python code begins.
The library asks whether it is to go on by resuming a generator inside of its try block, so that
nothing raised there is lost. Pieces of output and approvals come from another thread, in which no
handler runs, through a queue to the caller's.
"""

import contextlib
import ctypes
import json
import queue
import threading
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from . import _context, _native, _spec, errors
from ._native import lib
from ._text import Decoder

LOOK_MS = 25                # how often a caller is asked, and a stop signal looked at
_QUEUE_PIECES = 64          # of output that nobody has taken; then the job waits
_DENY, _ONCE, _ALWAYS, _NOBODY = 0, 1, 2, -1

Arguments = Union[None, Mapping[str, Any], str, bytes]
#: Gets the request; True or "once", "always", or False.
Approve = Callable[[Dict[str, Any]], Union[bool, str]]


def is_set(stop: Any) -> bool:
    """Has a stop signal been given? Anything that can become true: a list, an Event, a function."""
    if hasattr(stop, 'is_set'):
        return bool(stop.is_set())
    return bool(stop() if callable(stop) else stop)


def _encode(arguments):
    if isinstance(arguments, bytes):
        return arguments
    if isinstance(arguments, str):
        return arguments.encode('utf-8', 'surrogatepass')
    try:
        return json.dumps({} if arguments is None else arguments, allow_nan=False).encode()
    except (TypeError, ValueError) as e:
        raise errors.BadRequestError(f'arguments: {e}') from e


class _Call:
    """One call of the library, from the thread that blocks in it."""

    def __init__(self, name, arguments, *, session=None, detached=False, stop=None,
                 code_timeout_max=None, prelude=None, env_profile='agent', env_keep=(),
                 secrets=()):
        self.name = _spec.encoded('name', name)
        self.arguments = _encode(arguments)
        self.stop = stop
        self.error = None       # raised by a callback
        self.on_piece = self.on_approve = None
        o = self.options = _native.ToolOptions(size=ctypes.sizeof(_native.ToolOptions))
        o.flags = _native.TOOL_DETACHED if detached else 0
        o.session = _spec.encoded('session', session)
        o.prelude = _spec.encoded('prelude', prelude)
        o.env_profile = _spec.word('env_profile', env_profile, _native.ENV_PROFILES)
        if env_keep:
            o.env_keep = _spec.pointer(_spec.strings('env_keep', env_keep))
        if secrets:
            o.secrets = _spec.pointer(_spec.strings('secrets', secrets))
        o.code_timeout_max_ns = _spec.nanoseconds('code_timeout_max', code_timeout_max)

    # ---- callbacks --------------------------------------------------------------------------

    def _looker(self):
        """Resumed by the library; -1 once there is something to end the call for."""
        try:
            while not is_set(self.stop):
                yield 0
        except GeneratorExit:
            raise
        except BaseException as e:
            self.error = e
        while True:
            yield -1

    def _piece(self, _, data, size, piece):
        try:
            p = piece.contents
            self.on_piece(ctypes.string_at(data, size) if size else b'',
                          _native.STREAMS[p.stream], p.skipped_bytes)
            return 0
        except BaseException as e:
            self.error = e
            return -1

    def _approve(self, _, request):
        try:
            answer = self.on_approve(json.loads(request))
            return {'once': _ONCE, 'always': _ALWAYS}.get(answer, _ONCE if answer is True
                                                          else _DENY)
        except BaseException as e:
            self.error = e
            return _DENY

    def _add_callbacks(self, looker):
        # In another thread no handler runs, and without a stop signal there is nothing to ask.
        if self.stop is not None or threading.current_thread() is threading.main_thread():
            self.options.look = _native.LOOK(looker.send)
            self.options.look_ms = LOOK_MS
        if self.on_piece:
            self.options.output = _native.OUTPUT(self._piece)
        if self.on_approve:
            self.options.approve = _native.APPROVE(self._approve)

    # ---- the call ---------------------------------------------------------------------------

    def make(self):
        """The answer, a dict. Raises what a callback has raised."""
        error, text = _context.new_error(), ctypes.c_void_p()
        looker = self._looker()
        self._add_callbacks(looker)
        next(looker)
        with _context.borrowed() as context:
            failed = lib.rein_tool_call(context.handle, self.name, self.arguments,
                                        len(self.arguments), ctypes.byref(self.options),
                                        ctypes.byref(text), ctypes.byref(error))
        looker.close()
        if failed < 0:
            _context.raise_error(error)
        answer = json.loads(_native.take_text(text))
        if self.error is not None:
            raise self.error
        return answer


# ---- with a thread ------------------------------------------------------------------------------

class _Abandoned(Exception):
    """Nobody takes what comes any more."""


class Streamed:
    """A call in a thread of its own, whose events come to the caller: iterate over them, then take
    the answer. The caller's thread is free between two events, and close() ends the call."""

    def __init__(self, name, arguments, *, stop=None, approve=None, with_output=True, **options):
        self._events = queue.Queue(_QUEUE_PIECES)
        self._abandoned = False
        self._approve = approve
        self._decoders = {}
        self._answer = self._error = None
        self._call = _Call(name, arguments, stop=lambda: self._abandoned or is_set(stop),
                           **options)
        if with_output:
            self._call.on_piece = lambda *piece: self._put(('piece', piece))
        if approve is not None:
            self._call.on_approve = self._ask
        self._thread = threading.Thread(target=self._make, name=f'rein {name}', daemon=True)
        self._thread.start()

    # in the thread of the call

    def _put(self, event):
        while not self._abandoned:
            with contextlib.suppress(queue.Full):
                return self._events.put(event, timeout=LOOK_MS / 1000)
        raise _Abandoned

    def _ask(self, request):
        reply = queue.SimpleQueue()
        self._put(('approve', (request, reply)))
        while not self._abandoned:
            with contextlib.suppress(queue.Empty):
                return reply.get(timeout=LOOK_MS / 1000)
        raise _Abandoned

    def _make(self):
        try:
            self._answer = self._call.make()
        except BaseException as e:
            self._error = e
        with contextlib.suppress(_Abandoned):
            self._put(('end', None))

    # in the caller's thread

    def _next_event(self):
        while True:     # in parts, so that a signal is handled in time
            with contextlib.suppress(queue.Empty):
                return self._events.get(timeout=LOOK_MS / 1000)

    def _text(self, data, stream, skipped):
        decoder = self._decoders.setdefault(stream, Decoder())
        gap = f'\n[… {skipped:,} bytes omitted …]\n' if skipped else ''
        return gap + (decoder.feed(data) if data else decoder.flush())

    def __iter__(self):
        """(text, stream) as it comes, until the call has ended."""
        while True:
            kind, value = self._next_event()
            if kind == 'end':
                break
            if kind == 'approve':
                request, reply = value
                reply.put(self._approve(request))
                continue
            text = self._text(*value)
            if text:
                yield text, value[1]
        for stream, decoder in self._decoders.items():
            text = decoder.flush()
            if text:
                yield text, stream

    def answer(self):
        """After the end of the events."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._answer

    def close(self):
        """Ends the call if it goes on, its job in the foreground with it."""
        self._abandoned = True
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ---- public -------------------------------------------------------------------------------------

def call_tool(name: str, arguments: Arguments = None, *, session: Optional[str] = None,
              detached: bool = False, on_output: Optional[Callable[[str, str], Any]] = None,
              approve: Optional[Approve] = None, stop: Any = None,
              code_timeout_max: Optional[float] = None, prelude: Optional[str] = None,
              env_profile: str = 'agent', env_keep: Sequence[str] = (),
              secrets: Sequence[str] = ()) -> Dict[str, Any]:
    """Calls a tool, and returns its answer: a result, or an error object with "success": False and
    "error_code". Both are for the model; neither is an exception.

        rein.call_tool('execute_command', {'command': 'ls -l'})
        rein.call_tool('code_run', {'code': 'print(6 * 7)', 'timeout': 10})['stdout']

    arguments: a mapping, or JSON as text. session: a name; only its jobs are seen, and new ones
    belong to it. detached: jobs of the background outlive this process. on_output: gets (text,
    stream) while a command runs. approve: asked before something risky starts, with a mapping
    ("tool", "command", "cwd", "env", "sandbox", "risk", "reasons"); False is no, True or "once" is
    yes, "always" is yes for exactly this from now on. stop: anything that becomes true when the
    caller has had enough (a list, a threading.Event, a function), looked at every 25 ms.
    code_timeout_max: ceiling of code_run's timeout, in seconds (600). prelude: of code_run, a file
    or "none". env_profile: "agent", "inherit" or "clean"; env_keep: names that a clean environment
    lets through; secrets: names of variables whose values become stars in all that is shown.

    Raises what on_output or approve raise, and KeyboardInterrupt; the command is ended before.
    """
    options = dict(session=session, detached=detached, code_timeout_max=code_timeout_max,
                   prelude=prelude, env_profile=env_profile, env_keep=env_keep, secrets=secrets)
    if on_output is None and approve is None:
        return _Call(name, arguments, stop=stop, **options).make()
    with Streamed(name, arguments, stop=stop, approve=approve, with_output=on_output is not None,
                  **options) as call:
        for text, stream in call:
            on_output(text, stream)
        return call.answer()


def checked(answer: Dict[str, Any]) -> Dict[str, Any]:
    """The answer, if it is a result; else the exception for its error."""
    if 'error_code' in answer:
        raise errors.make(answer['error_code'], answer['error'], hint=answer.get('hint'))
    return answer


_STYLES = {
    'mcp': lambda t: t,
    'openai': lambda t: {'type': 'function', 'function': {
        'name': t['name'], 'description': t['description'], 'parameters': t['inputSchema']}},
    'openai-responses': lambda t: {
        'type': 'function', 'name': t['name'], 'description': t['description'],
        'parameters': t['inputSchema']},
    'anthropic': lambda t: {
        'name': t['name'], 'description': t['description'], 'input_schema': t['inputSchema']},
}


def tools(style: str = 'mcp', only: Optional[List[str]] = None) -> List[Dict[str, Any]]:
    """The tools' schemas, in the form in which a model's interface wants its list of tools.

        client.chat.completions.create(..., tools=rein.tools('openai'))
        client.messages.create(..., tools=rein.tools('anthropic'))

    style: "mcp", "openai" (chat completions), "openai-responses" or "anthropic". only: names.
    """
    make = _spec.word('style', style, _STYLES)
    error, text = _context.new_error(), ctypes.c_void_p()
    if lib.rein_tool_list(ctypes.byref(text), ctypes.byref(error)) < 0:
        _context.raise_error(error)
    listed = json.loads(_native.take_text(text))
    unknown = set(only or ()) - {t['name'] for t in listed}
    if unknown:
        raise errors.BadRequestError(f'only: there is no tool {", ".join(sorted(unknown))}')
    return [make(t) for t in listed if only is None or t['name'] in only]


def stream_tool(name: str, arguments: Arguments = None, **options: Any) -> Iterator[Any]:
    """Yields (text, stream) while the command runs, and returns the answer: for generators."""
    with Streamed(name, arguments, **options) as call:
        yield from call
        return call.answer()
