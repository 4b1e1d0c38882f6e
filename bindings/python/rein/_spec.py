"""From Python's arguments to the structs that start a job. Judges types; the library judges sense."""

import ctypes
import math
import os

from . import _native, errors

INHERIT = -1    # the caller's standard input
PIPE = -2       # a pipe that Job.send() feeds

_NS = 1_000_000_000
_INT64_MAX = (1 << 63) - 1


def bad(message):
    return errors.BadRequestError(message)


def nanoseconds(name, seconds):
    """Of a number of seconds; None is 0, which the library takes for the default."""
    if seconds is None:
        return 0
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        raise bad(f'{name}: {seconds!r} was given; allowed is a number of seconds')
    if not math.isfinite(seconds) or seconds < 0 or seconds * _NS > _INT64_MAX:
        raise bad(f'{name}: {seconds!r} was given; allowed are 0 to {_INT64_MAX // _NS} seconds')
    return int(seconds * _NS)


def word(name, value, choices):
    if value not in choices:
        raise bad(f'{name}: {value!r} was given; allowed is {", ".join(map(repr, choices))}')
    return choices[value]


def count(name, value):
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise bad(f'{name}: {value!r} was given; allowed is a whole number from 0 on')
    return value


def encoded(name, value):
    """Text, bytes or a path as the system has it; None stays None."""
    if value is None:
        return None
    try:
        data = os.fsencode(value)
    except (TypeError, UnicodeEncodeError) as e:
        raise bad(f'{name}: {value!r:.80} was given; allowed is text') from e
    if b'\0' in data:
        raise bad(f'{name}: it holds a NUL character')
    return data


def strings(name, values):
    """A NULL-terminated array."""
    data = [encoded(name, value) for value in values]
    if None in data:
        raise bad(f'{name}: None was given; allowed is text')
    return (ctypes.c_char_p * (len(data) + 1))(*data)


def pointer(array):
    return ctypes.cast(array, _native.STRINGS)


def command(argv, shell):
    if isinstance(argv, (str, bytes, os.PathLike)):
        if not shell:
            raise bad('argv: one text was given; give a list of words, or shell=True')
        return strings('argv', [argv])
    words = list(argv)
    if shell and len(words) != 1:
        raise bad('argv: several words were given; with shell=True it is one text')
    if not words:
        raise bad('argv: nothing was given to run')
    return strings('argv', words)


def _environment(env):
    try:
        pairs = [(encoded('env', name), encoded('env', value)) for name, value in env.items()]
    except AttributeError as e:
        raise bad('env: allowed is a mapping of names to texts') from e
    for name, value in pairs:
        if not name or b'=' in name or value is None:
            raise bad(f'env: {name!r} was given; allowed are names without "=", with a text')
    return strings('env', [name + b'=' + value for name, value in pairs])


class Prepared:
    """A Spec with all that it points to, and what has to be closed once it was used."""

    def __init__(self):
        self.struct = _native.Spec(size=ctypes.sizeof(_native.Spec))
        self._fd = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def set_command(self, argv, shell):
        self.struct.argv = pointer(command(argv, shell))
        if shell:
            self.struct.flags |= _native.SPEC_SHELL

    def set_stdin(self, stdin, input):
        if input is not None:
            if stdin is not None:
                raise bad('stdin: it was given together with input')
            self._set_input(input.encode() if isinstance(input, str) else bytes(input))
        elif stdin is None:
            self.struct.stdin_kind = _native.STDIN_NULL
        elif stdin in (INHERIT, PIPE) and not hasattr(stdin, 'fileno'):
            self.struct.stdin_kind = (_native.STDIN_INHERIT if stdin == INHERIT
                                      else _native.STDIN_PIPE)
        else:
            self.struct.stdin_kind = _native.STDIN_FD
            self.struct.stdin_fd = stdin if isinstance(stdin, int) else stdin.fileno()

    def _set_input(self, data):
        """In a file without a name: of any size, and nobody has to write it meanwhile."""
        self._fd = os.memfd_create('rein-stdin', os.MFD_CLOEXEC)
        with open(self._fd, 'wb', closefd=False) as f:
            f.write(data)
        os.lseek(self._fd, 0, os.SEEK_SET)
        self.struct.stdin_kind = _native.STDIN_FD
        self.struct.stdin_fd = self._fd

    def set_pass_fds(self, fds):
        self.struct.pass_fds = (ctypes.c_int * len(fds))(*fds)
        self.struct.n_pass_fds = len(fds)


def prepare(*, argv=None, shell=False, cwd=None, env=None, env_profile='agent', stdin=None,
            env_keep=(), secrets=(), input=None, timeout=None, grace=None, split=False,
            after='kill', name=None, output_limit=None, on_output_limit='drop', pass_fds=(),
            memory=None, cpu_time=None, procs=None, file_size=None):
    """The options that run(), code() and start() have in common, see there."""
    prepared = Prepared()
    s = prepared.struct
    if argv is not None:
        prepared.set_command(argv, shell)
    if env is not None:
        s.env = pointer(_environment(env))
    if env_keep:
        s.env_keep = pointer(strings('env_keep', env_keep))
    if secrets:
        s.secrets = pointer(strings('secrets', secrets))
    if split:
        s.flags |= _native.SPEC_SPLIT
    if grace == 0:
        s.grace_ns, grace = _native.GRACE_NONE, None
    # Zero is the default of all, so that only what was given costs something.
    for field, convert, option, value in (
            ('cwd', encoded, 'cwd', cwd), ('name', encoded, 'name', name),
            ('timeout_ns', nanoseconds, 'timeout', timeout),
            ('grace_ns', nanoseconds, 'grace', grace),
            ('output_limit', count, 'output_limit', output_limit),
            ('memory_limit', count, 'memory', memory),
            ('cpu_time_ns', nanoseconds, 'cpu_time', cpu_time),
            ('procs_limit', count, 'procs', procs),
            ('file_size_limit', count, 'file_size', file_size)):
        if value is not None:
            setattr(s, field, convert(option, value))
    s.env_profile = word('env_profile', env_profile, _native.ENV_PROFILES)
    s.after = word('after', after, _native.AFTER)
    s.on_output_limit = word('on_output_limit', on_output_limit, _native.ON_OUTPUT_LIMIT)
    if pass_fds:
        prepared.set_pass_fds(list(pass_fds))
    prepared.set_stdin(stdin, input)    # the last, for it may open something
    return prepared


def make_background(prepared, *, detach, session):
    s = prepared.struct
    s.flags |= _native.SPEC_BACKGROUND
    s.session = encoded('session', session)
    if detach:
        s.flags |= _native.SPEC_DETACHED
    else:
        s.owner_pid = os.getpid()   # so that it outlives its handle, not this process


def make_code(language, source, *, file=None, args=(), prelude=None):
    """The struct for a piece of code, or for a file of it."""
    code = _native.Code(size=ctypes.sizeof(_native.Code), language=encoded('language', language))
    if (source is None) == (file is None):
        raise bad('source: give either the code or a file')
    if source is not None:
        data = _source_bytes(source)
        code.text, code.text_size = data, len(data)
    code.file = encoded('file', file)
    code.args = pointer(strings('args', args))
    if prelude is True:
        code.prelude = b''  # the built-in one
    elif prelude:
        code.prelude = encoded('prelude', prelude)
    return code


def _source_bytes(source):
    try:
        return source if isinstance(source, bytes) else source.encode()
    except (AttributeError, UnicodeEncodeError) as e:
        raise bad(f'source: {e}') from e
