# Loads a dataset's folder with Hugging Face datasets, as a user would, and compares
# every row with the JSONL as Python's own json reads it.
# Usage: load.py DIR SPLIT FROM REVISION FORMAT…   Answer: one JSON object on standard output.
# FROM is the folder itself, with an empty REVISION, or a repository on a hub.
# Standard input: nothing, or an object with the IDs of the rows of each configuration by its name.
import json
import os
import sys
import tempfile


def first_difference(want, got):
    for n, (a, b) in enumerate(zip(want, got)):
        if list(a) != list(b):
            return f"row {n + 1}: columns {list(b)}, the JSONL has {list(a)}"
        for key in a:
            if type(a[key]) is not type(b[key]) or a[key] != b[key]:
                return f"row {n + 1} ({a.get('instance_id')}): {key} is {b[key]!r:.80}, the JSONL has {a[key]!r:.80}"
    if len(want) != len(got):
        return f"{len(got)} rows, the JSONL has {len(want)}"
    return ""


def silent(err):
    """Whether a hub did not answer, anywhere below an error."""
    while err is not None:
        status = getattr(getattr(err, "response", None), "status_code", None) or getattr(err, "status", 0)
        if isinstance(err, (ConnectionError, TimeoutError)) or type(err).__module__.split(".")[0] in ("httpx2", "httpcore2", "aiohttp"):
            return not status or status in (408, 429) or status >= 500
        if isinstance(status, int) and (status in (408, 429) or status >= 500):
            return True
        err = err.__cause__ or err.__context__
    return False


def listed(rows):
    """The rows with the lists that they hold as JSON text."""
    return [{k: json.loads(v) if k in ("FAIL_TO_PASS", "PASS_TO_PASS") else v for k, v in row.items()} for row in rows]


def configurations(datasets, source, revision):
    try:
        return sorted(datasets.get_dataset_config_names(source, revision=revision))
    except Exception as err:  # loading says why
        return None if silent(err) else []


def main():
    folder, split, source, revision, formats = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4] or None, sys.argv[5:]
    import datasets
    import pyarrow

    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    rows = f"data/{split}.jsonl"
    if not os.path.exists(os.path.join(folder, rows)):  # rows alone
        rows = f"{split}.jsonl"
    with open(os.path.join(folder, rows), encoding="utf-8") as f:
        want = [json.loads(line) for line in f]
    python = sys.version.split()[0]
    answer = {"client": f"datasets {datasets.__version__}, pyarrow {pyarrow.__version__}, Python {python}", "rows": len(want), "formats": []}
    belong = json.loads(sys.stdin.read() or "{}")
    named = configurations(datasets, source, revision) if belong else None
    if named is not None and named != sorted(["default", *belong]):
        text = f"the card names the configurations {named}, the rows make {sorted(['default', *belong])}"
        answer["formats"].append({"format": "configurations", "rows": 0, "difference": text, "columns": {}})
    for name in [*formats, *belong]:
        ids = set(belong.get(name, ()))
        wanted = [row for row in want if row["instance_id"] in ids] if name in belong else want
        one = {"format": name, "rows": 0, "difference": "", "columns": {}}
        how = {"data_files": {split: rows}} if name == "jsonl" else {"name": name} if name == "lists" or name in belong else {}
        try:
            with tempfile.TemporaryDirectory() as cache:
                got = datasets.load_dataset(source, revision=revision, split=split, cache_dir=cache, **how)
                one["rows"] = len(got)
                one["columns"] = {column: str(getattr(feature, "dtype", feature)) for column, feature in got.features.items()}
                one["difference"] = first_difference(listed(wanted) if name == "lists" else wanted, got)
        except Exception as err:  # what a user would see, with what lies below it
            one["silent"] = silent(err)
            while err is not None:
                one["difference"] += f"{type(err).__name__}: {err}\n"[:2000]
                err = err.__cause__
        answer["formats"].append(one)
        if one.get("silent"):  # each question is asked for half a minute
            break
    json.dump(answer, sys.stdout)


main()
