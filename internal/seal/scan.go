package seal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Scanner is the version of the rules, as rows name it.
const Scanner = "4"

// Walk visits every file that a solver gets, in any order; a path may come more
// than once (a file that an upper layer hides is there all the same). An image's
// configuration comes as a file named ConfigFile.
type Walk func(ctx context.Context, visit func(path string, info fs.FileInfo, open func() (io.ReadCloser, error)) error) error

// ConfigFile is the name under which a walk shows labels, variables and history
// of an image: JSON, whose strings are searched as they read.
const ConfigFile = "image-config.json"

const (
	enough   = 3   // weak needles of one changed file that make a leak, or,
	share    = 5   // of a large one, this part of them: three idioms in a file are chance,
	plenty   = 20  // but never more than this
	copied   = 5   // the least in a package from a registry: projects borrow from one another
	common   = 3   // packages that share a line which makes it an idiom
	maxHits  = 50  // in a record; more say nothing new
	maxShown = 120 // characters of a needle
	// fewLen is how long the needles of a change with fewer than enough of them must
	// be together, to be a leak when all are found in one place.
	fewLen = 40
)

// Scan searches all that walk visits. The rule, place by place (a file, a member
// of an archive, a git object):
//
//   - a hash of the landed commit and an exact copy of a changed file are leaks;
//   - so are a strong needle (a long line with a name that the change makes) and
//     any other needle of the same changed file: alone it may be borrowed;
//   - so are three weak needles of one changed file (a fifth of a large one's, at
//     most twenty), or all of them where it has fewer and they are at least 40
//     bytes together;
//   - a package from a registry, whose lock is older than the change, needs five and a
//     third of the changed file's needles, unless it has a name of the project in its
//     path (a vendored copy): projects borrow lines from one another;
//   - a weak line that stands in three packages or more is an idiom and counts for
//     nothing, unless the place holds half of the changed file's needles;
//   - names and literals count in binary files only, where lines cannot be; in the
//     compiled form of a changed module (same name, same package) two of the words
//     that the change brings into it are a leak;
//   - history in the task's .git beyond one neutral commit, a later release of the
//     project in any cache, and a second copy of it on the search path are leaks by
//     their paths;
//   - of a library, so are files of its starter that hold lines of the bodies that were
//     taken out (Bodies), where these are more than one in a hundred of them.
func Scan(ctx context.Context, s *Set, walk Walk) (schemas.Scan, error) {
	sc := &scan{ctx: ctx, set: s, matcher: matcherOf(s.needles), copies: newCopies(s.project)}
	if err := walk(ctx, sc.visit); err != nil {
		return schemas.Scan{}, fmt.Errorf("leak scan: %w", err)
	}
	hits := append(sc.judge(), sc.copies.hits()...)
	if s.bodies != nil {
		copies, err := s.bodies.Copies(ctx, s.base)
		if err != nil {
			return schemas.Scan{}, fmt.Errorf("leak scan: %w", err)
		}
		if s.bodies.Share(copies) > mostCopied {
			for _, c := range copies {
				hits = append(hits, hitOf(needle{text: c.Text, kind: KindSolution}, place{name: sandbox.TreePath + "/" + c.Path}))
			}
		}
	}
	slices.SortFunc(hits, func(a, b schemas.Hit) int {
		return cmp.Or(strings.Compare(a.Place, b.Place), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Needle, b.Needle))
	})
	hits = slices.Compact(hits)
	slices.Sort(sc.unread)
	return schemas.Scan{
		Scanner: Scanner, Needles: s.Digest(), Count: s.Count(), Bytes: sc.bytes,
		Hits: hits[:min(len(hits), maxHits)], Unread: sc.unread[:min(len(sc.unread), maxHits)],
	}, nil
}

var looseObject = lazyregexp.New(`/objects/([0-9a-f]{2})/([0-9a-f]{38})$`)

// place is one file, member or object in which something was found.
type place struct {
	name   string
	owner  string // the package that it belongs to
	locked bool   // that package is a dependency from a registry
	found  map[int]bool
	binary bool
}

type scan struct {
	ctx     context.Context
	set     *Set
	matcher *matcher
	copies  *copies
	places  []place
	direct  []schemas.Hit // leaks that need no counting
	unread  []string      // what looked packed and could not be unpacked
	bytes   int64
	budget  int64 // bytes that may still be unpacked from the file at hand
	// text takes what is not unpacked further, in the place of the search for needles; nil: that.
	text func(name string, r io.Reader, depth int) error
}

