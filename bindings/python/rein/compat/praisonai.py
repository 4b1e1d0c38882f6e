"""PraisonAI's shell tools: ``execute_command`` and its background companions, as functions and as the
class ``ShellTools``.

    from rein.compat.praisonai import execute_command, get_command_output, stop_command

    execute_command('ls -l')['stdout']
    server = execute_command('python3 -m http.server 8000', run_in_background=True)
    get_command_output(server['process_id'], tail=10)
    stop_command(server['process_id'])

Each gives a dict with that system's keys, and rein's others. A denied approval is a PermissionError.
"""

import dataclasses
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from .. import _job, _tools, errors
from . import _machine

Answer = Dict[str, Any]
_DENIALS = ('approval_denied', 'approval_required')
_KILL_SECONDS = 5   # for a process that was sent SIGTERM


# ---- approval -----------------------------------------------------------------------------------

@dataclasses.dataclass
class ApprovalDecision:
    """What an asker answers. scope: "once", or "always" for exactly this request from now on."""

    approved: bool
    reason: str = ''
    scope: str = 'once'
    modified_args: Dict[str, Any] = dataclasses.field(default_factory=dict)
    approver: Optional[str] = None


#: Gets the tool's name, the request ("command", "cwd", "env", "sandbox", "risk", "reasons"), and the
#: level of risk: "critical", "high", "medium" or "low".
Asker = Callable[[str, Dict[str, Any], str], Union[ApprovalDecision, bool]]

_asker: Optional[Asker] = None


def set_approval_callback(asker: Optional[Asker]) -> None:
    """Sets who is asked before something risky is started; None: nobody."""
    global _asker
    _asker = asker


def get_approval_callback() -> Optional[Asker]:
    """Who is asked, or None."""
    return _asker


class _Asking:
    """One call's asker, and what it said."""

    def __init__(self, asker):
        self.asker = asker
        self.reason = None

    def __call__(self, request):
        decision = self.asker(request.get('tool', ''), request, request.get('risk', 'critical'))
        if isinstance(decision, bool):
            return decision
        self.reason = getattr(decision, 'reason', None) or None
        return getattr(decision, 'scope', 'once') if decision.approved else False


# ---- calls --------------------------------------------------------------------------------------

def _given(**arguments):
    return {name: value for name, value in arguments.items() if value is not None}


def _call(tool: str, arguments: Mapping[str, Any], on_output=None) -> Answer:
    asking = _Asking(_asker) if _asker is not None else None
    answer = _tools.call_tool(tool, arguments, approve=asking, on_output=on_output)
    if answer.get('error_code') in _DENIALS:
        reason = (asking.reason if asking else None) or _reason(tool, answer['error'])
        raise PermissionError(f'Execution of {tool} denied: {reason}')
    return answer


def _reason(tool, error):
    """The library's words without those that are said anyway."""
    for known in (f'Execution of {tool} denied: ', f'Execution of {tool} '):
        if error.startswith(known):
            return error[len(known):]
    return error


class ShellTools:
    """The tools as methods. on_output: gets (text, "stdout" or "stderr") of commands in the
    foreground as they run."""

    def __init__(self, on_output: Optional[Callable[[str, str], Any]] = None) -> None:
        self.on_output = on_output
        self._kill_lock = threading.Lock()

    def execute_command(self, command: Union[str, Sequence[str]], cwd: Optional[str] = None,
                        timeout: Optional[float] = 30, env: Optional[Mapping[str, str]] = None,
                        max_output_size: int = 10000, spill: bool = True,
                        spill_dir: Optional[str] = None, allow_dangerous: bool = False,
                        run_in_background: bool = False) -> Answer:
        """Runs a command without a shell.

        command: a text, split as a shell splits it, with ~ and $NAME replaced outside of single
        quotes; or a list of words, taken as they are. timeout: seconds (None or 0: no limit); not in
        the background. env: variables to add. max_output_size: characters of stdout and of stderr.
        spill, spill_dir: accepted; log_file has what is not shown. allow_dangerous: lifts the
        refusal of dangerous commands, nothing else. run_in_background: returns at once, with
        "process_id" for the other tools; the command ends with this process.

        Gives success, exit_code, stdout, stderr, execution_time (seconds), or in the background
        success, process_id, pid, status, log_file; and for what was refused error, error_code, hint.
        """
        arguments = _given(command=list(command) if isinstance(command, tuple) else command,
                           cwd=cwd or None, env=None if env is None else dict(env),
                           max_output_size=max_output_size, spill_dir=spill_dir)
        arguments.update(spill=bool(spill), allow_dangerous=bool(allow_dangerous),
                         run_in_background=bool(run_in_background))
        if not run_in_background:
            arguments['timeout'] = timeout
        elif timeout != 30:     # named in the warnings: it has no effect
            arguments['timeout'] = timeout
        return _call('execute_command', arguments,
                     None if run_in_background else self.on_output)

    def get_command_output(self, process_id: str, tail: int = 200) -> Answer:
        """The last lines of a background command, at most 64 KiB, and how it stands: success,
        process_id, pid, status "running" or "exited", exit_code (None while it runs), output,
        log_file."""
        return _call('get_command_output', {'process_id': process_id, 'tail': tail})

    def stop_command(self, process_id: str) -> Answer:
        """Ends a background command with all its processes, SIGTERM first, SIGKILL after 5 s:
        success, process_id, status "exited", exit_code."""
        return _call('stop_command', {'process_id': process_id})

    def list_processes(self) -> List[Dict[str, Any]]:
        """The machine's processes: pid, name, username, memory_percent, cpu_percent (over a
        process's whole life)."""
        return _machine.processes()

    def kill_process(self, pid: int, force: bool = False) -> Answer:
        """Ends the job whose main process has this pid: {"success", "message"}. force: SIGKILL at
        once. A process that is not one of rein's jobs is left alone."""
        with self._kill_lock:
            known = _job_with_pid(pid)
            if known is None:
                return {'success': False,
                        'message': f'Access denied to kill process {pid}: it is not the main '
                                   'process of a background command of rein; stop_command takes '
                                   'a process_id'}
            return _end(known, pid, force)

    def get_system_info(self) -> Dict[str, Any]:
        """The machine: cpu, memory, disk, boot_time, platform. Takes a tenth of a second."""
        return _machine.system()


def _job_with_pid(pid):
    """The handle of a running job by the pid of its main process, or None."""
    if not isinstance(pid, int) or isinstance(pid, bool):
        return None
    return next((row.process_id for row in _job.jobs('running') if row.pid == pid), None)


def _end(process_id, pid, force):
    try:
        with _job.attach(process_id) as job:
            job.stop(0 if force else _KILL_SECONDS)
    except errors.ReinError as e:
        return {'success': False, 'message': f'Error killing process: {e}'}
    return {'success': True, 'message': f'Process {pid} killed successfully'}


_shell_tools = ShellTools()
execute_command = _shell_tools.execute_command
get_command_output = _shell_tools.get_command_output
stop_command = _shell_tools.stop_command
list_processes = _shell_tools.list_processes
kill_process = _shell_tools.kill_process
get_system_info = _shell_tools.get_system_info

__all__ = ['ApprovalDecision', 'ShellTools', 'execute_command', 'get_approval_callback',
           'get_command_output', 'get_system_info', 'kill_process', 'list_processes',
           'set_approval_callback', 'stop_command']
