package gitrepo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// pickedFrom is what git cherry-pick -x writes.
var pickedFrom = lazyregexp.New(`(?m)^\(cherry picked from commit ([0-9a-f]{40})\)$`)

// findPicks finds the changes of the line that stand on the branches of tags as
// well: a release from another branch holds what was picked onto it. Commits that
// only tags reach are few; each costs one comparison of trees, and patches are
// made only of those that touch the same paths.
func (r *Repo) findPicks(ctx context.Context, h *History) error {
	h.side, h.picks = map[string][]sideCommit{}, map[int]map[int32]bool{}
	side, err := r.sideCommits(ctx, h)
	if err != nil || len(side) == 0 {
		return err
	}
	for _, t := range h.Tags {
		if id, ok := h.graph.index[t.Commit]; ok && !t.OnLine {
			h.side[t.Name] = h.graph.below(id, side)
		}
	}
	byPaths := map[string][]sideCommit{}
	for _, s := range side {
		if s.picked != "" {
			if at := h.Landed(s.picked); at >= 0 && r.line[at].commit == s.picked {
				h.pick(at, s)
				continue
			}
		}
		paths, err := r.pathsKey(ctx, s.from, s.to)
		if err != nil {
			return err
		}
		if paths != "" {
			byPaths[paths] = append(byPaths[paths], s)
		}
	}
	if len(byPaths) == 0 {
		return nil
	}
	for i := range len(r.line) - 1 {
		if !r.mayBePicked(h, i) {
			continue
		}
		if err := r.pickOne(ctx, h, i, byPaths); err != nil {
			return err
		}
	}
	return nil
}

// mayBePicked looks at places and dates alone: what is picked for a release landed
// after the release's branch left the line, and before the release.
func (r *Repo) mayBePicked(h *History, i int) bool {
	const slack = 7 * 24 * time.Hour // clocks, and branches that were rebased
	return slices.ContainsFunc(h.Tags, func(t Tag) bool {
		return len(h.side[t.Name]) > 0 && i < t.At && r.line[i].at.Before(t.Date.Add(slack))
	})
}

func (r *Repo) pickOne(ctx context.Context, h *History, i int, byPaths map[string][]sideCommit) error {
	from, to := r.line[i+1].tree, r.line[i].tree
	paths, err := r.pathsKey(ctx, from, to)
	if err != nil || len(byPaths[paths]) == 0 {
		return err
	}
	own, err := r.patchID(ctx, from, to)
	if err != nil || own == "" {
		return err
	}
	for _, s := range byPaths[paths] {
		id, err := r.patchID(ctx, s.from, s.to)
		if err != nil {
			return err
		}
		if id == own {
			h.pick(i, s)
		}
	}
	return nil
}

func (h *History) pick(position int, s sideCommit) {
	if h.picks[position] == nil {
		h.picks[position] = map[int32]bool{}
	}
	h.picks[position][s.node] = true
}

// sideCommits are those with one parent that tags reach and the head does not.
func (r *Repo) sideCommits(ctx context.Context, h *History) (map[int32]sideCommit, error) {
	var tips strings.Builder
	for _, t := range h.Tags {
		if id, ok := h.graph.index[t.Commit]; ok && h.graph.nodes[id].landed < 0 {
			tips.WriteString(t.Commit + "\n")
		}
	}
	if tips.Len() == 0 {
		return nil, nil
	}
	const fields = 4
	// The parents' trees are needed as well: they are read as a boundary.
	cmd := command(ctx, r.view, "log", "-z", "--stdin", "--boundary", "--no-show-signature", "--no-notes", "--no-color", "--encoding=UTF-8",
		"--format=tformat:%H%x00%T%x00%P%x00%B")
	cmd.Stdin = strings.NewReader(tips.String() + "^" + r.info.Head + "\n")
	out, err := output(cmd)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // commits that are not there cost the picks, not the releases
	}
	rows := strings.Split(string(out), "\x00")
	trees := map[string]string{}
	for i := 0; i+fields <= len(rows); i += fields {
		trees[rows[i]] = rows[i+1]
	}
	side := map[int32]sideCommit{}
	for i := 0; i+fields <= len(rows); i += fields {
		id, ok := h.graph.index[rows[i]]
		parent := rows[i+2]
		if !ok || h.graph.nodes[id].landed >= 0 || trees[parent] == "" {
			continue
		}
		s := sideCommit{node: id, from: trees[parent], to: rows[i+1]}
		if m := pickedFrom.FindStringSubmatch(rows[i+3]); m != nil {
			s.picked = m[1]
		}
		side[id] = s
	}
	return side, nil
}

// below are the side commits that a commit holds, itself included.
func (g *graph) below(tip int32, side map[int32]sideCommit) []sideCommit {
	var out []sideCommit
	seen, todo := map[int32]bool{}, []int32{tip}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] || g.nodes[n].landed >= 0 {
			continue
		}
		seen[n] = true
		if s, ok := side[n]; ok {
			out = append(out, s)
		}
		todo = append(todo, g.nodes[n].parents...)
	}
	return out
}
