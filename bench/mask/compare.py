"""compare.py ORACLE SOURCE STARTER SRC TESTS MODE: holds a starter of the commit0
profiles against the oracle's, file by file, after both went through this
interpreter's parser and unparser. It prints one JSON object.

It never changes SOURCE or STARTER."""
import ast
import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile

EMPTY = re.compile(r"expected an indented block after .* on line (\d+)")


def readable(path):
    """The text, as the oracle reads it, and why it cannot be read or parsed."""
    try:
        with open(path, encoding="utf-8-sig") as f:
            text = f.read()
        ast.parse(text)
        return text, None
    except (SyntaxError, ValueError, RecursionError) as e:
        return None, "this CPython does not parse the source (%s)" % type(e).__name__


def modules(root):
    for folder, _, files in os.walk(root):
        for name in files:
            if name.endswith(".py"):
                yield os.path.relpath(os.path.join(folder, name), root)


def staged(source, root):
    """A copy of all folders, by whose names the oracle tells tests, and of the modules
    that parse: the oracle ends at the first that does not."""
    for folder, folders, _ in os.walk(source):
        for name in folders:
            os.makedirs(os.path.join(root, os.path.relpath(folder, source), name), exist_ok=True)
    faults = {}
    for path in modules(source):
        at = os.path.join(source, path)
        if os.path.islink(at):
            continue
        _, fault = readable(at)
        if fault:
            faults[path] = fault
            continue
        shutil.copyfile(at, os.path.join(root, path))
    return faults


def run_oracle(oracle, *args):
    """Runs it as it is, but for the order of folders, which it leaves to the file
    system: here it is that of names."""
    plain = os.walk

    def by_name(top, *rest, **named):
        for folder, folders, files in plain(top, *rest, **named):
            folders.sort()
            yield folder, folders, files

    said = io.StringIO()
    argv, sys.argv = sys.argv, [oracle, *args]
    os.walk = by_name
    try:
        with contextlib.redirect_stdout(said), open(oracle, encoding="utf-8") as f:
            exec(compile(f.read(), oracle, "exec"), {"__name__": "oracle"})
    finally:
        sys.argv, os.walk = argv, plain
    return json.loads(said.getvalue())


def refilled(text):
    """Text with pass in the blocks that were left empty; None where more is wrong."""
    for _ in range(10_000):
        try:
            ast.parse(text)
            return text
        except SyntaxError as e:
            found = EMPTY.search(e.msg)
            lines = text.split("\n")
            if found:
                at = int(found[1]) - 1
                head = lines[at]
                lines.insert(at + 1, " " * (len(head) - len(head.lstrip()) + 4) + "pass")
            elif "expected 'except' or 'finally' block" in e.msg:
                at = e.lineno - 1
                while at > 0 and not lines[at].strip().startswith("try:"):
                    at -= 1
                blank = " " * (len(lines[at]) - len(lines[at].lstrip()))
                lines[e.lineno - 1:e.lineno - 1] = [blank + "finally:", blank + "    pass"]
            else:
                return None
            text = "\n".join(lines)
    return None


def same(path, oracle, ours):
    """A word for how two files compare, and a place where they do not."""
    with open(oracle, encoding="utf-8") as f:
        theirs = f.read()
    try:
        with open(ours, encoding="utf-8-sig") as f:
            mine = ast.unparse(ast.parse(f.read()))
    except (OSError, SyntaxError, ValueError) as e:
        return "differs", "ours: %s" % e
    filled = refilled(theirs)
    if filled is None:
        return "differs", "the oracle's file parses in no way"
    if ast.unparse(ast.parse(filled)) == mine:
        return ("equal", "") if filled == theirs else ("explained", "the published tool leaves a block empty")
    a, b = filled.split("\n"), mine.split("\n")
    for i in range(max(len(a), len(b))):
        x, y = (a[i:i + 1] or [None])[0], (b[i:i + 1] or [None])[0]
        if x != y:
            return "differs", "line %d: oracle %r, ours %r" % (i + 1, x, y)
    return "differs", "?"


def identical(a, b):
    with open(a, "rb") as f, open(b, "rb") as g:
        return f.read() == g.read()


def main(oracle, source, starter, src, tests, mode):
    sys.setrecursionlimit(10_000)
    result = {"equal": 0, "explained": {}, "differs": {}, "untouched": 0}
    with tempfile.TemporaryDirectory(prefix="mask") as scratch:
        root, out = os.path.join(scratch, "root"), os.path.join(scratch, "out")
        os.makedirs(root), os.makedirs(out)
        faults = staged(source, root)
        result["oracle"] = run_oracle(oracle, root, src, tests, out, mode)
        made = set(modules(out))
        for path in sorted(made):
            word, why = same(path, os.path.join(out, path), os.path.join(starter, path))
            if word == "equal":
                result["equal"] += 1
            else:
                result[word][path] = why
        for path in modules(source):
            if path in made:
                continue
            if path in faults:
                result["explained"][path] = faults[path]
            elif identical(os.path.join(source, path), os.path.join(starter, path)):
                result["untouched"] += 1
            else:
                result["differs"][path] = "the oracle leaves it, ours changed it"
    print(json.dumps(result))


main(*sys.argv[1:])
