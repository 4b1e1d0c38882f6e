"""Jobs of the background, and the functions that run, start and find jobs. They block; rein.aio has
the same for asyncio."""

import signal as _signal
from typing import Any, Callable, IO, Iterator, List, Mapping, Optional, Sequence, Union

from . import _context, _spec, _start, _steps, _tools
from ._handle import Handle
from ._native import ctypes, lib
from ._result import JobInfo, Result

Text = Union[str, bytes]
Stdin = Union[None, int, IO[Any]]
#: Gets a piece of text and where it came from: "output", or "stdout" and "stderr" of a split job.
OnOutput = Callable[[str, str], Any]


class Job:
    """A job of the background: from start() or attach(), valid in any process of the same user.

        with rein.start(['python3', '-m', 'http.server', '8000']) as job:
            job.wait(for_port=8000, timeout=10)
            ...

    Leaving the block stops it. Without one the job lives as long as this process, whatever becomes
    of the object; with start(detach=True) it outlives it. Any thread may use it.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        handle.names()  # to be known when it is closed

    # ---- what it is -------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The handle: 8 hexadecimal digits, for attach() and for every other surface of rein."""
        return self._handle.id

    process_id = id

    @property
    def pid(self) -> int:
        """Of the main process, for display only: it may be somebody else's by now."""
        return self._handle.pid

    @property
    def running(self) -> bool:
        return self._handle.is_running()

    def fileno(self) -> int:
        """A descriptor that is readable when there is news; never read from it."""
        return self._handle.fileno()

    def __repr__(self) -> str:
        return f'<rein.Job {self.id}>'

    # ---- output -----------------------------------------------------------------------------

    def result(self, *, render: str = 'clean', show: Optional[int] = _start.SHOW) -> Result:
        """How it stands, with its output, at most `show` bytes of it (None: everything).

        render: "clean" as a terminal would show it, "plain" without escape sequences, or "raw".
        """
        return _steps.result_of(self._handle, _steps.make_view(render=render, show=show))

    def read(self, since: Optional[int] = None, *, tail: Optional[int] = None,
             grep: Optional[str] = None, wait: float = 0, render: str = 'clean',
             show: Optional[int] = _start.SHOW) -> Result:
        """A part of the output: what came since a cursor, or the last lines, as a Result.

        since: a cursor; the Result's own is the next one, so that page after page gives everything
        once. tail: only so many last lines, 200 when neither is given. grep: only lines that match
        (PCRE2). wait: seconds to wait at most for something new.

            found = job.read(cursor, wait=5)
            print(found.output, end='')
            cursor = found.cursor
        """
        if since is None and tail is None and grep is None:
            tail = 200
        view = _steps.make_view(render=render, show=show, tail=tail, since=since, grep=grep)
        if wait > 0:
            begin = since if since is not None else self.result(show=1).output_bytes
            _steps.drive(_steps.wait_news(self._handle, begin, wait))
        return _steps.result_of(self._handle, view)

    @property
    def output(self) -> str:
        """The last 200 lines, at most 64 KiB."""
        found = self.read()
        return found.output if found.output is not None else (found.stdout or '') + (
            found.stderr or '')

    def __iter__(self) -> Iterator[str]:
        """The output as it comes, in pieces of text, until it ends. Each loop begins where the one
        before left off."""
        for piece in _steps.pieces(self._handle):
            if isinstance(piece, _steps.Pause):
                _steps._sleep(piece)
            else:
                yield piece[0]

    def lines(self) -> Iterator[str]:
        """The output as it comes, line by line, without the line ends."""
        rest = ''
        for text in self:
            *whole, rest = (rest + text).split('\n')
            yield from whole
        if rest:
            yield rest

    # ---- waiting ----------------------------------------------------------------------------

    def wait(self, timeout: Optional[float] = None, *, for_line: Optional[str] = None,
             for_port: Optional[int] = None, since: int = 0) -> Result:
        """Waits for the end; or for a line that matches a regular expression (of Python's re), from
        a cursor on; or until the job listens on a TCP port. The Result's `matched` is the line or
        the port.

        timeout: seconds; then WaitTimeoutError, a TimeoutError, and the job goes on. JobEndedError
        when what was waited for cannot come any more.
        """
        return _steps.drive(_waiting(self._handle, timeout, for_line, for_port, since))

    # ---- acting on it -----------------------------------------------------------------------

    def stop(self, grace: Optional[float] = None) -> Result:
        """Ends the whole tree, SIGTERM first and SIGKILL after `grace` seconds (5 unless the start
        said otherwise; 0: SIGKILL at once), and returns when nothing of it is alive."""
        self._handle.stop(grace_ms(grace))
        return _steps.drive(_steps.wait_end(self._handle, None))

    def send(self, data: Text, *, eof: bool = False, timeout: Optional[float] = 30) -> None:
        """Writes to the standard input of a job that was started with stdin=rein.PIPE; eof ends it.
        WaitTimeoutError when the job does not take it within so many seconds."""
        raw = data.encode() if isinstance(data, str) else bytes(data)
        _steps.drive(_steps.send(self._handle, raw, eof, timeout))

    def send_eof(self, timeout: Optional[float] = 30) -> None:
        """Ends the standard input, once all that was sent has been read."""
        _steps.drive(_steps.send(self._handle, b'', True, timeout))

    def send_signal(self, number: Union[int, _signal.Signals]) -> None:
        """Sends a signal to the main process."""
        self._handle.send_signal(int(number))

    def close(self) -> None:
        """Lets go of it; the job goes on."""
        self._handle.close()

    def __enter__(self) -> 'Job':
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.running:
                self.stop()
        finally:
            self.close()


