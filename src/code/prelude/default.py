# Runs before the code of a tool's call, outside of it: the interpreter takes it for its site's own
# start-up file. Nothing of it is in the code's file, its namespace or its tracebacks, and children
# do not have it.
#
# It gives what people who write for such tools rely on: some modules without an import, loaded when
# they are used; text from children that is decoded whatever it is; a word to the wise.


def _begin():
    import _frozen_importlib as machinery
    import builtins
    import codecs
    import os
    import sys

    here = os.path.dirname(__file__)

    def hide():
        """From the search path, and from children."""
        while here in sys.path:
            sys.path.remove(here)
        sys.path_importer_cache.pop(here, None)
        rest = os.environ.get('PYTHONPATH', '').partition(os.pathsep)[2]
        if rest:
            os.environ['PYTHONPATH'] = rest
        else:
            os.environ.pop('PYTHONPATH', None)

    def run_the_site_s_own():
        own = sys.modules.get('sitecustomize')
        spec = machinery._find_spec('sitecustomize', None)
        if spec:
            machinery._load(spec)
        elif own:
            sys.modules['sitecustomize'] = own

    class Lazy:
        """A module that is imported at its first use."""

        def __init__(self, name):
            self.__dict__['__name__'] = name

        def __getattr__(self, attribute):
            name = self.__dict__['__name__']
            module = __import__(name)
            setattr(builtins, name, module)
            return getattr(module, attribute)

        def __repr__(self):
            return f"<module '{self.__dict__['__name__']}'>"

    def decode(error):
        """A line that is not UTF-8 is GBK, if all of it is."""
        if not isinstance(error, UnicodeDecodeError):
            raise error
        data = error.object
        begin = data.rfind(b'\n', 0, error.start) + 1
        end = data.find(b'\n', error.start)
        end = len(data) if end < 0 else end
        try:
            data[begin:end].decode('gbk')
            return data[error.start:end].decode('gbk'), end
        except UnicodeDecodeError:
            return '�', error.end

    class ChildIO:
        """What subprocess takes for io."""

        def __init__(self, io):
            self.io = io

        def __getattr__(self, name):
            return getattr(self.io, name)

        def TextIOWrapper(self, buffer, encoding=None, errors=None, **other):
            if errors is None and (encoding or 'utf-8').lower() in ('utf-8', 'utf8', 'locale'):
                errors = 'rein'
            return self.io.TextIOWrapper(buffer, encoding=encoding, errors=errors, **other)

    class Finder:
        """Is there when subprocess is imported."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != 'subprocess':
                return None
            sys.meta_path.remove(Finder)
            spec = machinery._find_spec(name, path)
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                module.io = ChildIO(module.io)

            spec.loader.exec_module = exec_module
            return spec

    def without_us(traceback):
        while traceback and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        last = traceback
        while last and last.tb_next:
            if last.tb_next.tb_frame.f_code.co_filename == __file__:
                last.tb_next = last.tb_next.tb_next
            else:
                last = last.tb_next
        return traceback

    def excepthook(kind, value, traceback):
        sys.__excepthook__(kind, value and value.with_traceback(without_us(traceback)),
                           without_us(traceback))
        if issubclass(kind, (ImportError, AttributeError)):
            print('[Agent Hint]: NO GUESSING! You MUST probe first. '
                  'If missing common package, pip.', file=sys.stderr)

    hide()
    codecs.register_error('rein', decode)
    sys.meta_path.insert(0, Finder)
    sys.excepthook = excepthook
    builtins.sys, builtins.os, builtins.time = sys, os, __import__('time')
    for name in 'json', 're', 'subprocess':
        setattr(builtins, name, sys.modules.get(name) or Lazy(name))
    run_the_site_s_own()


_begin()
