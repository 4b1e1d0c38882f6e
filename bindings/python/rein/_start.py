"""From the arguments of the public functions to a held job and how its end is to be shown."""

from . import _native, _spec, _steps
from ._handle import Handle

#: Characters of output that a result shows unless more is asked for: bytes of UTF-8, head and tail.
SHOW = 64 << 10


def foreground(argv, on_output, render, show, options, *, code=None):
    """(handle, view) of a job that ends with the call."""
    view = _steps.make_view(render=render, show=show)
    with _spec.prepare(argv=argv, **options) as prepared:
        if on_output is not None:
            prepared.struct.flags |= _native.SPEC_PACED
        return Handle.start(prepared.struct, code), view


def background(argv, detach, session, options, *, code=None):
    with _spec.prepare(argv=argv, **options) as prepared:
        _spec.make_background(prepared, detach=detach, session=session)
        return Handle.start(prepared.struct, code)
