# Has Inspect judge the tasks of a folder by its reader of Harbor's tasks.
# Usage: inspect.py FOLDER gold|nop JOBS LOGS ANSWERS   Answer: a JSON file in ANSWERS for each task.
import json
import os
import sys

folder, case, jobs, logs, answers = sys.argv[1:]
sys.path.pop(0)  # this file has the name of a module of Python

from inspect_ai import eval
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.solver import solver
from inspect_harbor import harbor, oracle


@solver
def nothing():
    async def solve(state, generate):
        return state

    return solve


@hooks(name="answers", description="writes the verdict of each task")
class Answers(Hooks):
    async def on_sample_end(self, data: SampleEnd) -> None:
        sample = data.sample
        answer = {"id": str(sample.id)}
        if sample.error:
            answer["fault"] = sample.error.message
        for score in (sample.scores or {}).values():
            answer["reward"] = score.value
        with open(os.path.join(answers, data.sample_id + ".json"), "w", encoding="utf-8") as f:
            json.dump(answer, f)


log = eval(
    harbor(path=folder), solver=oracle() if case == "gold" else nothing(), model="mockllm/model",
    display="plain", log_dir=logs, max_samples=int(jobs), fail_on_error=False,
)[0]
if log.status != "success":
    sys.exit(log.error.message if log.error else log.status)
