"""Drop-ins for the command runners of two other systems: a program written for one works by changing
its import. What they do better on purpose stands in docs/python.md.

    from rein.compat.genericagent import code_run
    from rein.compat.praisonai import execute_command, get_command_output, stop_command
"""
