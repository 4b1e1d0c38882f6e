# Runs a prelude of the user's before the code, in its namespace: prelude.py beside this file, which
# the interpreter takes for its site's own start-up file. Children do not have it.


def _begin():
    import _frozen_importlib as machinery
    import os
    import sys

    here = os.path.dirname(__file__)
    while here in sys.path:
        sys.path.remove(here)
    sys.path_importer_cache.pop(here, None)
    rest = os.environ.get('PYTHONPATH', '').partition(os.pathsep)[2]
    if rest:
        os.environ['PYTHONPATH'] = rest
    else:
        os.environ.pop('PYTHONPATH', None)

    own = sys.modules.get('sitecustomize')
    spec = machinery._find_spec('sitecustomize', None)
    if spec:
        machinery._load(spec)
    elif own:
        sys.modules['sitecustomize'] = own

    with open(os.path.join(here, 'prelude.py'), 'rb') as f:
        text = f.read()
    exec(compile(text, 'prelude', 'exec', dont_inherit=True), sys.modules['__main__'].__dict__)


_begin()