def _waiting(handle, timeout, for_line, for_port, since):
    if for_line is not None and for_port is not None:
        raise _spec.bad('for_line, for_port: one of them at a time')
    if for_line is not None:
        return _steps.wait_line(handle, for_line, since, timeout)
    if for_port is not None:
        return _steps.wait_port(handle, for_port, timeout)
    return _steps.wait_end(handle, timeout)


def grace_ms(seconds):
    return -1 if seconds is None else min(_spec.nanoseconds('grace', seconds) // 1_000_000,
                                          (1 << 31) - 1)


# ---- running ------------------------------------------------------------------------------------

def run(argv: Union[str, Sequence[Text]], *, timeout: Optional[float] = None,
        grace: Optional[float] = None, cwd: Optional[Text] = None,
        env: Optional[Mapping[str, str]] = None, env_profile: str = 'agent', stdin: Stdin = None,
        input: Optional[Text] = None, shell: bool = False, split: bool = False,
        after: str = 'kill', on_output: Optional[OnOutput] = None, render: str = 'clean',
        show: Optional[int] = _start.SHOW, **limits: Any) -> Result:
    """Runs a command to its end, with all processes that it starts.

        result = rein.run(['make', 'test'], timeout=60)
        if not result.success:
            print(result.reason, result.exit_code, result.output)

    argv: words, the first looked up in PATH; with shell=True one text for `bash -c`.
    timeout: seconds until the whole tree is ended (None or 0: no deadline); that is a Result with
    reason "timeout". grace: seconds between SIGTERM and SIGKILL at the deadline (none).
    env: variables to add. env_profile: "agent" adds what keeps programs from prompting, paging and
    colouring; "inherit" changes nothing; "clean" is a short list of the caller's.
    stdin: None (empty), rein.INHERIT, a descriptor or a file; input: text or bytes instead.
    split: keep stdout and stderr apart. after: what becomes of processes that outlive the command:
    "kill", "wait" or "keep". on_output: called with each piece of text as it comes, and its stream.
    render, show: see Job.result(). limits: output_limit, on_output_limit ("drop" or "kill"),
    memory, file_size (bytes), cpu_time (seconds), procs, pass_fds, name; env_keep: names that a
    clean environment lets through; secrets: names of variables whose values become stars wherever
    the command writes them.

    Raises ReinError when the command could not be run. An exception from on_output, and
    KeyboardInterrupt, end the command and come out here.
    """
    options = dict(timeout=timeout, grace=grace, cwd=cwd, env=env, env_profile=env_profile,
                   stdin=stdin, input=input, shell=shell, split=split, after=after, **limits)
    handle, view = _start.foreground(argv, on_output, render, show, options)
    return _steps.drive(_steps.run(handle, on_output, view))


