"""The C library: where it is found, how its structs look, which functions it has.

Nothing outside of this file knows of struct layouts or of paths to the library. The structs are those
of ``rein.h``; a test compares them with the header.
"""

import ctypes
import os
from ctypes import (POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_ssize_t, c_uint,
                    c_uint32, c_uint64, c_void_p)

VERSION = '0.1.0'
LIBRARY_NAME = 'librein.so.0'

STRINGS = POINTER(c_char_p)

# ---- constants of rein.h ------------------------------------------------------------------------

ENV_PROFILES = {'agent': 0, 'inherit': 1, 'clean': 2}
STDIN_NULL, STDIN_INHERIT, STDIN_FD, STDIN_FILE, STDIN_PIPE = range(5)
AFTER = {'kill': 0, 'wait': 1, 'keep': 2}
ON_OUTPUT_LIMIT = {'drop': 0, 'kill': 1}
STREAMS = ('output', 'stdout', 'stderr')
RENDERS = {'clean': 0, 'plain': 1, 'raw': 2}
SPEC_SPLIT, SPEC_SHELL, SPEC_PACED, SPEC_BACKGROUND, SPEC_DETACHED = (1 << i for i in range(5))
GRACE_NONE = -1
TOOL_DETACHED, TOOL_STOP_FD = 1, 2
VIEW_SINCE, VIEW_CHARS = 1, 2
LIMIT_NONE = (1 << 64) - 1


# ---- structs ------------------------------------------------------------------------------------

class Error(Structure):
    _fields_ = [('code', c_char_p), ('step', c_char_p), ('message', c_char_p), ('hint', c_char_p),
                ('errnum', c_int)]


class Options(Structure):
    _fields_ = [('size', c_size_t), ('state_dir', c_char_p)]


class Spec(Structure):
    _fields_ = [('size', c_size_t), ('flags', c_uint32), ('argv', STRINGS), ('cwd', c_char_p),
                ('name', c_char_p), ('env_profile', c_int), ('env', STRINGS),
                ('stdin_kind', c_int), ('stdin_fd', c_int), ('stdin_path', c_char_p),
                ('after', c_int), ('timeout_ns', c_int64), ('grace_ns', c_int64),
                ('output_limit', c_uint64), ('on_output_limit', c_int),
                ('pass_fds', POINTER(c_int)), ('n_pass_fds', c_size_t),
                ('memory_limit', c_uint64), ('cpu_time_ns', c_int64), ('procs_limit', c_uint64),
                ('file_size_limit', c_uint64), ('env_keep', STRINGS), ('secrets', STRINGS),
                ('owner_pid', c_int), ('session', c_char_p), ('notify', STRINGS)]


class Code(Structure):
    _fields_ = [('size', c_size_t), ('language', c_char_p), ('text', c_char_p),
                ('text_size', c_size_t), ('file', c_char_p), ('args', STRINGS),
                ('prelude', c_char_p)]


class Piece(Structure):
    _fields_ = [('stream', c_int), ('cursor', c_uint64), ('skipped_bytes', c_uint64)]


class LeftRunning(Structure):
    _fields_ = [('pid', c_int), ('command', c_char_p)]


class Result(Structure):
    _fields_ = [('size', c_size_t), ('running', c_int), ('reason', c_int), ('success', c_int),
                ('has_exit_code', c_int), ('exit_code', c_int), ('signal', c_int),
                ('started_at_ns', c_int64), ('duration_ns', c_int64), ('output_bytes', c_uint64),
                ('split', c_int), ('gap_begin', c_uint64), ('gap_end', c_uint64),
                ('user_us', c_int64), ('system_us', c_int64), ('max_rss_bytes', c_uint64),
                ('process_id', c_char_p), ('pid', c_int), ('command', STRINGS),
                ('cwd', c_char_p), ('name', c_char_p), ('session', c_char_p),
                ('log_file', c_char_p), ('left_running', POINTER(LeftRunning)),
                ('n_left_running', c_size_t), ('warnings', STRINGS), ('missing', STRINGS)]


class View(Structure):
    _fields_ = [('size', c_size_t), ('flags', c_uint), ('render', c_int), ('limit', c_uint64),
                ('lines', c_uint64), ('since', c_uint64), ('grep', c_char_p)]


STARTED = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
OUTPUT = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, POINTER(Piece))
APPROVE = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p)
LOOK = ctypes.CFUNCTYPE(c_int, c_void_p)


