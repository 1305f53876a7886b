#!/usr/bin/env bash
# From a dataset to graded answers with mini-swe-agent: makes the images, has the agent answer each
# task in a container without a network, and grades what it submits. docs/solving.md explains it.
# Usage: bench/miniswe/run.sh DATASET MODEL FOLDER [OPTION of mini-extra swebench…]
# MODEL and its key are as litellm names them. FOLDER gets rows/, run/ and eval/; the same command
# goes on where it was. BENCHMINT names the program where it is not in PATH.
set -euo pipefail
usage='usage: bench/miniswe/run.sh DATASET MODEL FOLDER [OPTION…]'
dataset=${1:?$usage} model=${2:?$usage} to=${3:?$usage}
shift 3
benchmint=${BENCHMINT:-benchmint}
mkdir -p "$to"
"$benchmint" images build "$dataset"
# The rows that every kind of task has: the agent reads the statement and the image's name alone.
rm -rf "$to/rows"
"$benchmint" export --format huggingface --to "$to/rows" "$dataset"
# The agent asks nothing again that has an entry, also where the model's server or Docker failed.
[ ! -e "$to/run/preds.json" ] || uv run --no-project python - "$to/run" <<'EOF'
import json, pathlib, sys

run = pathlib.Path(sys.argv[1])


def answered(task, prediction):
    trajectory = run / task / f"{task}.traj.json"
    return prediction["model_patch"] or trajectory.exists() and "traceback" not in json.loads(trajectory.read_text())["info"]


predictions = json.loads((run / "preds.json").read_text())
(run / "preds.json").write_text(json.dumps({t: p for t, p in predictions.items() if answered(t, p)}))
EOF
for rows in "$to"/rows/*.parquet; do
  uv tool run --python '>=3.10' --from mini-swe-agent==2.4.6 --with litellm==1.110.2 --with datasets==5.2.0 mini-extra swebench \
    --subset "$to/rows" --split "$(basename "$rows" .parquet)" -o "$to/run" -m "$model" -c swebench.yaml \
    -c 'environment.run_args=["--rm","--network","none"]' "$@"
done
"$benchmint" eval "$dataset" "$to/run" --output "$to/eval"
