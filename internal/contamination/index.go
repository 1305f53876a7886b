package contamination

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Bounds that were measured (docs/releases.md).
const (
	// patchWeight are the letters and digits that the changed lines of a patch have at least, and patchLines how many
	// lines, equal ones once, for equal lines alone to say that two tasks are one.
	patchWeight, patchLines = 60, 4
	// boilerplate is how many tasks of a set, or of ours, hold what is no sign of any of them.
	boilerplate = 3
	// fewGrams and fewShingles are too few to remove a task.
	fewGrams, fewShingles = 20, 6
	// ownShare is how much of our task is in another one at least for shingles to remove it.
	ownShare = 0.3
	// wholeStatement is the share of the longer statement from which on it removes a task whose code is another one.
	wholeStatement = 0.95
	// fewLines and fewTests are too few changed lines of code and of tests for both together to remove a task, and
	// halfLines is the share of the smaller patch that is needed.
	fewLines, fewTests, halfLines = 3, 5, 0.5
)

// entry is one of our tasks.
type entry struct {
	Task
	*prints
	name  string // folded
	lines [][]string
	set   *SetRef // of a catalogue
}

// Index holds our tasks by what they are compared by.
type Index struct {
	options  Options
	names    folder
	tasks    []entry
	numbers  map[string][]int
	commits  map[string][]int // by eight digits
	bases    map[string][]int // by eight digits
	releases map[string][]int // by repository, of libraries
	ids      map[string][]int
	blanks   map[[32]byte][]int
	shingles map[uint64][]int
	grams    map[uint64][]int
	words    map[uint64][]int
	only     map[uint64][]int
}

// New makes the index of our tasks.
func New(ours []Task, o Options) *Index {
	x := &Index{
		options: o, names: newFolder(o.Aliases), numbers: map[string][]int{}, commits: map[string][]int{}, bases: map[string][]int{},
		releases: map[string][]int{}, ids: map[string][]int{}, blanks: map[[32]byte][]int{}, shingles: map[uint64][]int{}, grams: map[uint64][]int{}, words: map[uint64][]int{}, only: map[uint64][]int{},
	}
	for _, t := range ours {
		e := entry{Task: t, prints: printsOf(&t)}
		for _, f := range e.files {
			e.lines = append(e.lines, signed(f, '+'))
		}
		x.add(e)
	}
	for _, m := range []map[uint64][]int{x.shingles, x.grams, x.words, x.only} {
		for k, in := range m {
			if len(in) >= boilerplate {
				delete(m, k)
			}
		}
	}
	for i := range x.tasks {
		e := &x.tasks[i]
		e.shingles = slices.DeleteFunc(e.shingles, func(s shingle) bool { return len(x.shingles[s.hash]) == 0 })
		e.grams = slices.DeleteFunc(e.grams, func(g uint64) bool { return len(x.grams[g]) == 0 })
		e.words = slices.DeleteFunc(e.words, func(g uint64) bool { return len(x.words[g]) == 0 })
		e.only = slices.DeleteFunc(e.only, func(l uint64) bool { return len(x.only[l]) == 0 })
	}
	return x
}

func (x *Index) add(e entry) {
	i := len(x.tasks)
	e.Patch, e.Tests, e.name = "", "", x.names.of(e.Repo)
	x.tasks = append(x.tasks, e)
	if e.Number > 0 && e.Kind == Change {
		k := numberKey(e.name, e.Number)
		x.numbers[k] = append(x.numbers[k], i)
	}
	if c := short(e.Commit); c != "" {
		x.commits[c] = append(x.commits[c], i)
	}
	for _, b := range e.Bases {
		if b = short(b); b != "" {
			x.bases[b] = append(x.bases[b], i)
		}
	}
	if e.Kind == Library {
		x.releases[e.name] = append(x.releases[e.name], i)
	}
	if e.patchID != "" {
		x.ids[e.patchID] = append(x.ids[e.patchID], i)
	}
	if e.weight > 0 {
		x.blanks[e.blank] = append(x.blanks[e.blank], i)
	}
	for _, s := range e.shingles {
		if in := x.shingles[s.hash]; len(in) == 0 || in[len(in)-1] != i {
			x.shingles[s.hash] = append(in, i)
		}
	}
	for _, of := range []struct {
		hashes []uint64
		in     map[uint64][]int
	}{{e.grams, x.grams}, {e.words, x.words}, {e.only, x.only}} {
		for _, h := range of.hashes {
			of.in[h] = append(of.in[h], i)
		}
	}
}

