"""What can go wrong: one class for each error code, all of them ReinError.

How a command ended is never an exception: that stands in its Result. An exception means that the
request could not be carried out.

    try:
        rein.run(['no-such-program'])
    except rein.CommandNotFoundError as e:
        print(e.code, '-', e, '-', e.hint)
"""

import errno as _errno
import os as _os
from typing import Dict, Optional, Type


class ReinError(Exception):
    """A request that could not be carried out.

    code: the machine's word for it ("bad_request", "no_such_job", …), as on every other surface.
    step: which step failed ("exec", "chdir", …). hint: how to mend it, or None.
    errno: the system's number for it, or None.
    """

    code = 'internal'

    def __init__(self, message: str, *, step: str = '', hint: Optional[str] = None,
                 errno: Optional[int] = None, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        self.step = step
        self.hint = hint
        self.errno = errno
        if code:
            self.code = code

    def __str__(self) -> str:
        return self.message


class BadRequestError(ReinError, ValueError):
    """The request makes no sense."""
    code = 'bad_request'


class CommandNotFoundError(ReinError, LookupError):
    """There is no such program, or its interpreter is missing."""
    code = 'command_not_found'


class NotExecutableError(ReinError):
    """The program is there, and may not or cannot be executed."""
    code = 'not_executable'


class BadCwdError(ReinError):
    """The working directory cannot be entered."""
    code = 'bad_cwd'


class SpawnFailedError(ReinError):
    """The machine could not start another process."""
    code = 'spawn_failed'


class RefusedError(ReinError):
    """The checks before the start said no."""


class ShellSyntaxError(RefusedError):
    """The command would need a shell."""
    code = 'shell_syntax'


class DangerousCommandError(RefusedError):
    """The command is dangerous, and that was not allowed."""
    code = 'dangerous_command'


class ForbiddenCommandError(RefusedError):
    """The command is never run."""
    code = 'forbidden_command'


class ApprovalDeniedError(RefusedError):
    """Who was asked said no."""
    code = 'approval_denied'


class ApprovalRequiredError(RefusedError):
    """Somebody has to be asked, and there is nobody."""
    code = 'approval_required'


class NoSuchJobError(ReinError, LookupError):
    """There is no job with this handle."""
    code = 'no_such_job'


class JobEndedError(ReinError):
    """The job has ended, and what was asked for needs a running one."""
    code = 'job_ended'


class SandboxUnavailableError(ReinError):
    """This machine cannot enforce the isolation that was asked for."""
    code = 'sandbox_unavailable'


class LimitExceededError(ReinError):
    """More was asked for than is allowed."""
    code = 'limit_exceeded'


class WaitTimeoutError(ReinError, TimeoutError):
    """A wait ran out of time; the job goes on. The deadline of a job is a Result, not this."""
    code = 'timeout'


class InternalError(ReinError):
    """Something that should not have happened."""
    code = 'internal'


def _classes(base: type) -> Dict[str, Type[ReinError]]:
    found = {}
    for cls in base.__subclasses__():
        found.update(_classes(cls))
        if 'code' in cls.__dict__:
            found[cls.code] = cls
    return found


BY_CODE: Dict[str, Type[ReinError]] = _classes(ReinError)


def make(code: str, message: str, *, step: str = '', hint: Optional[str] = None,
         errno: Optional[int] = None) -> ReinError:
    """The exception for an error code; an unknown one is a ReinError that carries it."""
    return BY_CODE.get(code, ReinError)(message, step=step, hint=hint, errno=errno, code=code)


_CODES = {_errno.ESRCH: 'job_ended', _errno.EINVAL: 'bad_request', _errno.ETIMEDOUT: 'timeout'}


def from_errno(number: int, what: str) -> ReinError:
    """The exception for a negative errno of the library, which comes without words."""
    code = _CODES.get(-number, 'internal')
    return make(code, f'{what}: {_os.strerror(-number)}', errno=-number)
