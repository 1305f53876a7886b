package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tag is one tag that leads to a commit, annotated or not.
type Tag struct {
	Name    string
	Commit  string    // peeled
	Date    time.Time // commit date of Commit, UTC
	Tagged  time.Time // when an annotated tag was made; zero for others
	Message string    // of an annotated tag, without its signature
	OnLine  bool      // Commit is on the first-parent line
	// At is the newest commit of the line that the tag holds, counted from the head;
	// -1 where it holds none.
	At int
}

// History is what tags hold of the first-parent line, and what landed with what.
// It does not change.
type History struct {
	Tags  []Tag // newest first: by the line, then by date, then by name
	graph graph
	tags  map[string]int // by name
	side  map[string][]sideCommit
	picks map[int]map[int32]bool // position on the line: commits off it with the same patch
}

// graph is every commit that the head or a tag reaches, children before parents.
type graph struct {
	index map[string]int32
	nodes []node
	// sorted holds the IDs in order, for prefixes.
	sorted []string
}

type node struct {
	parents []int32
	date    time.Time
	// at is the newest position of the line among the commit and its ancestors;
	// landed is the oldest one that holds the commit. -1 for none.
	at, landed int
}

type sideCommit struct {
	node     int32
	from, to string
	picked   string // the commit that it says it was picked from
}

// History reads all tags and the commits below them: one stream of commits and,
// for annotated tags, one question each to a process that is there anyway. It is
// read once.
func (r *Repo) History(ctx context.Context) (*History, error) {
	r.past.Lock()
	defer r.past.Unlock()
	if r.history != nil {
		return r.history, nil
	}
	h := &History{tags: map[string]int{}}
	for _, ref := range r.tags {
		t, err := r.readTag(ctx, ref)
		if errors.Is(err, ErrMissing) {
			continue // of a tree or a blob, or of nothing: no release
		}
		if err != nil {
			return nil, fmt.Errorf("reading tag %s: %w", ref.name, err)
		}
		h.Tags = append(h.Tags, t)
	}
	if err := r.readGraph(ctx, h); err != nil {
		return nil, err
	}
	if err := r.findPicks(ctx, h); err != nil {
		return nil, err
	}
	for i, t := range h.Tags {
		h.tags[t.Name] = i
	}
	r.history = h
	return h, nil
}

// readTag peels a tag, and reads what an annotated one says.
func (r *Repo) readTag(ctx context.Context, ref ref) (Tag, error) {
	t := Tag{Name: strings.TrimPrefix(ref.name, "refs/tags/"), At: -1}
	var err error
	if t.Commit, err = r.objects.id(ctx, ref.id+"^{commit}"); err != nil || t.Commit == ref.id {
		return t, err
	}
	data, err := r.objects.get(ctx, "tag", ref.id)
	if err != nil {
		return t, err
	}
	head, message, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.Lines(head) {
		who, ok := strings.CutPrefix(strings.TrimSpace(line), "tagger ")
		fields := strings.Fields(who)
		if !ok || len(fields) < 2 {
			continue
		}
		if seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64); err == nil {
			t.Tagged = time.Unix(seconds, 0).UTC()
		}
	}
	for _, signature := range []string{"-----BEGIN PGP SIGNATURE-----", "-----BEGIN SSH SIGNATURE-----", "-----BEGIN SIGNED MESSAGE-----"} {
		message, _, _ = strings.Cut(message, signature)
	}
	t.Message = strings.TrimSpace(text(message))
	return t, nil
}

// readGraph reads every commit that the head or a tag reaches. Where that breaks
// off (a clone without all commits), only the line itself is known.
func (r *Repo) readGraph(ctx context.Context, h *History) error {
	g := graph{index: map[string]int32{}}
	tips := []string{r.info.Head}
	for _, t := range h.Tags {
		tips = append(tips, t.Commit)
	}
	cmd := command(ctx, r.view, "log", "--stdin", "--topo-order", "--no-show-signature", "--no-color", "--format=tformat:%H %ct %P")
	cmd.Stdin = strings.NewReader(strings.Join(tips, "\n") + "\n")
	out, err := output(cmd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		g.read(string(out))
	}
	for i, e := range r.line {
		if _, ok := g.index[e.commit]; !ok {
			g.add(e.commit, e.at)
		}
		n := &g.nodes[g.index[e.commit]]
		n.at, n.landed = i, i
	}
	g.settle()
	h.graph = g
	for i := range h.Tags {
		t := &h.Tags[i]
		id, ok := g.index[t.Commit]
		if !ok {
			continue
		}
		n := g.nodes[id]
		t.Date, t.At = n.date, n.at
		t.OnLine = n.at >= 0 && n.at < len(r.line) && r.line[n.at].commit == t.Commit
	}
	slices.SortFunc(h.Tags, func(a, b Tag) int {
		return cmp.Or(cmp.Compare(uint(a.At), uint(b.At)), b.Date.Compare(a.Date), b.Tagged.Compare(a.Tagged), strings.Compare(b.Name, a.Name))
	})
	return nil
}

func (g *graph) add(id string, at time.Time) int32 {
	n := int32(len(g.nodes))
	g.index[id] = n
	g.nodes = append(g.nodes, node{date: at, at: -1, landed: -1})
	return n
}

func (g *graph) read(rows string) {
	parents := map[int32][]string{}
	for row := range strings.Lines(rows) {
		f := strings.Fields(row)
		if len(f) < 2 {
			continue
		}
		seconds, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			seconds = 0
		}
		parents[g.add(f[0], time.Unix(seconds, 0).UTC())] = f[2:]
	}
	for n, ids := range parents {
		for _, id := range ids {
			if p, ok := g.index[id]; ok {
				g.nodes[n].parents = append(g.nodes[n].parents, p)
			}
		}
	}
	for id := range g.index {
		g.sorted = append(g.sorted, id)
	}
	slices.Sort(g.sorted)
}

// settle carries positions from the line to the commits beside it: up from
// parents to children (what a commit holds), and down (what landed with it).
func (g *graph) settle() {
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := &g.nodes[i]
		for _, p := range n.parents {
			if at := g.nodes[p].at; at >= 0 && (n.at < 0 || at < n.at) {
				n.at = at
			}
		}
	}
	for i := range g.nodes {
		n := g.nodes[i]
		for _, p := range n.parents {
			g.nodes[p].landed = max(g.nodes[p].landed, n.landed)
		}
	}
}

// Landed finds the change of the line that a commit came with, by its ID or the
// beginning of it; -1 where there is none, or more than one.
func (h *History) Landed(prefix string) int {
	prefix = strings.ToLower(prefix)
	i, _ := slices.BinarySearch(h.graph.sorted, prefix)
	all := h.graph.sorted[i:]
	if len(all) == 0 || !strings.HasPrefix(all[0], prefix) || len(all) > 1 && strings.HasPrefix(all[1], prefix) {
		return -1
	}
	return h.graph.nodes[h.graph.index[all[0]]].landed
}

// At is the newest commit of the line that a tag holds, counted from the head; -1
// for none, and for a tag that is not there.
func (h *History) At(tag string) int {
	if i, ok := h.tags[tag]; ok {
		return h.Tags[i].At
	}
	return -1
}

// Holds reports whether a tag holds the change at a position of the line: as an
// ancestor, or as the same patch on the tag's own branch.
func (h *History) Holds(tag string, position int) bool {
	i, ok := h.tags[tag]
	if !ok {
		return false
	}
	if at := h.Tags[i].At; at >= 0 && at <= position {
		return true
	}
	return slices.ContainsFunc(h.side[tag], func(s sideCommit) bool { return h.picks[position][s.node] })
}
