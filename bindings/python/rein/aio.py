"""The same for asyncio: the event loop watches the jobs' descriptors, no thread and no polling.

    import asyncio
    from rein import aio

    async def main():
        result = await aio.run(['make', 'test'], timeout=60)
        async with aio.start(['npm', 'run', 'dev']) as job:
            await job.wait(for_port=3000, timeout=30)
            async for text in job:
                ...

    asyncio.run(main())

Cancelling a run or a call ends its command; cancelling a wait for a job of the background leaves the
job alone. Starting blocks the loop until the command was really executed, a few milliseconds. One
call is different: call_tool() blocks in the library, so each runs in a thread of its
own for as long as it takes.
"""

import asyncio
import inspect
import os
import signal as _signal
from typing import (Any, AsyncIterator, Awaitable, Callable, Dict, Generator, Mapping, Optional,
                    Sequence, Union)

from . import _job, _spec, _start, _steps, _tools
from ._job import Stdin, Text, attach as _attach, forget, jobs
from ._result import Result

__all__ = ['Job', 'attach', 'call_tool', 'code', 'forget', 'jobs', 'run', 'start', 'start_code']

#: As for rein.run(), and it may be a coroutine function.
OnOutput = Callable[[str, str], Union[Any, Awaitable[Any]]]


# ---- the world that does not block ---------------------------------------------------------------

async def _sleep(pause: _steps.Pause) -> None:
    fd = pause.handle.fileno()
    if fd < 0:
        return
    loop = asyncio.get_running_loop()
    own = os.dup(fd)    # a loop has one reader for a descriptor, a job may have several
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)
    timer = None if pause.seconds is None else loop.call_later(max(0, pause.seconds), wake)
    loop.add_reader(own, wake)
    try:
        await ready
    finally:
        loop.remove_reader(own)
        os.close(own)
        if timer is not None:
            timer.cancel()


async def _drive(steps: Generator[Any, None, Any]) -> Any:
    """As _steps.drive(), in the event loop."""
    try:
        while True:
            wanted = next(steps)
            await (wanted if inspect.isawaitable(wanted) else _sleep(wanted))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


# ---- jobs ---------------------------------------------------------------------------------------

class Job:
    """As rein.Job, with coroutines where that one blocks. From start() or attach()."""

    def __init__(self, job: _job.Job) -> None:
        self._job = job
        self._handle = job._handle
        self.id, self.process_id, self.pid = job.id, job.id, job.pid

    @property
    def running(self) -> bool:
        return self._job.running

    def fileno(self) -> int:
        return self._job.fileno()

    def __repr__(self) -> str:
        return f'<rein.aio.Job {self.id}>'

    def result(self, *, render: str = 'clean', show: Optional[int] = _start.SHOW) -> Result:
        """How it stands, with its output. Does not wait."""
        return self._job.result(render=render, show=show)

    async def read(self, since: Optional[int] = None, *, wait: float = 0,
                   **options: Any) -> Result:
        """A part of the output, see rein.Job.read(); wait: seconds to wait at most for news."""
        if wait > 0:
            begin = since if since is not None else self.result(show=1).output_bytes
            await _drive(_steps.wait_news(self._handle, begin, wait))
        return self._job.read(since, **options)

    async def __aiter__(self) -> AsyncIterator[str]:
        """The output as it comes, in pieces of text, until it ends."""
        for piece in _steps.pieces(self._handle):
            if isinstance(piece, _steps.Pause):
                await _sleep(piece)
            else:
                yield piece[0]

    async def lines(self) -> AsyncIterator[str]:
        """The output as it comes, line by line, without the line ends."""
        rest = ''
        async for text in self:
            *whole, rest = (rest + text).split('\n')
            for line in whole:
                yield line
        if rest:
            yield rest

    async def wait(self, timeout: Optional[float] = None, *, for_line: Optional[str] = None,
                   for_port: Optional[int] = None, since: int = 0) -> Result:
        """Waits for the end, a line or a port, see rein.Job.wait()."""
        return await _drive(_job._waiting(self._handle, timeout, for_line, for_port, since))

    async def stop(self, grace: Optional[float] = None) -> Result:
        """Ends the whole tree, and returns when nothing of it is alive, see rein.Job.stop()."""
        self._handle.stop(_job.grace_ms(grace))
        return await _drive(_steps.wait_end(self._handle, None))

    async def send(self, data: Text, *, eof: bool = False, timeout: Optional[float] = 30) -> None:
        """Writes to the standard input of a job that was started with stdin=rein.PIPE."""
        raw = data.encode() if isinstance(data, str) else bytes(data)
        await _drive(_steps.send(self._handle, raw, eof, timeout))

    async def send_eof(self, timeout: Optional[float] = 30) -> None:
        """Ends the standard input."""
        await _drive(_steps.send(self._handle, b'', True, timeout))

    def send_signal(self, number: Union[int, _signal.Signals]) -> None:
        """Sends a signal to the main process."""
        self._job.send_signal(number)

    def close(self) -> None:
        """Lets go of it; the job goes on."""
        self._job.close()

    async def __aenter__(self) -> 'Job':
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            if self.running:
                await self.stop()
        finally:
            self.close()


