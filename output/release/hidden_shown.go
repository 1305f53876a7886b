package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/output"
)

// shown counts the hidden tasks whose gold patch stands in a published base tree: all lines that it adds, in the files
// to which it adds them.
func (c *Candidate) shown(set *output.Dataset) (int, error) {
	if set == nil {
		return 0, nil
	}
	adds, is := map[string][]hiddenPatch{}, map[string]bool{}
	for _, r := range set.Rows {
		gold, err := r.GoldPatch()
		if err != nil {
			return 0, err
		}
		if lines := addedByFile(gold); len(lines) > 0 {
			adds[r.Repo] = append(adds[r.Repo], hiddenPatch{r.InstanceID, lines})
		}
	}
	published := slices.Clone(c.Tasks)
	for _, x := range set.Carry(func(r output.Row) bool { return r.Benchmint.Release.Part == output.HeldOut }) {
		published = append(published, Task{Row: x.Row.Row, carried: x})
	}
	for _, t := range published {
		if err := lookIn(t, adds[t.Row.Repo], is); err != nil {
			return 0, fmt.Errorf("%s: %w", t.Row.InstanceID, err)
		}
	}
	return len(is), nil
}

// lookIn notes the patches that stand in the base tree of a task.
func lookIn(t Task, patches []hiddenPatch, is map[string]bool) error {
	if len(patches) == 0 {
		return nil
	}
	base, err := t.carried.From.Base(t.Row)
	if err != nil {
		return err
	}
	files := map[string]string{}
	for _, e := range base.Entries() {
		files[e.Path] = string(e.Data)
	}
	for _, p := range patches {
		if p.in(files) {
			is[p.id] = true
		}
	}
	return nil
}

type hiddenPatch struct {
	id    string
	lines map[string][]string // by path
}

func (p hiddenPatch) in(files map[string]string) bool {
	for name, lines := range p.lines {
		text, there := files[name]
		if !there {
			return false
		}
		have := map[string]bool{}
		for l := range strings.Lines(text) {
			have[strings.TrimSpace(l)] = true
		}
		if slices.ContainsFunc(lines, func(l string) bool { return !have[l] }) {
			return false
		}
	}
	return true
}

// addedByFile are the lines that a patch adds, without white space at their ends and without short ones.
func addedByFile(patch []byte) map[string][]string {
	out, name := map[string][]string{}, ""
	for l := range strings.Lines(string(patch)) {
		switch {
		case strings.HasPrefix(l, "+++ "):
			name = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(l, "+++ "), "b/"))
		case strings.HasPrefix(l, "+"):
			if text := strings.TrimSpace(l[1:]); len(text) >= leastLine {
				out[name] = append(out[name], text)
			}
		}
	}
	return out
}

// leastLine is the least length of a line that says something of where it comes from.
const leastLine = 12
