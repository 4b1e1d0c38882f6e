"""GenericAgent's runner of code: ``code_run``, a generator, and ``do_code_run``, its JSON tool.

    from rein.compat.genericagent import code_run

    for text in code_run('print(6 * 7)', timeout=10):
        print(text, end='')
    result = text.result                        # or: result = yield from code_run(...)
    list(code_run('1/0'))[-1]['exit_code']      # 1

Both readings of where the result is work: the last item is text and answers like the dict, and the
generator returns the dict. The script is a file of its own in a private folder that is gone when it
has ended; the whole tree of processes ends with it.
"""

import json
import os
import re
import shutil
import sys
from typing import Any, Dict, Generator, List, Mapping, Optional, Union

from .._tools import Streamed, is_set

TIMEOUT_MAX = 600       # seconds, of the tool
TIMEOUT_NO_MAX = 9e9    # of the function: as much as there can be
SNIPPET_SIZE = 600      # characters of output in the last text
PREVIEW_SIZE = 60       # characters of code in the first one
PYTHON_TYPES = ('python', 'py')
STOPPED = '[Stopped] 用户强制终止'
OMITTED = '\n\n[omitted long output]\n\n'
_ICONS = {'success': '✅', 'error': '❌', 'running': '⏳'}

Result = Dict[str, Any]


class StatusText(str):
    """The last item of ``code_run``: a text that also answers like the result's dict."""

    result: Result

    def __new__(cls, text: str, result: Result) -> 'StatusText':
        made = super().__new__(cls, text)
        made.result = result
        return made

    def __getitem__(self, key):
        return self.result[key] if isinstance(key, str) else super().__getitem__(key)

    def __contains__(self, key):
        return key in self.result or super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self.result.get(key, default)

    def keys(self):
        return self.result.keys()

    def items(self):
        return self.result.items()

    def values(self):
        return self.result.values()


# ---- texts --------------------------------------------------------------------------------------

def _preview(code):
    if len(code) > PREVIEW_SIZE:
        return code[:PREVIEW_SIZE].replace('\n', ' ') + '...'
    return code.strip()


def _action(code, code_type, cwd):
    folder = os.path.basename(os.path.abspath(cwd or os.getcwd()))
    return f'[Action] Running {code_type} in {folder}: {_preview(code)}\n'


def _snippet(text):
    """Head and tail, at most SNIPPET_SIZE characters; fences in it end no fence around it."""
    if len(text) > SNIPPET_SIZE:
        half = (SNIPPET_SIZE - len(OMITTED)) // 2
        text = text[:half] + OMITTED + text[-half:]
    return re.sub('`{4,}', lambda m: m[0][:3] + '\u200b' + m[0][3:], text)


def _status(result):
    icon = _ICONS.get(result['status'], '❌')
    code = result.get('exit_code')
    return StatusText(f'[Status] {icon} Exit Code: {code}\n[Stdout]\n'
                      f'{_snippet(result.get("stdout", ""))}\n', result)


# ---- the call -----------------------------------------------------------------------------------

def _environment(code_type, code_cwd):
    """Python code runs with the agent's own interpreter, and imports from code_cwd."""
    env = {}
    if code_type.lower() not in PYTHON_TYPES:
        return env
    # Compared as they are called: in a virtual environment it is a link to the system's.
    found, own = shutil.which('python3') or '', os.path.dirname(sys.executable or '')
    if own and os.path.dirname(found) != own:
        env['PATH'] = os.pathsep.join([own, os.environ.get('PATH', os.defpath)])
    if code_cwd is not None:
        old = os.environ.get('PYTHONPATH')
        env['PYTHONPATH'] = os.pathsep.join([os.path.abspath(code_cwd), *([old] if old else [])])
    return env


def _arguments(code, code_type, timeout, cwd, code_cwd, maxlen):
    arguments = {'code': code, 'type': code_type, 'timeout': timeout}
    env = _environment(code_type, code_cwd)
    if env:
        arguments['env'] = env
    if cwd is not None:
        arguments['cwd'] = os.path.abspath(cwd)
    if maxlen is not None:
        arguments['max_output_size'] = maxlen
    return arguments


def _not_started():
    return {'status': 'error', 'success': False, 'stdout': STOPPED, 'exit_code': -1,
            'reason': 'stopped', 'msg': STOPPED, 'error': STOPPED}


