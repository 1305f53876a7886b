package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/tree"
)

// mender applies the sections of a text one after another, as a series of commits is.
type mender struct {
	tree *tree.Tree // before the text
	out  Applied
	last string // what comes before the path in the last name of a file of the tree
	sure bool   // there was such a name
	seen map[string]bool
}

func (m *mender) say(what string) {
	if !slices.Contains(m.out.Mended, what) {
		m.out.Mended = append(m.out.Mended, what)
	}
}

// all applies the sections.
func (m *mender) all(sections []section) error {
	m.seen = map[string]bool{}
	applied := 0
	for i := range sections {
		x := &sections[i]
		did, err := m.one(x)
		if err != nil {
			return fmt.Errorf("line %d: %w", x.at, err)
		}
		if did {
			applied++
		}
	}
	if applied == 0 && len(m.out.Left) == 0 {
		return fmt.Errorf("%w: no file in it", ErrConflict)
	}
	m.out.Empty = applied == 0
	return nil
}

// one applies a section; false where there is nothing to apply.
func (m *mender) one(x *section) (bool, error) {
	switch {
	case x.combined:
		return false, fmt.Errorf("%w: a diff of a merge", ErrConflict)
	case x.module(m.out.Tree), x.stub != "" && !x.deleted, x.binary != nil && !x.deleted && !readable(x.binary):
		m.out.Left = append(m.out.Left, x.left())
		return false, nil
	case len(x.hunks) == 0 && x.stub == "" && x.binary == nil && !x.created && !x.deleted && x.verb == "" && x.newMode == "":
		return false, nil // it changes nothing
	case m.seen[x.key()]:
		m.say("a file's part that is given twice")
		return false, nil
	}
	m.seen[x.key()] = true
	text, err := m.strict(x)
	if err != nil {
		return false, err
	}
	next, err := m.out.Tree.Apply(text)
	if err != nil {
		// The reader asks nothing of this machine: what it cannot read is the patch's fault.
		if !errors.Is(err, tree.ErrUnsafe) && !errors.Is(err, tree.ErrTooLarge) {
			err = fmt.Errorf("%w: %w", ErrConflict, err)
		}
		return false, err
	}
	m.out.Tree = next
	return true, nil
}

// key is what a section says, wherever it stands in the text.
func (x *section) key() string {
	said := *x
	said.at, said.hunks = 0, nil
	for _, h := range x.hunks {
		said.hunks = append(said.hunks, hunk{place: h.place, lines: slices.Concat(h.lines, h.more)})
	}
	return fmt.Sprint(said)
}

