package contamination

import (
	"errors"
	"strings"
)

// sweSmith are rows of SWE-smith: the patch adds the fault, and the solution is its way back. The commit stands in the
// repository's name (swesmith/owner__name.1a2b3c4d).
var sweSmith = family{
	name:  "SWE-smith",
	needs: []string{"instance_id", "repo", "patch", "image_name"},
	not:   []string{"base_commit"},
	wants: []string{"problem_statement"},
	read: func(c cells) (Task, error) {
		t := Task{ID: c["instance_id"], Repo: c["repo"], Patch: c["patch"], Reversed: true, Statement: c["problem_statement"], Kind: Change}
		if t.ID == "" {
			return t, errors.New("it has no instance_id")
		}
		if m := commitEnd.FindStringSubmatch(strings.ToLower(t.Repo)); m != nil {
			t.Bases = []string{m[1]}
		}
		return t, nil
	},
}