class ToolOptions(Structure):
    _fields_ = [('size', c_size_t), ('flags', c_uint), ('session', c_char_p), ('stop_fd', c_int),
                ('prelude', c_char_p), ('code_timeout_max_ns', c_int64), ('started', STARTED),
                ('output', OUTPUT), ('approve', APPROVE), ('look', LOOK), ('look_ms', c_int),
                ('userdata', c_void_p), ('env_profile', c_int), ('env_keep', STRINGS),
                ('secrets', STRINGS)]


# The names that the structs have in rein.h.
STRUCTS = {'rein_error': Error, 'rein_options': Options, 'rein_spec': Spec, 'rein_code': Code,
           'rein_piece': Piece, 'rein_left_running': LeftRunning, 'rein_result': Result,
           'rein_view': View, 'rein_tool_options': ToolOptions}

# ---- functions ----------------------------------------------------------------------------------

ERRORS = POINTER(POINTER(Error))
TEXT = POINTER(c_void_p)

FUNCTIONS = {
    'rein_version': (c_char_p,),
    'rein_error_free': (c_void_p, POINTER(Error)),
    'rein_open': (c_void_p, POINTER(Options), ERRORS),
    'rein_free': (c_void_p, c_void_p),
    'rein_start': (c_int, c_void_p, POINTER(Spec), POINTER(c_void_p), ERRORS),
    'rein_start_code': (c_int, c_void_p, POINTER(Code), POINTER(Spec), POINTER(c_void_p), ERRORS),
    'rein_attach': (c_int, c_void_p, c_char_p, POINTER(c_void_p), ERRORS),
    'rein_forget': (c_int, c_void_p, c_char_p, ERRORS),
    'rein_job_id': (c_char_p, c_void_p),
    'rein_job_pid': (c_int, c_void_p),
    'rein_job_fd': (c_int, c_void_p),
    'rein_read': (c_ssize_t, c_void_p, c_void_p, c_size_t, c_int, POINTER(Piece)),
    'rein_read_at': (c_ssize_t, c_void_p, c_uint64, c_void_p, c_size_t, POINTER(Piece)),
    'rein_seek': (None, c_void_p, c_uint64),
    'rein_send': (c_ssize_t, c_void_p, c_char_p, c_size_t),
    'rein_send_eof': (c_int, c_void_p),
    'rein_stop': (c_int, c_void_p, c_int),
    'rein_wait': (c_int, c_void_p, c_int, POINTER(Result)),
    'rein_result_done': (None, POINTER(Result)),
    'rein_job_signal': (c_int, c_void_p, c_int),
    'rein_job_free': (c_void_p, c_void_p),
    'rein_port_ask': (c_int, c_void_p, c_int),
    'rein_port_is_open': (c_int, c_void_p),
    'rein_job_json': (c_int, c_void_p, POINTER(View), TEXT, ERRORS),
    'rein_tool_call': (c_int, c_void_p, c_char_p, c_char_p, c_size_t, POINTER(ToolOptions), TEXT,
                       ERRORS),
    'rein_tool_list': (c_int, TEXT, ERRORS),
    'rein_text_free': (c_void_p, c_void_p),
}


def _candidates():
    """Where the library may be, the nearest first. A name without a folder is for the system's
    linker."""
    package = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get('REIN_LIBRARY')
    if named:
        return [named]
    tree = os.path.dirname(os.path.dirname(os.path.dirname(package)))
    found = [os.path.join(package, 'lib', LIBRARY_NAME),
             os.path.join(tree, 'build', LIBRARY_NAME)]
    return [path for path in found if os.path.exists(path)][:1] or [LIBRARY_NAME]


def _check_version(library, path):
    theirs = library.rein_version().decode()
    if theirs.split('.')[:2] != VERSION.split('.')[:2]:
        raise ImportError(f'{path} is version {theirs} of rein, this package needs '
                          f'{".".join(VERSION.split(".")[:2])}; REIN_LIBRARY names another one')


def load(path=None):
    """Loads the library and declares its functions. ImportError says what to do."""
    path = path or _candidates()[0]
    try:
        library = ctypes.CDLL(path)
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as e:
        raise ImportError(f'{path}: {e}; install rein, or name the library with '
                          'REIN_LIBRARY') from e
    _check_version(library, path)
    return library


lib = load()


def take_text(pointer):
    """The text behind a pointer that the library gave away, as bytes. Frees it."""
    try:
        return ctypes.string_at(pointer)
    finally:
        lib.rein_text_free(pointer)