// strict is a section as the strict reader takes it.
func (m *mender) strict(x *section) ([]byte, error) {
	if !x.created && x.verb == "" && len(x.hunks) > 0 && x.onlyNew() && !m.has(x) {
		x.created = true
	}
	old, made, err := m.paths(x)
	if err != nil {
		return nil, err
	}
	var before tree.Entry
	if !x.created {
		before, _ = m.out.Tree.Entry(old)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "diff --git %s %s\n", strconv.Quote("a/"+old), strconv.Quote("b/"+made))
	mode := before.Mode
	switch {
	case x.created:
		if mode = x.newMode; mode == "" {
			mode = tree.ModeFile
		}
		fmt.Fprintf(&b, "new file mode %s\n", mode)
	case x.deleted:
		fmt.Fprintf(&b, "deleted file mode %s\n", before.Mode)
	case x.newMode != "" && x.newMode != before.Mode:
		mode = x.newMode
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", before.Mode, mode)
	}
	if x.verb != "" {
		fmt.Fprintf(&b, "%s from %s\n%s to %s\n", x.verb, strconv.Quote(old), x.verb, strconv.Quote(made))
	}
	switch {
	case x.deleted && len(x.hunks) == 0:
		whole := hunk{place: 1, counted: true, fits: true}
		for _, l := range linesOf(before.Data) {
			whole.lines = append(whole.lines, line{op: '-', text: strings.TrimSuffix(l, "\n"), noEnd: !strings.HasSuffix(l, "\n")})
		}
		if x.hunks = []hunk{whole}; len(whole.lines) == 0 {
			return b.Bytes(), nil
		}
	case x.binary != nil:
		b.WriteString("GIT binary patch\n" + strings.Join(forward(x.binary), "\n") + "\n\n")
		return b.Bytes(), nil
	case len(x.hunks) == 0:
		return b.Bytes(), nil
	}
	from, to := strconv.Quote("a/"+old), strconv.Quote("b/"+made)
	if x.created {
		from = devNull
	}
	if x.deleted {
		to = devNull
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	f := file{mender: m, lines: linesOf(before.Data), link: mode == tree.ModeSymlink}
	f.ends(x)
	err = f.write(&b, x)
	return b.Bytes(), err
}

// onlyNew reports whether no line of a section is of an old side.
func (x *section) onlyNew() bool {
	return !slices.ContainsFunc(x.hunks, func(h hunk) bool {
		old, _ := sides(h.lines)
		return old > 0
	})
}

func (m *mender) has(x *section) bool {
	_, is := m.existing(x)
	return is
}

// paths are the paths of a section in the tree.
func (m *mender) paths(x *section) (old, made string, err error) {
	switch {
	case x.verb != "":
		return x.old, x.new, nil
	case x.created:
		if made, err = m.fresh(x); err != nil {
			return "", "", err
		}
		return made, made, nil
	}
	p, ok := m.existing(x)
	if !ok {
		name := x.old
		if name == devNull || name == "" {
			name = x.new
		}
		return "", "", fmt.Errorf("%w: %s: not in the tree, or more than one file of it", ErrConflict, name)
	}
	return p, p, nil
}

// existing is the file of the tree that a section is about: the one after git's prefix, else the only one that
// its names can mean without a prefix, or below the folder that an absolute name begins with.
func (m *mender) existing(x *section) (string, bool) {
	var found []string
	for _, name := range []string{x.old, x.new} {
		if name == "" || name == devNull {
			continue
		}
		for i, c := range x.meanings(name) {
			if e, ok := m.out.Tree.Entry(c); !ok || e.Mode == tree.ModeModule {
				continue
			}
			if i == 0 && (x.prefixed() || x.old == x.new) {
				m.cut(x, c)
				return c, true
			}
			if !slices.Contains(found, c) {
				found = append(found, c)
			}
			if strings.HasPrefix(name, "/") {
				break // the longest
			}
		}
	}
	if len(found) != 1 {
		return "", false
	}
	m.cut(x, found[0])
	return found[0], true
}

// meanings are the paths that a name of a section may mean, the likeliest first.
func (x *section) meanings(name string) []string {
	clean := strings.TrimPrefix(name, "./")
	_, after, _ := strings.Cut(clean, "/")
	out := []string{clean, after}
	if x.prefixed() {
		out = []string{after, clean}
	}
	for rest := after; strings.HasPrefix(name, "/") && rest != ""; _, rest, _ = strings.Cut(rest, "/") {
		out = append(out, rest)
	}
	return out
}

// cut notes what comes before a path in the name of a section.
func (m *mender) cut(x *section, p string) {
	for _, name := range []string{x.old, x.new} {
		if before, ok := strings.CutSuffix(name, p); ok {
			m.last, m.sure = before, true
		}
	}
	if m.last == "" || strings.HasPrefix(m.last, "/") {
		m.say("names without git's prefixes")
	}
}

// fresh is the path of a file that a section makes.
func (m *mender) fresh(x *section) (string, error) {
	name := x.new
	if name == devNull || name == "" {
		name = x.old
	}
	name = strings.TrimPrefix(name, "./")
	first, after, deep := strings.Cut(name, "/")
	folder := func(dir string) bool {
		return slices.ContainsFunc(m.tree.Paths(), func(p string) bool { return strings.HasPrefix(p, dir+"/") })
	}
	switch {
	case x.prefixed():
		return after, nil
	case !deep:
		m.say("names without git's prefixes")
		return name, nil
	case m.sure && strings.HasPrefix(name, m.last):
		return strings.TrimPrefix(name, m.last), nil
	case strings.HasPrefix(name, "/"):
		for rest := after; ; {
			dir, under, ok := strings.Cut(rest, "/")
			if !ok {
				break
			}
			if folder(dir) {
				m.say("names without git's prefixes")
				return rest, nil
			}
			rest = under
		}
	case folder(first), x.old == x.new:
		m.say("names without git's prefixes")
		return name, nil
	case folder(strings.SplitN(after, "/", 2)[0]):
		return after, nil
	}
	return "", fmt.Errorf("%w: %s: nothing says in which folder the new file belongs", ErrConflict, x.new)
}

// forward is the part of git's form of binary content that says the new one.
func forward(lines []string) []string {
	end := slices.Index(lines, "")
	if end < 0 {
		end = len(lines)
	}
	return lines[:end]
}

// readable reports whether binary content is there, whole. What is larger than a file may be is not
// looked at: whoever applies it refuses it.
func readable(lines []string) bool {
	text := "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\n" + strings.Join(forward(lines), "\n") + "\n\n"
	files, _, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil || len(files) != 1 || files[0].BinaryFragment == nil {
		return false
	}
	f := files[0].BinaryFragment
	if f.Size > tree.MaxFile {
		return true
	}
	n, err := io.Copy(io.Discard, f.Data())
	return err == nil && n == f.Size
}

// linesOf are the lines of a file with their line ends.
func linesOf(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	lines := strings.SplitAfter(string(data), "\n")
	if n := len(lines) - 1; lines[n] == "" {
		lines = lines[:n]
	}
	return lines
}