def code(language: str, source: Optional[Text] = None, *, file: Optional[Text] = None,
         args: Sequence[Text] = (), prelude: Union[None, bool, str] = None,
         timeout: Optional[float] = None, grace: Optional[float] = None,
         cwd: Optional[Text] = None, env: Optional[Mapping[str, str]] = None,
         env_profile: str = 'agent', stdin: Stdin = None, input: Optional[Text] = None,
         split: bool = False, after: str = 'kill', on_output: Optional[OnOutput] = None,
         render: str = 'clean', show: Optional[int] = _start.SHOW, **limits: Any) -> Result:
    """Runs a piece of code, or a file of it, in a fresh process of its language's interpreter.

        rein.code('python', 'print(6 * 7)').output      # '42\\n'
        rein.code('bash', 'echo "$1"', args=['hello'])

    language: "python", "bash", "sh", "node", "perl", "ruby", "powershell", or an alias. args: the
    script's arguments. prelude: for Python, True for the built-in one or the path of a file that
    runs before the code, outside of its file. Everything else as for run().
    """
    made = _spec.make_code(language, source, file=file, args=args, prelude=prelude)
    options = dict(timeout=timeout, grace=grace, cwd=cwd, env=env, env_profile=env_profile,
                   stdin=stdin, input=input, split=split, after=after, **limits)
    handle, view = _start.foreground(None, on_output, render, show, options, code=made)
    return _steps.drive(_steps.run(handle, on_output, view))


# ---- the background -----------------------------------------------------------------------------

def start(argv: Union[str, Sequence[Text]], *, name: Optional[str] = None, detach: bool = False,
          session: Optional[str] = None, timeout: Optional[float] = None,
          grace: Optional[float] = None, cwd: Optional[Text] = None,
          env: Optional[Mapping[str, str]] = None, env_profile: str = 'agent',
          stdin: Stdin = None, input: Optional[Text] = None, shell: bool = False,
          split: bool = False, after: str = 'kill', **limits: Any) -> Job:
    """Starts a command in the background, and returns when it was really executed.

        job = rein.start(['npm', 'run', 'dev'], name='web')
        job.wait(for_line='ready in', timeout=30)

    The job ends with this process, also when that is killed; detach=True lets it go on. name and
    session: labels, see jobs(). stdin: rein.PIPE makes a pipe for Job.send(). Everything else as
    for run(). Raises ReinError when the command could not be started.
    """
    options = dict(name=name, timeout=timeout, grace=grace, cwd=cwd, env=env,
                   env_profile=env_profile, stdin=stdin, input=input, shell=shell, split=split,
                   after=after, **limits)
    return Job(_start.background(argv, detach, session, options))


def start_code(language: str, source: Optional[Text] = None, *, file: Optional[Text] = None,
               args: Sequence[Text] = (), prelude: Union[None, bool, str] = None,
               detach: bool = False, session: Optional[str] = None, **options: Any) -> Job:
    """Starts a piece of code in the background: code() with the options of start()."""
    made = _spec.make_code(language, source, file=file, args=args, prelude=prelude)
    return Job(_start.background(None, detach, session, options, code=made))


def attach(process_id: str) -> Job:
    """Takes hold of a job of the background, running or ended, whoever of this user started it.

    NoSuchJobError when there is none with this handle.
    """
    return Job(Handle.attach(process_id))


def jobs(status: str = 'all', *, session: Optional[str] = None,
         limit: Optional[int] = None) -> List[JobInfo]:
    """The jobs in the store, the oldest first. status: "all", "running" or "exited"; session: only
    those of one; limit: only so many, the newest ones."""
    arguments = {'status': status, **({} if limit is None else {'limit': limit})}
    answer = _tools.checked(_tools.call_tool('list_commands', arguments, session=session))
    return [JobInfo.from_dict(row) for row in answer['commands']]


def forget(process_id: str) -> None:
    """Removes an ended job with its output from the store."""
    context, error = _context.shared(), _context.new_error()
    with context.lock:
        if lib.rein_forget(context.handle, str(process_id).encode(), ctypes.byref(error)) < 0:
            _context.raise_error(error)
