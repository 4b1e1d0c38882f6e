"""Counts for a minute, one line at a time, and would go on if nobody stopped it."""

import time

for second in range(1, 61):
    print(f"step {second}", end=" ", flush=True)
    time.sleep(0.4)
    print("done")
