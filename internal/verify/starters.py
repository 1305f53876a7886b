# Opens a folder of Commit0's rows with the published harness's own code: rows, environment
# scripts, repositories and test IDs. GitHub's address is the folder's own repositories.
# Usage: starters.py DIR SPLIT WORK   Answer: one JSON object on standard output.
import importlib.metadata
import json
import logging
import os
import sys


def differences(folder, split, work):
    import bz2

    import commit0
    import datasets
    import git
    from commit0.harness import get_pytest_ids
    from commit0.harness.spec import make_spec
    from commit0.harness.utils import clone_repo

    datasets.disable_progress_bars()
    logger = logging.getLogger("commit0")
    commit0.__file__ = os.path.join(folder, "__init__.py")  # where the harness looks for data/test_ids
    rows = datasets.load_dataset(folder, split=split, cache_dir=os.path.join(work, "cache"))
    yield len(rows)
    for row in rows:
        name = row["repo"].split("/")[-1]
        script = make_spec(row).setup_script
        for want in (row["base_commit"], row["reference_commit"], f"--python {row['setup']['python']}", row["repo"]):
            if want not in script:
                yield f"{name}: the set-up script of the harness lacks {want}"
        ids = get_pytest_ids.main(name, 0)
        with bz2.open(os.path.join(folder, "data", "test_ids", name.lower().replace(".", "-") + ".bz2"), "rt") as f:
            if ids != f.read().split("\n") or not ids or "" in ids:
                yield f"{name}: the harness reads {len(ids)} test IDs, or an empty one"
        for kind in ("repos", "reference"):
            # GIT_CONFIG_* turn the address of GitHub into the folder's.
            os.environ["GIT_CONFIG_COUNT"], os.environ["GIT_CONFIG_VALUE_0"] = "1", "https://github.com/"
            os.environ["GIT_CONFIG_KEY_0"] = f"url.{folder}/{kind}/.insteadOf"
            with open(os.path.join(folder, kind, row["repo"] + ".git", "HEAD"), encoding="ascii") as f:
                branch = f.read().strip().removeprefix("ref: refs/heads/")
            repo = clone_repo(f"https://github.com/{row['repo']}.git", os.path.join(work, kind, name), branch, logger)
            if repo.head.commit.hexsha != row["base_commit"]:
                yield f"{name}: {branch} of {kind} is at {repo.head.commit.hexsha}, the row says {row['base_commit']}"
            if repo.head.commit.parents:
                yield f"{name}: the starter in {kind} has a parent"
            try:
                repo.commit(row["reference_commit"])
                there = True
            except (git.exc.BadName, ValueError):
                there = False
            if there != (kind == "reference"):
                yield f"{name}: the solution is {'' if there else 'not '}in {kind}"
            if not os.path.isdir(os.path.join(work, kind, name, row["src_dir"])) or not os.path.exists(os.path.join(work, kind, name, row["test"]["test_dir"])):
                yield f"{name}: src_dir or test_dir is not in {kind}"


def main():
    answer = {"client": "commit0 " + importlib.metadata.version("commit0"), "rows": 0, "formats": [{"format": "commit0", "rows": 0, "difference": "", "columns": {}}]}
    try:
        said = differences(*sys.argv[1:])
        answer["rows"] = answer["formats"][0]["rows"] = next(said)
        answer["formats"][0]["difference"] = "\n".join(said)
    except Exception as err:  # what a user would see
        answer["formats"][0]["difference"] = f"{type(err).__name__}: {err}"[:2000] or "unknown"
    json.dump(answer, sys.stdout)


main()
