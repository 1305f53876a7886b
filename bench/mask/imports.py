"""imports.py FOLDER MODULE…: imports each module from the folder, and prints its name
and, where it fails, why; a line each, behind a tab."""
import contextlib
import importlib
import os
import sys


def why(folder, name):
    try:
        module = importlib.import_module(name)
    except BaseException as e:  # also an exit
        return f"{type(e).__name__}: {e}".replace("\n", " ")[:300]
    at = getattr(module, "__file__", None) or ""
    return "" if at.startswith(folder + os.sep) else f"it is taken from {at}"


def main(folder, *modules):
    for root in ("python", "lib", "src"):
        if os.path.isdir(os.path.join(folder, root)):
            sys.path.insert(0, os.path.join(folder, root))
    sys.path.insert(0, folder)
    said = os.fdopen(os.dup(1), "w")
    with contextlib.redirect_stdout(sys.stderr):
        for name in modules:
            print(name, why(folder, name), sep="\t", file=said, flush=True)
    os._exit(0)  # threads of what was imported may wait for ever


main(os.path.realpath(sys.argv[1]), *sys.argv[2:])
