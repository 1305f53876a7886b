"""nine.py PROGRAM FOLDER RECORD: masks each FOLDER/LANGUAGE/NAME with PROGRAM (strict), and
writes to RECORD what became of the functions of that language.
nine.py --compare BEFORE AFTER: what differs between two records, function by function.

--verify takes NAME.with beside NAME, the same tree with what its build needs, and the class
path in FOLDER/NAME.cp, if they are there. Toolchains are those of $PATH.
It never writes into FOLDER, and never takes the word of PROGRAM for bytes: what the
manifest does not name as a body or a repair must be as in the source."""
import collections
import glob
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time


def run(*command):
    """The exit code, what was said, and the seconds: by the clock, and of the processor."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.returncode, ended.stdout, (time.monotonic() - start, sum(after[:2]) - sum(before[:2]))


def read(path, mode="rb"):
    with open(path, mode) as f:
        return f.read()


def tree(root):
    """Each path below a folder with its permissions and its bytes, or where it links to."""
    found = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in (".git", ".hg", ".svn", ".bzr", "CVS")]
        for at in (os.path.join(folder, name) for name in files + folders):
            if os.path.islink(at):
                found[os.path.relpath(at, root)] = "link", os.readlink(at).encode()
            elif os.path.isfile(at):
                found[os.path.relpath(at, root)] = oct(os.stat(at).st_mode & 0o777), read(at)
    return found


def body(old, new, digest):
    """How far from the start and the end of a function its body is, which has this digest and
    holds all that differs; None where there is none such."""
    head, tail = len(os.path.commonprefix([old, new])), len(os.path.commonprefix([old[::-1], new[::-1]]))
    ranges = ((start, after) for after in range(tail + 1) for start in range(min(head, len(old) - after), -1, -1))
    return next((r for r in ranges if hashlib.sha256(old[r[0]:len(old) - r[1]]).hexdigest() == digest), None)


def outside(source, out, record):
    """How a file differs outside of its edits; None where it does not."""
    edits = [(r["span"]["start"], r["span"]["end"], r["output"]["end"], None) for r in record.get("repairs", [])]
    for d in record.get("functions", []):
        if d["done"] == "masked":
            a, b, c, e = *d["span"].values(), *d["output"].values()
            at = body(source[a:b], out[c:e], d["before"])
            if at is None:
                return d["name"] + " differs outside of its body"
            edits.append((a + at[0], b - at[1], e - at[1], d["after"]))
    came = went = 0
    for start, end, last, after in sorted(edits, key=lambda e: e[:2]):
        first = went + start - came
        if start < came or source[came:start] != out[went:first]:
            return "bytes %d to %d differ" % (came, start)
        if after and hashlib.sha256(out[first:last]).hexdigest() != after:
            return "the body at byte %d is not that of the manifest" % start
        came, went = end, last
    return None if source[came:] == out[went:] else "bytes from %d on differ" % came


def differing(source, starter, manifest):
    """The files of a starter that differ in more than the edits of the manifest."""
    records = {f["path"]: f for f in json.loads(read(manifest))["files"]}
    for path in sorted(source.keys() | starter.keys()):
        (kind, a), (other, b) = (t.get(path, ("missing", b"")) for t in (source, starter))
        why = outside(a, b, records.get(path, {})) if kind == other else "%s, and was %s" % (other, kind)
        if why:
            yield path + ": " + why


def functions(manifest, language):
    """What became of each, the lines of the outermost, and how many of those are left."""
    fates, names, lines, left = {}, collections.Counter(), 0, 0
    for f in (f for f in json.loads(read(manifest))["files"] if f.get("language") == language):
        end = 0
        for d in sorted(f.get("functions", []), key=lambda d: (d["span"]["start"], -d["span"]["end"])):
            name = f["path"] + "::" + d["name"]
            names[name] += 1
            fates[name + "'" * (names[name] - 1)] = d.get("reason", d["done"])
            if d["span"]["end"] > end:
                end, counted = d["span"]["end"], (d["construct"], d["done"]) != ("test", "kept")
                lines, left = lines + counted * d["shape"]["lines"], left + counted * d["shape"]["lines"]
            left -= (d["done"] == "masked") * d["shape"]["lines"]
    return fates, lines, left


def measure(program, at, language, scratch):
    out, checked, jars = scratch + "/2", scratch + "/checked", "%s/../../%s.cp" % (at, os.path.basename(at))
    runs = [run(program, "mask", at, "--output", "%s/%d" % (scratch, i)) for i in range(3)]
    if runs[-1][0]:
        return {"failed": runs[-1][1]}
    source, (fates, lines, left) = tree(at), functions(out + ".mask.json", language)
    differs = list(differing(source, tree(out), out + ".mask.json"))
    code, said, _ = run(program, "mask", "--undo", out + ".mask.undo", out)
    reasons = (re.sub(r"(?<=^runs when ).*|(: |, from line).*", "…", why) for why in fates.values() if why not in ("masked", "gone"))
    clock, processor = (round(sorted(r[2][i] for r in runs)[1], 3) for i in (0, 1))
    path = ["--classpath", read(jars, "r").strip()] if os.path.exists(jars) else []
    _, seen, _ = run(program, "mask", at + ".with" * os.path.isdir(at + ".with"), "--output", checked, "--verify", "--json", *path)
    checks = json.loads(seen[:seen.rindex("}") + 1])["verify"] if seen.startswith("{") else [{"language": language, "state": seen}]
    return {"functions": len(fates), "masked": list(fates.values()).count("masked"), "kept": dict(collections.Counter(reasons).most_common()),
            "lines": lines, "left": left, "share_left": round(left / max(1, lines), 4), "outside": differs or "equal",
            "undo": "exact" if code == 0 and tree(out) == source else "differs: " + said,
            "seconds": clock, "processor": processor, "verify": [v for v in checks if v["language"] == language], "fates": fates,
            "verified": functions(checked + ".mask.json", language)[0] if os.path.exists(checked + ".mask.json") else {}}


def row(r):
    checks = ["%s %s %d/%d" % (v.get("check", ""), v["state"], v.get("held", 0), v.get("units", 0)) for v in r["verify"]]
    counts = "%(functions)4d functions %(masked)4d masked %(share_left).3f left  outside %(outside)s  undo %(undo)s" % r
    return "%s  %.2f s (%.2f)  %s" % (counts, r["seconds"], r["processor"], "; ".join(checks))


def compare(name, a, b):
    for key in (k for k in {**a, **b} if a.get(k) != b.get(k)):
        if isinstance(a.get(key), dict) and isinstance(b.get(key), dict):
            compare(name + "  " + key, a[key], b[key])
        else:
            print("%s  %s: %s -> %s" % (name, key, a.get(key, "-"), b.get(key, "-")))


def main(program, folder, to):
    if program == "--compare":
        return compare("", json.loads(read(folder)), json.loads(read(to)))
    record = {}
    for at in sorted(at for at in glob.glob(os.path.abspath(folder) + "/*/*") if os.path.isdir(at) and not at.endswith(".with")):
        name = os.path.relpath(at, folder)
        with tempfile.TemporaryDirectory(prefix="nine") as scratch:
            record[name] = measure(os.path.abspath(program), at, os.path.dirname(name), scratch)
        print("%-28s" % name, row(record[name]) if "verify" in record[name] else record[name], flush=True)
        with open(to, "w", encoding="utf-8") as f:
            json.dump(record, f, indent=1)


main(*sys.argv[1:])