func numberKey(repo string, n int) string { return fmt.Sprintf("%s#%d", repo, n) }

// short are the digits of an object ID by which it is looked up; "" for what is none.
func short(id string) string {
	const digits = 8
	if len(id) < digits || strings.Trim(strings.ToLower(id), "0123456789abcdef") != "" {
		return ""
	}
	return strings.ToLower(id[:digits])
}

func sameID(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// pass is one set against the index. Its rows may be looked at side by side.
type pass struct {
	*Index
	mu         sync.Mutex
	rows       int
	itself     int
	hits       []Hit
	candidates []candidate
	held       map[uint64][]uint64 // shingles, grams, words and lines of ours that rows of the set hold: hashes of IDs, at most boilerplate
}

// candidate is a row that shares shingles, grams, words or lines with one of ours.
type candidate struct {
	task   int
	known  string
	key    Key
	shared []uint64
	total  int     // of the row
	code   float64 // of grams: the share of the smaller patch's changed lines that both have; 1 where one has none
	tests  int     // of lines: how many of the tests both have
}

func (x *Index) begin() *pass { return &pass{Index: x, held: map[uint64][]uint64{}} }

// look compares one row with all of ours.
func (p *pass) look(t Task) {
	q := printsOf(&t)
	hits, itself := p.exact(&t, q)
	skip := func(i int) bool { return p.same(i, &t) }
	var found []candidate
	if t.Kind == Change {
		hashes := make([]uint64, 0, len(q.shingles))
		for _, s := range q.shingles {
			hashes = append(hashes, s.hash)
		}
		slices.Sort(hashes)
		found = append(found, shared(Shingles, p.shingles, slices.Compact(hashes), t.ID, skip)...)
		for _, c := range shared(Grams, p.grams, q.grams, t.ID, skip) {
			c.code = 1
			if e := &p.tasks[c.task]; len(e.only) > 0 && len(q.only) > 0 {
				c.code = float64(common(e.only, q.only)) / float64(min(len(e.only), len(q.only)))
			}
			found = append(found, c)
		}
		found = append(found, shared(Words, p.words, q.words, t.ID, skip)...)
		for _, c := range shared(Lines, p.only, q.only, t.ID, skip) {
			e := &p.tasks[c.task]
			if n := common(e.tests, q.tests); n >= fewTests && float64(n) >= p.options.Remove*float64(max(len(e.tests), len(q.tests))) {
				c.tests = n
			}
			found = append(found, c)
		}
	}
	who := hashOf(t.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows++
	if itself {
		p.itself++
	}
	p.hits = append(p.hits, hits...)
	for _, c := range found {
		for _, h := range c.shared {
			if in := p.held[h]; len(in) < boilerplate && !slices.Contains(in, who) {
				p.held[h] = append(in, who)
			}
		}
		if p.specific(&c); c.lasts() {
			p.candidates = append(p.candidates, c)
		}
	}
}

// lasts reports whether a candidate is kept until all rows are read: what it shares becomes less and not more.
func (c *candidate) lasts() bool {
	switch c.key {
	case Words:
		return len(c.shared) >= fewGrams
	case Lines:
		return len(c.shared) >= fewLines && c.tests > 0
	}
	return len(c.shared) > 0
}

// specific takes out of a candidate what so many rows hold that it is boilerplate.
func (p *pass) specific(c *candidate) {
	before := len(c.shared)
	c.shared = slices.DeleteFunc(c.shared, func(h uint64) bool { return len(p.held[h]) >= boilerplate })
	c.total -= before - len(c.shared)
}

// shared are the candidates of one key.
func shared(key Key, ours map[uint64][]int, hashes []uint64, id string, skip func(int) bool) (out []candidate) {
	at := map[int]int{}
	for _, h := range hashes {
		for _, i := range ours[h] {
			k, ok := at[i]
			if !ok {
				if skip(i) {
					continue
				}
				k, at[i] = len(out), len(out)
				out = append(out, candidate{task: i, known: id, key: key, total: len(hashes)})
			}
			out[k].shared = append(out[k].shared, h)
		}
	}
	return out
}

// same reports whether a row is our task itself, as its dataset published it.
func (x *Index) same(i int, t *Task) bool {
	e := x.tasks[i]
	return t.Dataset != "" && t.Dataset == e.Dataset && strings.EqualFold(t.ID, e.ID)
}

// exact are the hits of the keys that need no other row.
func (p *pass) exact(t *Task, q *prints) (hits []Hit, itself bool) {
	hit := func(i int, key Key, score float64, removes bool, evidence ...string) {
		if p.same(i, t) {
			itself = true
			return
		}
		h := Hit{InstanceID: p.tasks[i].ID, Known: t.ID, Key: key, Score: score, Evidence: evidence, Action: Labelled}
		if set := p.tasks[i].set; set != nil {
			h.Set = *set
		}
		if removes && p.comparable(i, t) {
			h.Action = Removed
		}
		hits = append(hits, h)
	}
	p.byName(t, hit)
	p.byCommit(t, q, hit)
	p.byPatch(q, hit)
	return hits, itself
}

// comparable reports whether a task can be another one at all: parts of one library, groups of one service and
// variants of one group are tasks of their own, and a change is not the library that has it.
func (x *Index) comparable(i int, t *Task) bool {
	e := x.tasks[i]
	return e.Kind == t.Kind && (e.Part == "" && t.Part == "" || e.Part == t.Part || e.Dataset == "" || t.Dataset == "")
}

// byName are hits by repository: its pull request, its release.
func (p *pass) byName(t *Task, hit func(int, Key, float64, bool, ...string)) {
	names := []string{p.names.of(t.Repo)}
	if t.Origin != "" {
		names = append(names, p.names.of(t.Origin))
	}
	for _, name := range names {
		if t.Number > 0 {
			for _, i := range p.numbers[numberKey(name, t.Number)] {
				hit(i, Number, 1, true, fmt.Sprintf("pull request %d of %s", t.Number, name))
			}
		}
		if t.Kind != Library {
			continue
		}
		for _, i := range p.releases[name] {
			e := p.tasks[i]
			text := fmt.Sprintf("%s, our release %s", name, e.Release)
			if t.Release != "" {
				text += ", theirs " + t.Release
			}
			hit(i, Release, 1, t.Release != "" && strings.EqualFold(t.Release, e.Release), text)
		}
	}
}

// byCommit are hits by the solution's commit, and by a base on which the same lines change.
func (p *pass) byCommit(t *Task, q *prints, hit func(int, Key, float64, bool, ...string)) {
	for _, i := range p.commits[short(t.Commit)] {
		if sameID(p.tasks[i].Commit, t.Commit) {
			hit(i, Commit, 1, true, "solution "+t.Commit)
		}
	}
	seen := map[int]bool{}
	for _, b := range t.Bases {
		for _, i := range p.bases[short(b)] {
			e := p.tasks[i]
			if seen[i] || !slices.ContainsFunc(e.Bases, func(o string) bool { return sameID(o, b) }) {
				continue
			}
			seen[i] = true
			if e.Kind == Library && t.Kind == Library { // they may have no patch
				hit(i, Release, 1, true, "base "+b)
				continue
			}
			if share, where := overlap(e.prints, q); share > 0 {
				hit(i, BaseCommit, share, share > 0.5, "base "+b, where)
			}
		}
	}
}

// overlap is the share of the smaller patch's changed lines that both have, and where their hunks overlap; 0 where
// none does.
func overlap(a, b *prints) (share float64, where string) {
	same, na, nb := 0, 0, 0
	for name, lines := range a.changed {
		same += common(lines, b.changed[name])
		na += len(lines)
	}
	for _, lines := range b.changed {
		nb += len(lines)
	}
	if same == 0 {
		return 0, ""
	}
	for _, f := range a.files {
		for _, g := range b.files {
			if f.path != g.path {
				continue
			}
			for _, h := range f.hunks {
				for _, k := range g.hunks {
					if h.old <= k.old+k.length && k.old <= h.old+h.length {
						return float64(same) / float64(min(na, nb)), fmt.Sprintf("%s: %d changed lines are the same, at line %d", f.path, same, max(h.old, k.old))
					}
				}
			}
		}
	}
	return 0, ""
}

// common counts what two sorted lists share, as often as both have it.
func common(a, b []uint64) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0], b[0]); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			n, a, b = n+1, a[1:], b[1:]
		}
	}
	return n
}

