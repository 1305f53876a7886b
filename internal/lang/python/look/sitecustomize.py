"""Python imports this before the program: it starts the hook, then what the environment has of its own.

It must work on CPython 3.7 to 3.14, and must never raise into the service.
"""
import os
import sys


def start():
    """Starts the hook, and takes its folder off the path of the program."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        import benchmint_look
        benchmint_look.start()
    except Exception:  # a look without a hook is still a start
        pass
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or os.curdir) != here]


start()
ours = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401, the environment's own: its errors are its own, too
except ImportError as error:
    if error.name != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", ours)  # import looks for what it has loaded
