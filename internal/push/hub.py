# Talks to a hub with huggingface_hub, one verb at a time.
# Usage: hub.py VERB   Standard input: one JSON object. Answer: one JSON object on standard output,
# with "fault" for what the hub refused or did not answer.
import json
import os
import sys

import httpx2
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import HfHubHTTPError, RemoteEntryNotFoundError, RepositoryNotFoundError
from huggingface_hub.utils import disable_progress_bars

KIND = "dataset"


def files(api, repo, commit):
    """Each file of a commit, with the name of its content."""
    out = {}
    for entry in api.list_repo_tree(repo, recursive=True, revision=commit, repo_type=KIND):
        if hasattr(entry, "blob_id"):  # a file, and not a folder
            out[entry.path] = f"sha256:{entry.lfs.sha256}" if entry.lfs else f"blob:{entry.blob_id}"
    return out


def text(api, repo, commit, path):
    try:
        with open(api.hf_hub_download(repo, path, repo_type=KIND, revision=commit), encoding="utf-8") as f:
            return f.read()
    except RemoteEntryNotFoundError:  # and no local one, which is a hub that is silent
        return None


def look(api, q):
    repo = q["repo"]
    try:
        info = api.repo_info(repo, repo_type=KIND)
    except RepositoryNotFoundError:
        api.whoami()  # a token that is not good finds nothing either
        return {"there": False}
    refs = api.list_repo_refs(repo, repo_type=KIND)
    head = next((b.target_commit for b in refs.branches if b.name == "main"), "")
    return {
        "there": True,
        "open": not info.private and not info.gated,
        "head": head,
        "record": text(api, repo, head, q["record"]) if head else None,
        "files": files(api, repo, head) if head else {},
        "tags": {t.name: t.target_commit for t in refs.tags},
    }


def records(api, q):
    return {"records": {tag: text(api, q["repo"], commit, q["record"]) for tag, commit in q["tags"].items()}}


def create(api, q):
    api.create_repo(q["repo"], repo_type=KIND, private=q["private"])
    return look(api, q)


def commit(api, q):
    # Deletes first: a path may be a folder in one version and a file in the next.
    operations = [CommitOperationDelete(path, is_folder=False) for path in q["deletes"]]
    operations += [CommitOperationAdd(path, file) for path, file in q["adds"].items()]
    subject, _, description = q["message"].partition("\n")
    made = api.create_commit(
        q["repo"], operations, commit_message=subject, commit_description=description.strip(),
        repo_type=KIND, revision="main", parent_commit=q["parent"],
    )
    return {"head": made.oid, "files": files(api, q["repo"], made.oid)}


def tag(api, q):
    api.create_tag(q["repo"], tag=q["tag"], tag_message=q["message"], revision=q["head"], repo_type=KIND)
    return {"tags": {t.name: t.target_commit for t in api.list_repo_refs(q["repo"], repo_type=KIND).tags}}


def fault(err):
    """Status and words of what a hub said; status 0 is silence, None is a fault of something else."""
    first = err
    while err is not None:
        if isinstance(err, HfHubHTTPError):
            return {"status": err.response.status_code, "text": err.server_message or str(err)}
        if isinstance(err, (httpx2.TransportError, ConnectionError, TimeoutError)):
            return {"status": 0, "text": str(err) or type(err).__name__}
        err = err.__cause__
    return {"status": None, "text": f"{type(first).__name__}: {first}"}


def main():
    disable_progress_bars()
    verb = {"look": look, "records": records, "create": create, "commit": commit, "tag": tag}[sys.argv[1]]
    try:
        answer = verb(HfApi(token=os.environ["HF_TOKEN"]), json.load(sys.stdin))
    except Exception as err:
        answer = {"fault": fault(err)}
    json.dump(answer, sys.stdout)


main()
