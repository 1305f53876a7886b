package patch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/tree"
)

// Applied is what comes of an answer.
type Applied struct {
	Tree  *tree.Tree
	Exact bool // every line was where the patch says
	// Mended is what had to be mended before the patch applied; nil for a patch that applies as it is.
	Mended []string
	// Left are the files that the patch names without saying their content, each with why; they
	// are as before.
	Left []string
	// Empty reports that nothing is left of the patch but these.
	Empty bool
}

// Answer applies a patch as a model or its harness wrote it down: as Apply does, else mended. A
// mended patch is written anew with the tree's own lines in the place of what it was compared
// with, and the strict reader applies that. What it changes is what was written, at a place that cannot be
// another one:
//
//   - a hunk goes where its header says, if its old lines stand there, else to the only place where
//     they do. Two such places, and a hunk without old lines in a file with some, are ErrConflict;
//   - old lines are compared without their line ends and the blanks before them, where no place has
//     them to the byte; new lines stay as written, but for the line end of a file that has one kind of it
//     where the patch has the other in all of its lines;
//   - wrong counts of lines are set right. A hunk at the end of the text that is shorter than its header
//     says may be cut: it is taken where what is missing can only be empty context, or where it
//     ends in context as it begins or with the file, and is ErrConflict else.
//
// Errors are those of Apply; that of git is told where mending does not help.
func Answer(ctx context.Context, t *tree.Tree, text []byte) (Applied, error) {
	whole, said := unwrapped(string(text))
	sections := scanned(t, whole)
	var err error
	if !misread(t, sections) {
		var out Applied
		if out.Tree, out.Exact, err = Apply(ctx, t, []byte(whole)); err == nil {
			out.Mended = said
			for _, x := range sections { // git passes over those that diff wrote
				if x.stub != "" {
					out.Left = append(out.Left, x.left())
				}
			}
			return out, nil
		}
		if !errors.Is(err, ErrConflict) || ctx.Err() != nil {
			return Applied{}, err
		}
	}
	if n := strings.Count(whole, "\n"); n > 0 && strings.Count(whole, "\r\n") == n {
		sections, said = scanned(t, strings.ReplaceAll(whole, "\r\n", "\n")), append(said, "line ends: CR LF in every line of the patch")
	}
	m := mender{tree: t, out: Applied{Tree: t, Mended: said}}
	if mendErr := m.all(sections); mendErr != nil {
		if err == nil {
			return Applied{}, mendErr
		}
		return Applied{}, fmt.Errorf("%w; mending it: %w", err, mendErr)
	}
	return m.out, nil
}

// unwrapped is the text of a patch with the line ends that a patch has.
func unwrapped(text string) (string, []string) {
	var said []string
	if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
		text, said = rest, append(said, "a byte order mark before it")
	}
	if bare := strings.Trim(text, " \""); !strings.Contains(strings.TrimSpace(text), "\n") && strings.Contains(bare, `\n`) && (strings.HasPrefix(bare, "diff --git ") || strings.HasPrefix(bare, "--- ")) {
		text, said = escaped.Replace(bare), append(said, "its line ends were written as \\n")
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		end := "\n"
		if before := text[:strings.LastIndexByte(text, '\n')+1]; strings.HasSuffix(before, "\r\n") && !strings.HasSuffix(text, "\r") {
			end = "\r\n" // as the line before: whoever strips a text strips both
		}
		text, said = text+end, append(said, "the last line end was lost")
	}
	return text, said
}

var escaped = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`)

// misread reports whether git would take a text and do another thing than it says: pass over
// lines that its headers do not count, make a file in another folder where names have no prefix, or a submodule.
func misread(t *tree.Tree, sections []section) bool {
	for _, x := range sections {
		if x.module(t) || !x.bare && !x.prefixed() && strings.Contains(x.new+x.old, "/") && x.stub == "" {
			return true
		}
		// git ends without an error at binary content that it cannot read, where another file was before.
		if x.binary != nil && (!slices.Contains(x.binary, "") || !readable(x.binary)) {
			return true
		}
		for _, h := range x.hunks {
			if !h.counted || h.more != nil || h.joins() {
				return true
			}
		}
	}
	return false
}

// joins reports whether a line without a line end is not the last one of its side: git would
// join it with the next.
func (h *hunk) joins() bool {
	for i, l := range h.lines {
		if l.noEnd && slices.ContainsFunc(h.lines[i+1:], func(next line) bool { return l.op == ' ' || next.op == ' ' || next.op == l.op }) {
			return true
		}
	}
	return false
}

// scanned scans a text that is to be applied to a tree. Of a file that is made or deleted, git diff
// --no-index --no-prefix names the same side twice: that is a prefix where the tree has no such
// folder.
func scanned(t *tree.Tree, text string) []section {
	sections := scan(text)
	for i := range sections {
		x := &sections[i]
		first, _, deep := strings.Cut(x.heads[0], "/")
		x.folders = deep && x.heads[0] == x.heads[1] && short(first) && (x.created || x.deleted) &&
			!slices.ContainsFunc(t.Paths(), func(p string) bool { return strings.HasPrefix(p, first+"/") })
	}
	return sections
}

// prefixed reports whether the names have git's prefixes: each a first folder of its own before
// the same path.
func (x *section) prefixed() bool {
	if x.folders {
		return true
	}
	from, to := x.old, x.new
	if x.heads[0] != "" {
		from, to = x.heads[0], x.heads[1]
	}
	a, old, okA := strings.Cut(from, "/")
	b, made, okB := strings.Cut(to, "/")
	switch {
	case from == devNull:
		return okB && short(b)
	case to == devNull:
		return okA && short(a)
	}
	return okA && okB && a != b && (old == made || short(a) && short(b))
}

// short reports whether a first folder is a prefix of git's: a and b, i, w, c and o of
// diff.mnemonicPrefix, and 1 and 2 of diff --no-index.
func short(s string) bool { return len(s) == 1 && strings.Contains("abciwo12", s) }

func (x *section) module(t *tree.Tree) bool {
	const mode = tree.ModeModule
	if x.oldMode == mode || x.newMode == mode {
		return true
	}
	for _, h := range x.hunks {
		for _, l := range h.lines {
			if strings.HasPrefix(l.text, "Subproject commit ") {
				_, after, _ := strings.Cut(x.new, "/")
				e, ok := t.Entry(after)
				return ok && e.Mode == mode
			}
		}
	}
	return false
}

// left is the name of a file whose content is not there, with why.
func (x *section) left() string {
	name := x.new
	if name == devNull || name == "" {
		name = x.old
	}
	if x.prefixed() && !x.bare {
		_, name, _ = strings.Cut(name, "/")
	}
	switch {
	case x.binary != nil:
		return name + " (binary content that cannot be read)"
	case x.stub != "":
		return name + " (a stub without content)"
	}
	return name + " (a submodule)"
}
