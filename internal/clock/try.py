# Ends badly unless the clock is ahead of argv[1], the real time, and waiting takes as long as ever.
import queue, signal, sys, threading, time

signal.alarm(60)  # where a wait does not end, the process does
ahead = time.time() - int(sys.argv[1])
assert AHEAD - 5 < ahead < AHEAD + 600, "the clock is %d seconds ahead" % ahead


def get():
    try:
        queue.Queue().get(timeout=0.05)
    except queue.Empty:
        pass


for wait in (lambda: time.sleep(0.05), lambda: threading.Event().wait(0.05), get):
    began = time.monotonic()
    wait()
    took = time.monotonic() - began
    assert 0.045 < took < 30, "a wait of 0.05 s took %.3f s" % took
