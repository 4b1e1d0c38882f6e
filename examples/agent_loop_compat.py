#!/usr/bin/env python3
"""The same as agent_loop.py, as programs for two other systems say it. Only the imports are rein's.

usage: PYTHONPATH=bindings/python examples/agent_loop_compat.py
"""

import sys
import time

from rein.compat.genericagent import code_run
from rein.compat.praisonai import execute_command, get_command_output, stop_command

PATIENCE = 20   # seconds


def start_server():
    return execute_command(f'{sys.executable} -u -m http.server 0 --bind 127.0.0.1',
                           run_in_background=True)['process_id']


def address_of(process_id):
    """Polls for the line that the server writes, as that system has to."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        answer = get_command_output(process_id, tail=10)
        if 'http:' in answer['output']:
            return 'http:' + answer['output'].partition('http:')[2].partition(')')[0]
        if answer['status'] != 'running':
            break
        time.sleep(0.05)
    raise RuntimeError(f'the server is not ready: {answer}')


def request(url):
    """With a generator, whose text comes as it is written; the last item is the result, too."""
    code = f'import urllib.request; print(urllib.request.urlopen("{url}", timeout=10).status)'
    for text in code_run(code, timeout=PATIENCE, echo=False):
        print(text, end='')
    return text['stdout'].strip()


def main():
    server = start_server()
    try:
        status = request(address_of(server))
    finally:
        stopped = stop_command(server)
    print(f'The server answered {status}; it was stopped, exit code {stopped["exit_code"]}.')


if __name__ == '__main__':
    main()