// byPatch are hits by equal patches. A short one proves nothing by its lines alone: then the place has to be the same.
func (p *pass) byPatch(q *prints, hit func(int, Key, float64, bool, ...string)) {
	if q.patchID != "" {
		for _, i := range p.ids[q.patchID] {
			hit(i, PatchID, 1, p.tasks[i].tells() || p.tasks[i].near(q), append([]string{"patch-id " + q.patchID}, q.sample()...)...)
		}
	}
	if q.weight == 0 {
		return
	}
	for _, i := range p.blanks[q.blank] {
		e := p.tasks[i]
		evidence := q.sample()
		if !e.tells() {
			evidence = append(evidence, fmt.Sprintf("%d lines of %d letters and digits", e.prints.distinct, e.weight))
		}
		hit(i, PatchBlank, 1, e.tells() || e.near(q), evidence...)
	}
}

// tells reports whether equal changed lines are enough.
func (p *prints) tells() bool { return p.weight >= patchWeight && p.distinct >= patchLines }

// near reports whether most lines around two patches are the same, in a file of the same name.
func (p *prints) near(q *prints) bool {
	named := slices.ContainsFunc(p.files, func(f file) bool {
		return slices.ContainsFunc(q.files, func(g file) bool { return path.Base(f.path) == path.Base(g.path) })
	})
	if !named {
		return false
	}
	same := common(p.context, q.context)
	return same >= 2 && 2*same > min(len(p.context), len(q.context))
}

