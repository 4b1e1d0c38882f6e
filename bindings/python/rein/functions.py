"""The tools as plain functions, for frameworks that make a tool of a function from its signature and
docstring. Each takes and gives what JSON has, and never raises for what a command did or for what was
refused: that is in the answer, for the model to read.

    from rein.functions import ALL, execute_command

    agent = Agent(tools=ALL)    # or some of them
"""

from typing import Any, Callable, Dict, List, Optional

from ._tools import call_tool


def _call(name: str, **arguments: Any) -> Dict[str, Any]:
    return call_tool(name, {key: value for key, value in arguments.items() if value is not None})


def code_run(code: str, type: str = 'python', timeout: float = 60,
             cwd: Optional[str] = None) -> Dict[str, Any]:
    """Run a piece of code in a fresh process and get what it printed.

    Args:
        code: The code. Print what you want to see; nothing is kept between runs.
        type: The language: python, bash, sh, node, perl, ruby or powershell.
        timeout: Seconds until the run and all its processes are killed, at most 600.
        cwd: The working directory; the current one if not given.

    Returns:
        status "success" or "error", stdout (both streams in order), exit_code.
    """
    return _call('code_run', code=code, type=type, timeout=timeout, cwd=cwd)


def execute_command(command: str, cwd: Optional[str] = None, timeout: float = 30,
                    run_in_background: bool = False, shell: bool = False,
                    allow_dangerous: bool = False) -> Dict[str, Any]:
    """Run a command, in the foreground or in the background.

    Args:
        command: The command, split into words as a shell would; pipes and redirections need shell.
        cwd: The working directory; the current one if not given.
        timeout: Seconds until the command and all its processes are killed; not in the background.
        run_in_background: Return at once with a process_id; for servers, watchers, long tests.
        shell: Run the command with bash, with pipes, redirections and all the rest.
        allow_dangerous: The command may be one that is refused as dangerous otherwise.

    Returns:
        success, exit_code, stdout, stderr; in the background process_id, status, log_file.
    """
    more = {} if run_in_background else {'timeout': timeout}
    return _call('execute_command', command=command, cwd=cwd, run_in_background=run_in_background,
                 shell=shell, allow_dangerous=allow_dangerous, **more)


def get_command_output(process_id: str, tail: Optional[int] = None, since: Optional[int] = None,
                       wait: float = 0, grep: Optional[str] = None) -> Dict[str, Any]:
    """Show the end of what a background command wrote, or what came since a cursor.

    Args:
        process_id: The handle that the start gave.
        tail: Only so many last lines; 200 if neither this nor since is given.
        since: Only what came after this cursor; each answer has the next one.
        wait: Seconds to wait at most for something new.
        grep: Only lines that match this regular expression.

    Returns:
        status "running" or "exited", exit_code (null while it runs), output, cursor.
    """
    return _call('get_command_output', process_id=process_id, tail=tail, since=since, wait=wait,
                 grep=grep)


def wait_command(process_id: str, timeout: float = 30, line: Optional[str] = None,
                 port: Optional[int] = None) -> Dict[str, Any]:
    """Wait until a background command ends, writes a line, or listens on a port.

    Args:
        process_id: The handle that the start gave.
        timeout: Seconds to wait; the command goes on when they are over.
        line: Wait for a line that matches this regular expression instead of the end.
        port: Wait until the command listens on this TCP port instead of the end.

    Returns:
        The command's result and what matched; error_code "timeout" when it did not happen.
    """
    until = {'line': line} if line is not None else {'port': port} if port is not None else None
    return _call('wait_command', process_id=process_id, timeout=timeout, until=until)


def stop_command(process_id: str, grace: float = 5) -> Dict[str, Any]:
    """End a background command with all its processes.

    Args:
        process_id: The handle that the start gave.
        grace: Seconds between SIGTERM and SIGKILL.

    Returns:
        success, status "exited", exit_code.
    """
    return _call('stop_command', process_id=process_id, grace=grace)


def list_commands(status: str = 'running') -> Dict[str, Any]:
    """List background commands, the oldest first.

    Args:
        status: Which ones: running, exited or all.

    Returns:
        commands: process_id, command, status and exit_code of each.
    """
    return _call('list_commands', status=status)


def send_input(process_id: str, text: Optional[str] = None, eof: bool = False,
               signal: Optional[str] = None) -> Dict[str, Any]:
    """Send text to the standard input of a background command, end that input, or send a signal.

    Args:
        process_id: The handle that the start gave.
        text: The text, with its newline.
        eof: End the input.
        signal: A signal's name, such as INT.

    Returns:
        success.
    """
    return _call('send_input', process_id=process_id, text=text, eof=eof, signal=signal)


#: All of them, in the order of the tools.
ALL: List[Callable[..., Dict[str, Any]]] = [
    code_run, execute_command, get_command_output, stop_command, list_commands, wait_command,
    send_input]