# ---- running and starting -----------------------------------------------------------------------

async def run(argv: Union[str, Sequence[Text]], *, timeout: Optional[float] = None,
              cwd: Optional[Text] = None, env: Optional[Mapping[str, str]] = None,
              stdin: Stdin = None, input: Optional[Text] = None, shell: bool = False,
              split: bool = False, on_output: Optional[OnOutput] = None, render: str = 'clean',
              show: Optional[int] = _start.SHOW, **more: Any) -> Result:
    """Runs a command to its end, see rein.run(); on_output may be a coroutine function."""
    options = dict(timeout=timeout, cwd=cwd, env=env, stdin=stdin, input=input, shell=shell,
                   split=split, **more)
    handle, view = _start.foreground(argv, on_output, render, show, options)
    return await _drive(_steps.run(handle, on_output, view))


async def code(language: str, source: Optional[Text] = None, *, file: Optional[Text] = None,
               args: Sequence[Text] = (), prelude: Union[None, bool, str] = None,
               timeout: Optional[float] = None, on_output: Optional[OnOutput] = None,
               render: str = 'clean', show: Optional[int] = _start.SHOW, **more: Any) -> Result:
    """Runs a piece of code, see rein.code(); on_output may be a coroutine function."""
    made = _spec.make_code(language, source, file=file, args=args, prelude=prelude)
    handle, view = _start.foreground(None, on_output, render, show,
                                     dict(timeout=timeout, **more), code=made)
    return await _drive(_steps.run(handle, on_output, view))


def start(argv: Union[str, Sequence[Text]], **options: Any) -> Job:
    """Starts a command in the background, see rein.start(). Nothing to await."""
    return Job(_job.start(argv, **options))


def start_code(language: str, source: Optional[Text] = None, **options: Any) -> Job:
    """Starts a piece of code in the background, see rein.start_code()."""
    return Job(_job.start_code(language, source, **options))


def attach(process_id: str) -> Job:
    """Takes hold of a job of the background, see rein.attach()."""
    return Job(_attach(process_id))


# ---- tools --------------------------------------------------------------------------------------

class _Stop:
    """Becomes true when the call is cancelled, or when the caller's own signal does."""

    def __init__(self, stop: Any) -> None:
        self.cancelled = False
        self.stop = stop

    def is_set(self) -> bool:
        return self.cancelled or _tools.is_set(self.stop)


def _in_loop(loop, function):
    """A callback of the call's thread that runs in the loop, and may be a coroutine function."""
    async def call(args):
        given = function(*args)
        return await given if inspect.isawaitable(given) else given

    return lambda *args: asyncio.run_coroutine_threadsafe(call(args), loop).result()


async def call_tool(name: str, arguments: _tools.Arguments = None, *,
                    on_output: Optional[OnOutput] = None,
                    approve: Optional[Callable[[Dict[str, Any]], Any]] = None, stop: Any = None,
                    **options: Any) -> Dict[str, Any]:
    """Calls a tool, see rein.call_tool(). on_output and approve run in the event loop, and may be
    coroutine functions. Cancelling it ends a command in the foreground."""
    loop, ending = asyncio.get_running_loop(), _Stop(stop)
    listen = None if on_output is None else _in_loop(loop, on_output)
    ask = None if approve is None else _in_loop(loop, approve)
    done = loop.run_in_executor(None, lambda: _tools.call_tool(
        name, arguments, on_output=listen, approve=ask, stop=ending, **options))
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        ending.cancelled = True
        await asyncio.wait([done])
        raise
