package contamination

import (
	"errors"
	"strconv"
)

// sweBench are rows as SWE-bench has them; so have its Lite, Verified, Multilingual, Live and Pro, SWE-rebench, SWE-Gym
// and others.
var sweBench = family{
	name:  "SWE-bench",
	needs: []string{"instance_id", "repo", "base_commit", "patch"},
	wants: []string{"problem_statement", "test_patch", "pull_number", "pr_number"},
	read: func(c cells) (Task, error) {
		t := Task{ID: c["instance_id"], Repo: c["repo"], Patch: c["patch"], Tests: c["test_patch"], Statement: c["problem_statement"], Kind: Change, Bases: []string{c["base_commit"]}}
		if t.ID == "" || t.Repo == "" {
			return t, errors.New("it has no instance_id or no repo")
		}
		_, t.Number = numbered(t.ID)
		if n, err := strconv.Atoi(c.first("pull_number", "pr_number")); err == nil {
			t.Number = n
		}
		return t, nil
	},
}