// sample are some changed lines, as evidence.
func (p *prints) sample() (out []string) {
	const most = 3
	for _, f := range p.files {
		for _, h := range f.hunks {
			for _, l := range h.lines {
				if l.sign != ' ' && says(l.text) > 3 {
					if out = append(out, shown(f.path, string(l.sign)+strings.TrimSpace(l.text))); len(out) == most {
						return out
					}
				}
			}
		}
	}
	return out
}

func shown(name, text string) string {
	const most = 160
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return name + ": " + text
}

// end decides what needed all rows, and gives the hits in order.
func (p *pass) end(set SetRef) []Hit {
	for _, c := range p.candidates {
		p.specific(&c)
		if h, ok := p.share(c); ok {
			p.hits = append(p.hits, h)
		}
	}
	for i := range p.hits {
		p.hits[i].Set = set
	}
	slices.SortFunc(p.hits, func(a, b Hit) int {
		return cmp.Or(strings.Compare(a.InstanceID, b.InstanceID), strings.Compare(a.Known, b.Known), cmp.Compare(slices.Index(Keys, a.Key), slices.Index(Keys, b.Key)), cmp.Compare(b.Score, a.Score))
	})
	return slices.CompactFunc(p.hits, func(a, b Hit) bool { // a set may have its rows in two files
		return a.InstanceID == b.InstanceID && a.Known == b.Known && a.Key == b.Key
	})
}

// share decides one candidate by what it shares that is no boilerplate.
func (p *pass) share(c candidate) (Hit, bool) {
	e, shared := &p.tasks[c.task], c.shared
	switch c.key {
	case Lines:
		return p.half(e, c)
	case Words:
		return p.wording(e, c)
	}
	few, mine := fewGrams, len(e.grams)
	if c.key == Shingles {
		few, mine = fewShingles, e.rows()
	}
	if len(shared) == 0 {
		return Hit{}, false
	}
	score := float64(len(shared)) / float64(min(mine, c.total))
	if score < p.options.Label {
		return Hit{}, false
	}
	h := Hit{InstanceID: e.ID, Known: c.known, Key: c.key, Score: score, Action: Labelled}
	alike := false // beside what is shared
	if c.key == Shingles {
		h.Evidence = e.sharedLines(shared)
		alike = float64(len(shared)) >= ownShare*float64(mine)
	} else {
		h.Evidence = sharedWords(e.Statement, shared, len(e.grams))
		if c.code < 1 {
			h.Evidence = append(h.Evidence, fmt.Sprintf("%.0f %% of the smaller patch's changed lines are the same", 100*c.code))
		}
		alike = c.code >= p.options.Label || float64(len(shared))/float64(max(mine, c.total)) >= wholeStatement
	}
	if score >= p.options.Remove && len(shared) >= few && alike {
		h.Action = Removed
	}
	return h, true
}

