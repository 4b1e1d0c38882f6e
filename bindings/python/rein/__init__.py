"""Runs an agent's commands and code, and keeps hold of them.

    import rein

    rein.run(['make', 'test'], timeout=60)              # a command, to its end
    rein.code('python', 'print(6 * 7)').output          # a piece of code
    job = rein.start(['npm', 'run', 'dev'])             # in the background
    job.wait(for_port=3000, timeout=30)
    rein.call_tool('execute_command', {'command': 'ls'})    # as a model calls it
    rein.tools('openai')                                # the schemas for its list of tools

Times are seconds, sizes bytes, unless a name says otherwise. A command that fails is a Result;
ReinError is for what could not be carried out. rein.aio has the same for asyncio, rein.functions
plain functions for frameworks, rein.compat drop-ins for two other systems.
"""

from . import errors
from ._job import Job, attach, code, forget, jobs, run, start, start_code
from ._native import VERSION as __version__
from ._result import JobInfo, Result
from ._spec import INHERIT, PIPE
from ._tools import call_tool, stream_tool, tools
from .errors import (ApprovalDeniedError, ApprovalRequiredError, BadCwdError, BadRequestError,
                     CommandNotFoundError, DangerousCommandError, ForbiddenCommandError,
                     InternalError, JobEndedError, LimitExceededError, NoSuchJobError,
                     NotExecutableError, RefusedError, ReinError, SandboxUnavailableError,
                     ShellSyntaxError, SpawnFailedError, WaitTimeoutError)

__all__ = [
    'ApprovalDeniedError', 'ApprovalRequiredError', 'BadCwdError', 'BadRequestError',
    'CommandNotFoundError', 'DangerousCommandError', 'ForbiddenCommandError', 'INHERIT',
    'InternalError', 'Job', 'JobEndedError', 'JobInfo', 'LimitExceededError', 'NoSuchJobError',
    'NotExecutableError', 'PIPE', 'RefusedError', 'ReinError', 'Result',
    'SandboxUnavailableError', 'ShellSyntaxError', 'SpawnFailedError', 'WaitTimeoutError',
    '__version__', 'attach', 'call_tool', 'code', 'errors', 'forget', 'jobs', 'run', 'start',
    'start_code', 'stream_tool', 'tools']