def _show(text):
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        pass    # closed, or none at all: what is shown is a courtesy


def code_run(code: str, code_type: str = 'python', timeout: Optional[float] = 60,
             cwd: Optional[str] = None, code_cwd: Optional[str] = None, stop_signal: Any = None,
             maxlen: Optional[int] = 10000, *, echo: bool = True,
             prelude: Optional[str] = None) -> Generator[str, None, Result]:
    """Runs code, yields text as it comes, and returns {"status", "stdout", "exit_code", …}.

    code_type: python, py, bash, sh, shell, powershell, ps1, pwsh and rein's other languages.
    timeout: seconds, fractions count; the whole tree ends then, and `[Timeout Error] 超时强制终止`
    is the last line of stdout. cwd: where it runs (the caller's folder). code_cwd: a folder that
    Python code can import from. stop_signal: anything that becomes true, a list above all; looked
    at every 25 ms; true at once means that nothing is started. maxlen: characters of stdout in the
    result; log_file then has everything. echo: also print what the code writes, as it comes.
    prelude: None for the built-in one, "none", or a file.

    Closing the generator ends the code.
    """
    yield _action(code, code_type, cwd)
    if is_set(stop_signal):
        result = _not_started()
    else:
        result = yield from _run(_arguments(code, code_type, timeout, cwd, code_cwd, maxlen),
                                 stop_signal, echo, prelude)
    yield _status(result)
    return result


def _run(arguments, stop_signal, echo, prelude):
    with Streamed('code_run', arguments, stop=stop_signal, prelude=prelude,
                  code_timeout_max=TIMEOUT_NO_MAX) as call:
        for text, _ in call:
            if echo:
                _show(text)
            yield text
        return call.answer()


# ---- the JSON tool ------------------------------------------------------------------------------

#: What GenericAgent's model sees, for its own list of tools.
ARGUMENTS = ('type', 'code_type', 'language', 'code', 'script', 'timeout', 'cwd', 'inline_eval',
             'run_in_background', 'maxlen', 'max_output_size', 'env', 'stdin', 'files', 'sandbox',
             'net')


def _seconds(value):
    """A number as it is, one in a text as well; 60 where none can be read."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    try:
        return int(value)
    except (TypeError, ValueError):
        return 60


def do_code_run(args: Union[str, Mapping[str, Any]], response: Any = '', *, cwd: str = '.',
                stop_signal: Any = None) -> Result:
    """The tool as a model calls it: an object of arguments, or JSON text of one, and the reply.

        do_code_run({'type': 'python', 'script': 'print(1)', 'timeout': 10})
        do_code_run({}, reply_text)     # the last fenced block of the language in the reply

    response: the model's reply, a text or an object with `content`. cwd: the agent's folder, where
    a relative `cwd` argument begins. The size of the result is divided by `_tool_num`, the number
    of calls in one reply. Refusals are results, too: status "error", and the text in "msg".
    """
    given = dict(json.loads(args) if isinstance(args, (str, bytes)) else args)
    calls = max(1, int(given.get('_tool_num') or 1))
    wanted: Dict[str, Any] = {key: given[key] for key in ARGUMENTS if key in given}
    code = wanted.pop('code', None) or wanted.get('script')
    wanted.pop('script', None)
    if code:
        wanted['code'] = code
    else:
        wanted['reply'] = getattr(response, 'content', response) or ''
    wanted['timeout'] = _seconds(given.get('timeout', 60))
    wanted['cwd'] = os.path.normpath(os.path.abspath(os.path.join(cwd, given.get('cwd') or './')))
    if 'maxlen' not in wanted and 'max_output_size' not in wanted:
        wanted['max_output_size'] = 10000 // calls
    kind = next((str(wanted[key]) for key in ('type', 'language', 'code_type') if key in wanted),
                'python')
    env = _environment(kind, cwd)
    if env and isinstance(wanted.get('env', {}), dict):
        wanted['env'] = {**env, **wanted.get('env', {})}
    return _drain(wanted, stop_signal)


def _drain(wanted, stop_signal):
    if is_set(stop_signal):
        return _not_started()
    with Streamed('code_run', wanted, stop=stop_signal, with_output=False,
                  code_timeout_max=TIMEOUT_MAX) as call:
        for _ in call:
            pass
        return call.answer()


__all__: List[str] = ['StatusText', 'code_run', 'do_code_run']