// wording decides by the words of the added lines. Fewer than Remove are no hit.
func (p *pass) wording(e *entry, c candidate) (Hit, bool) {
	score := float64(len(c.shared)) / float64(max(len(e.words), c.total))
	if len(c.shared) < fewGrams || score < p.options.Remove {
		return Hit{}, false
	}
	h := Hit{InstanceID: e.ID, Known: c.known, Key: c.key, Score: score, Action: Removed}
	for i, lines := range e.lines {
		for _, text := range sharedWords(strings.Join(lines, "\n"), c.shared, len(e.words)) {
			h.Evidence = append(h.Evidence, shown(e.files[i].path, text))
		}
	}
	return h, true
}

// half decides by half of the changed lines, of a row whose tests agree. Fewer are no hit.
func (p *pass) half(e *entry, c candidate) (Hit, bool) {
	n, mine := float64(len(c.shared)), float64(len(e.only))
	score := n / min(mine, float64(c.total))
	if len(c.shared) < fewLines || score < halfLines || n < ownShare*mine {
		return Hit{}, false
	}
	evidence := append(e.sharedChanges(c.shared), fmt.Sprintf("%d of %d changed lines of the tests", c.tests, len(e.tests)))
	return Hit{InstanceID: e.ID, Known: c.known, Key: c.key, Score: score, Action: Removed, Evidence: evidence}, true
}

// sharedChanges says how many changed lines are shared, and shows the first.
func (e *entry) sharedChanges(shared []uint64) []string {
	slices.Sort(shared)
	out := []string{fmt.Sprintf("%d of %d changed lines", len(shared), len(e.only))}
	for _, f := range e.files {
		for _, h := range f.hunks {
			for _, l := range h.lines {
				if _, ok := slices.BinarySearch(shared, hashOf(blankless(l.text))*31+uint64(l.sign)); !ok {
					continue
				}
				if out = append(out, shown(f.path, string(l.sign)+strings.TrimSpace(l.text))); len(out) > shingleLines {
					return out
				}
			}
		}
	}
	return out
}

// rows counts shingles, equal ones once.
func (e *entry) rows() int {
	all := make([]uint64, 0, len(e.shingles))
	for _, s := range e.shingles {
		all = append(all, s.hash)
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

// sharedLines says how much is shared by file, and shows the first lines.
func (e *entry) sharedLines(shared []uint64) (out []string) {
	slices.Sort(shared)
	first, counts, totals := -1, map[int]int{}, map[int]int{}
	for k, s := range e.shingles {
		totals[s.file]++
		if _, ok := slices.BinarySearch(shared, s.hash); ok {
			counts[s.file]++
			if first < 0 {
				first = k
			}
		}
	}
	for i, f := range e.files {
		if counts[i] > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %d rows of %d added lines", f.path, counts[i], totals[i], shingleLines))
		}
	}
	if first >= 0 {
		s := e.shingles[first]
		for _, l := range e.lines[s.file][s.at : s.at+shingleLines] {
			out = append(out, shown(e.files[s.file].path, "+"+strings.TrimSpace(l)))
		}
	}
	return out
}

// sharedWords shows the first words in a row of a text that are shared, and how many of total are.
func sharedWords(text string, shared []uint64, total int) []string {
	slices.Sort(shared)
	all, hashes := words(text), wordHashes(text)
	for at := 0; at+gramWords <= min(len(hashes), len(all)); at++ {
		if _, ok := slices.BinarySearch(shared, join(hashes[at:at+gramWords])); ok {
			return []string{fmt.Sprintf("%d of %d rows of %d words: %s", len(shared), total, gramWords, strings.Join(all[at:at+gramWords], " "))}
		}
	}
	return nil
}
