#!/usr/bin/env python3
"""A small agent: a model chooses tools, a loop calls them until it has nothing more to call.

The model here is scripted, so that the example needs no key and always does the same: it starts a
development server, waits until that is ready, asks it for a page, and stops it. A real one is a call
of a client with `tools=rein.tools('openai')`; the loop stays as it is.

usage: PYTHONPATH=bindings/python examples/agent_loop.py
"""

import json
import sys

import rein

SERVER = f'{sys.executable} -u -m http.server 0 --bind 127.0.0.1'
REQUEST = 'import urllib.request; print(urllib.request.urlopen("{url}", timeout=10).status)'


def scripted_model():
    """Says what to call next, and is told the answer: what a model's interface does in one request."""
    started = yield 'execute_command', {'command': SERVER, 'run_in_background': True}
    known = started['process_id']
    ready = yield 'wait_command', {'process_id': known, 'timeout': 20,
                                   'until': {'line': r'http://[\d.]+:\d+/'}}
    url = 'http:' + ready['matched'].partition('http:')[2].partition(')')[0]
    page = yield 'code_run', {'code': REQUEST.format(url=url), 'timeout': 20}
    yield 'get_command_output', {'process_id': known, 'tail': 3}
    stopped = yield 'stop_command', {'process_id': known}
    return (f'The server answered {page["stdout"].strip()}; it was stopped, '
            f'exit code {stopped["exit_code"]}.')


def run_agent(model):
    """The loop: call what is asked for, hand the answer back, and return the last word."""
    answer = None
    while True:
        try:
            name, arguments = model.send(answer)
        except StopIteration as end:
            return end.value
        print(f'-> {name} {json.dumps(arguments)}')
        answer = rein.call_tool(name, arguments)
        print(f'<- {json.dumps(answer)[:160]}')
        if 'error_code' in answer:
            return f'It did not work: {answer["error"]}'


def main():
    known = {tool['function']['name'] for tool in rein.tools('openai')}
    print('tools:', ', '.join(sorted(known)))
    print(run_agent(scripted_model()))


if __name__ == '__main__':
    main()