func (sc *scan) visit(name string, info fs.FileInfo, open func() (io.ReadCloser, error)) error {
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	if !strings.HasPrefix(name, "/") && name != ConfigFile {
		name = "/" + name
	}
	if !strayHistory(name, info) {
		sc.copies.path(name)
	} else {
		sc.direct = append(sc.direct, schemas.Hit{Needle: path.Base(name), Place: name, Kind: KindHistory})
	}
	if m := looseObject.FindStringSubmatch(name); m != nil {
		sc.file(name, m[1]+m[2]) // its name says what it holds
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	r, err := open()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = r.Close() }() // only read
	sc.budget = maxUnpacked
	if tell := sc.copies.reads(name); tell != nil {
		b, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		tell(name, b)
		return sc.stream(name, io.MultiReader(bytes.NewReader(b), r), info.Size(), 0)
	}
	if err := sc.stream(name, r, info.Size(), 0); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// strayHistory recognises files of the task's .git that Files does not write and git
// does not need: reflogs, stashes, other refs, loose objects, notes.
func strayHistory(name string, info fs.FileInfo) bool {
	rest, ok := strings.CutPrefix(name, GitDir+"/")
	if !ok || info.IsDir() {
		return false
	}
	switch rest {
	case "HEAD", "config", "description", "index", "info/attributes", "info/exclude", "refs/heads/" + branch:
		return false
	}
	return !strings.HasPrefix(rest, "objects/pack/pack-") // searched by content
}

// leaf searches one run of bytes that is not unpacked further.
func (sc *scan) leaf(name string, r io.Reader, head []byte, depth int) error {
	if sc.text != nil {
		return sc.text(name, r, depth)
	}
	p := place{name: name, binary: slices.Contains(head, 0)}
	n, err := sc.matcher.read(r, func(i int) {
		if p.found == nil {
			p.found = map[int]bool{}
		}
		p.found[i] = true
	})
	sc.bytes += n
	if p.found != nil {
		p.owner = owner(name)
		p.locked = dependency(p.owner) && !sc.set.project.names(name)
		sc.places = append(sc.places, p)
	}
	return err
}

// texts searches the strings of a JSON document as they read: escapes hide lines.
func (sc *scan) texts(name string, b []byte, depth int) error {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return nil // no JSON after all; its raw bytes were searched
	}
	var buf strings.Builder
	collectStrings(v, &buf)
	return sc.leaf(name+"!strings", strings.NewReader(buf.String()), nil, depth)
}

func collectStrings(v any, buf *strings.Builder) {
	switch v := v.(type) {
	case string:
		buf.WriteString(v)
		buf.WriteByte('\n')
	case []any:
		for _, x := range v {
			collectStrings(x, buf)
		}
	case map[string]any:
		for k, x := range v {
			collectStrings(k, buf)
			collectStrings(x, buf)
		}
	}
}

// owner is the package that a place belongs to: a distribution of site-packages,
// a Go module at a version, else the directory.
func owner(name string) string {
	file, _, _ := strings.Cut(name, "!")
	for _, root := range []string{"/site-packages/", "/dist-packages/"} {
		if _, rest, ok := strings.Cut(file, root); ok {
			first, _, _ := strings.Cut(rest, "/")
			first, _, _ = strings.Cut(first, "-")
			return root + strings.ToLower(strings.TrimSuffix(first, ".py"))
		}
	}
	if i := strings.IndexByte(file, '@'); i >= 0 { // module@version, and cache/download/module/@v
		mod := strings.TrimSuffix(file[:i], "/")
		if _, rest, ok := strings.Cut(mod, "/cache/download/"); ok {
			return "@" + rest
		}
		_, rest, _ := strings.Cut(mod, sandbox.EnvPath+"/")
		_, rest, _ = strings.Cut(rest, "/")
		return "@" + rest
	}
	parts := strings.Split(file, "/")
	return strings.Join(parts[:min(len(parts)-1, 4)], "/")
}

// dependency distinguishes owners that the lock names from those that only are in the layer.
func dependency(owner string) bool {
	return strings.HasPrefix(owner, "@") || strings.HasPrefix(owner, "/site-packages/") || strings.HasPrefix(owner, "/dist-packages/")
}

// judge applies the rule to what was found.
func (sc *scan) judge() []schemas.Hit {
	owners := map[int]map[string]bool{}
	for _, p := range sc.places {
		for i := range p.found {
			if owners[i] == nil {
				owners[i] = map[string]bool{}
			}
			owners[i][p.owner] = true
		}
	}
	hits := sc.direct
	for _, p := range sc.places {
		if hit, ok := sc.leak(p, func(i int) bool { return len(owners[i]) >= common }); ok {
			hits = append(hits, hit)
		}
	}
	return hits
}

// tally is what one place holds of one changed file.
type tally struct {
	all    []int
	rare   int // of all, those that are no idioms
	strong int
	size   int
}

// leak judges one place.
func (sc *scan) leak(p place, idiom func(int) bool) (schemas.Hit, bool) {
	groups := map[string]*tally{}
	for _, i := range sortedKeys(p.found) {
		n := sc.set.needles[i]
		if n.form == formHash {
			return hitOf(n, p), true
		}
		if n.form == formAtom && !p.binary {
			continue
		}
		g := groups[n.group()]
		if g == nil {
			g = &tally{}
			groups[n.group()] = g
		}
		g.all = append(g.all, i)
		g.size += len(n.text)
		switch {
		case n.strong:
			g.strong++
			g.rare++
		case !idiom(i):
			g.rare++
		}
	}
	for _, name := range sortedKeys(groups) {
		if g := groups[name]; g.leaks(sc.set.counts[name], p.locked) {
			return hitOf(sc.set.needles[longest(sc.set.needles, g.all)], p), true
		}
	}
	return schemas.Hit{}, false
}

// leaks is the rule; total is how many needles the changed file has.
func (g *tally) leaks(total int, locked bool) bool {
	got := len(g.all)
	if locked {
		return got >= copied && got*3 >= total && g.rare >= enough || g.rare >= plenty
	}
	return g.rare >= min(max(enough, total/share), plenty) ||
		g.strong > 0 && g.rare > 1 ||
		got >= enough && got*2 >= total ||
		total < enough && g.rare == total && g.size >= fewLen
}

func longest(needles []needle, of []int) int {
	return slices.MaxFunc(of, func(a, b int) int { return len(needles[a].text) - len(needles[b].text) })
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func hitOf(n needle, p place) schemas.Hit {
	shown := strings.ToValidUTF8(n.text[:min(len(n.text), maxShown)], "")
	return schemas.Hit{Needle: shown, Place: p.name, Kind: n.kind}
}
