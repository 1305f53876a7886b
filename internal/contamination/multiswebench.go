package contamination

import (
	"fmt"
	"strconv"
	"strings"
)

// multiSWEBench are rows of Multi-SWE-bench; its statement is the issues that a pull request resolves.
var multiSWEBench = family{
	name:  "Multi-SWE-bench",
	needs: []string{"org", "repo", "number", "base", "fix_patch"},
	wants: []string{"base.sha", "test_patch", "title", "body", "resolved_issues.title", "resolved_issues.body"},
	read:  readMultiSWEBench,
}

// multiSWEBenchFlat are the same as collections of several benchmarks have them.
var multiSWEBenchFlat = family{
	name:  "Multi-SWE-bench, flat",
	needs: []string{"org", "repo", "number", "base_commit", "fix_patch"},
	wants: []string{"test_patch", "title", "body", "problem"},
	read:  readMultiSWEBench,
}

func readMultiSWEBench(c cells) (Task, error) {
	n, err := strconv.Atoi(c["number"])
	if err != nil {
		return Task{}, fmt.Errorf("number %q is none", c["number"])
	}
	t := Task{
		Repo: c["repo"], Number: n, Patch: c["fix_patch"], Tests: c["test_patch"], Kind: Change, Bases: []string{c.first("base.sha", "base_commit")},
	}
	if c["org"] != "" {
		t.Repo = c["org"] + "/" + c["repo"]
	}
	t.ID = fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Repo, "/", "__"), n)
	var texts []string
	for _, name := range []string{"title", "body", "problem", "resolved_issues.title", "resolved_issues.body"} {
		if c[name] != "" {
			texts = append(texts, c[name])
		}
	}
	t.Statement = strings.Join(texts, "\n\n")
	return t, nil
}
