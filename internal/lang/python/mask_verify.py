"""Imports the modules of a plan, each in a process of its own, and reports each end."""
import importlib
import json
import os
import signal
import site
import sys
import time
import traceback

TREE = os.getcwd()


def inside(file):
    return bool(file) and os.path.isabs(file) and os.path.realpath(file).startswith(os.path.realpath(TREE) + os.sep)


def where(error):
    """The innermost place in the tree that the error came from."""
    found = "", 0
    if isinstance(error, SyntaxError) and inside(error.filename):
        return os.path.relpath(error.filename, TREE), error.lineno or 0
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if inside(file):
            found = os.path.relpath(os.path.realpath(file), TREE), line
    return found


def load(name):
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        path, line = where(error)
        text = str(error).strip().split("\n")[0]
        return {"message": type(error).__name__ + (": " + text if text else ""), "path": path, "line": line}
    spec = getattr(module, "__spec__", None)
    file = getattr(module, "__file__", None) or getattr(spec, "origin", None)
    if not inside(file):
        return {"message": "imported from outside of the tree: %s" % file, "path": "", "line": 0}
    return {}


def child(name, write):
    """Never returns: what a module starts or registers ends with its process."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    sys.argv = [""]
    try:
        end = json.dumps(load(name))
        os.write(write, end.encode("ascii"))
    finally:
        os._exit(0)


def wait(pid, seconds):
    """How the process ended, or nothing where its time ran out."""
    pause, end = 0.001, time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def run(name, seconds):
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        child(name, write)
    os.close(write)
    status = wait(pid, seconds)
    try:
        os.killpg(pid, signal.SIGKILL)  # what it left running
    except OSError:
        pass
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    if status is None:
        return {"message": "not imported within %d s" % seconds, "path": "", "line": 0}
    if said:
        return json.loads(said.decode("ascii"))
    how = "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "exit code %d" % os.WEXITSTATUS(status)
    return {"message": "the import ended the process: " + how, "path": "", "line": 0}


def main():
    with open(sys.argv[1]) as f:
        plan = json.load(f)
    for folder in plan["site"]:
        site.addsitedir(folder)
    sys.path[:1] = [os.path.normpath(os.path.join(TREE, root)) for root in plan["roots"]]
    with open(sys.argv[2], "w") as out:
        for name in plan["modules"]:
            end = run(name, plan["seconds"])
            end["unit"] = name
            out.write(json.dumps(end) + "\n")


main()
