package mask

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// written is what one entry came to: its record, and what undoes it.
type written struct {
	record Record
	lines  int
	undo   *undoFile // nil for what stays as it is
	err    error     // of the output: the run ends
}

// write is the second pass: every source is read again, edited, parsed again, written.
func (r *run) write(ctx context.Context) (_ *Result, err error) {
	place, err := newWorkplace(r.Output)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, place.clear()) }()
	if err := os.Mkdir(place.tree(), 0o700); err != nil {
		return nil, err
	}
	if r.starter, err = os.OpenRoot(place.tree()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.starter.Close()) }()
	result := &Result{Output: r.Output, Manifest: ManifestPath(r.Output), Undo: UndoPath(r.Output), Totals: newTotals(), Failed: []string{}, NotMasked: []Source{}}
	if err := r.writeAll(ctx, result, place.manifest(), place.undo()); err != nil {
		return nil, fmt.Errorf("writing the starter: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := place.settle(result); err != nil {
		return nil, err
	}
	return result, nil
}

func (r *run) writeAll(ctx context.Context, result *Result, manifest, undo string) (err error) {
	m, err := os.Create(manifest)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	u, err := os.Create(undo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	back, err := newUndo(u)
	if err != nil {
		return err
	}
	out := newWriter(m, r.Options, r.loadKind())
	folders, files, err := r.folders()
	if err != nil {
		return err
	}
	err = inOrder(ctx, r.Workers, len(files), func(i int) written { return r.one(ctx, files[i]) }, func(_ int, w written) error {
		if w.err != nil {
			return w.err
		}
		result.Totals.add(&w.record)
		result.Totals.lines(w.lines)
		if w.record.Failed != "" {
			result.Failed = append(result.Failed, w.record.Path+": "+w.record.Failed)
		}
		if w.record.Kind == NotRead {
			result.NotMasked = append(result.NotMasked, Source{w.record.Path, w.record.Language, w.record.Lines})
		}
		out.record(&w.record)
		if w.undo == nil {
			return nil
		}
		return back.Encode(w.undo)
	})
	if err != nil {
		return err
	}
	if err := back.close(result.Totals.Changed); err != nil {
		return err
	}
	root, err := r.source.Stat(".")
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(append([]*entry{{path: ".", mode: root.Mode()}}, folders...)) {
		if err := r.starter.Chmod(filepath.FromSlash(e.path), e.mode.Perm()|0o700); err != nil {
			return err
		}
	}
	result.Totals.close()
	return out.close(result.Totals)
}

// folders makes the folders and gives what is to be put into them.
func (r *run) folders() (folders, files []*entry, err error) {
	for _, e := range r.entries {
		if !e.mode.IsDir() || e.failed != "" {
			files = append(files, e)
			continue
		}
		if err := r.starter.Mkdir(filepath.FromSlash(e.path), 0o700); err != nil {
			return nil, nil, err
		}
		folders = append(folders, e)
	}
	return folders, files, nil
}

// one writes one entry.
func (r *run) one(ctx context.Context, e *entry) written {
	w := written{record: Record{Path: e.path, PathBytes: bytesOf(e.path), Link: e.link, Failed: e.failed}}
	w.whole(e.whole)
	switch {
	case e.failed != "":
	case e.mode&fs.ModeSymlink != 0:
		w.err = r.starter.Symlink(e.link, filepath.FromSlash(e.path))
	case !e.mode.IsRegular():
		w.record.Failed = "no regular file: " + kindOf(e.mode)
	case e.unit != nil:
		w.record.Language = e.unit.language.Name()
		r.code(ctx, e, &w)
	default:
		if f := foreignOf(e.path); f != nil {
			r.foreign(ctx, e, f, &w)
		} else {
			r.setting(ctx, e, &w)
		}
	}
	return w
}

// whole says why a file stays as it is.
func (w *written) whole(why Whole) {
	w.record.Kind, w.record.Reason, w.record.group = why.Kind, why.String(), why.Reason
}

// copy writes a file as it is, however large.
func (r *run) copy(ctx context.Context, e *entry, w *written) {
	from, err := r.source.Open(filepath.FromSlash(e.path))
	if err != nil {
		w.record.Failed = plain(err)
		return
	}
	defer func() { _ = from.Close() }() // only read
	to, err := r.create(e)
	if err != nil {
		w.err = err
		return
	}
	hash := sha256.New()
	n, err := w.pour(ctx, to, from, hash)
	w.err = errors.Join(w.err, to.Chmod(e.mode.Perm()), to.Close())
	if err == nil && n != e.size {
		err = errors.New("it changed while it was read")
	}
	if err != nil {
		w.fail(r, e, plain(err))
		return
	}
	w.record.Before = hex.EncodeToString(hash.Sum(nil))
	w.record.After = w.record.Before
	if e.hash != "" && e.hash != w.record.Before {
		w.fail(r, e, "it changed while it was read")
	}
}

// pour copies a file and hashes it on the way; err is a fault of the source. Where the
// starter cannot be written, or ctx ends, the run ends, and not only what is said of the
// file: that goes to w.err.
func (w *written) pour(ctx context.Context, to io.Writer, from io.Reader, hash io.Writer) (n int64, err error) {
	buffer := make([]byte, 64<<10)
	for err == nil && w.err == nil {
		var got int
		got, err = from.Read(buffer)
		n += int64(got)
		_, _ = hash.Write(buffer[:got]) // never fails
		if w.err = ctx.Err(); w.err == nil && got > 0 {
			_, w.err = to.Write(buffer[:got])
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// kindOf says what a thing is that is neither file, folder nor link.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return mode.Type().String()
}

// fail takes a file out of the starter.
func (w *written) fail(r *run, e *entry, why string) {
	err := r.starter.Remove(filepath.FromSlash(e.path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.err = errors.Join(w.err, err)
	}
	w.record = Record{Path: w.record.Path, PathBytes: w.record.PathBytes, Language: w.record.Language, Failed: why}
	w.undo, w.lines = nil, 0
}

func (r *run) create(e *entry) (*os.File, error) {
	return r.starter.OpenFile(filepath.FromSlash(e.path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// change is what a profile does with one file.
type change struct {
	functions []Function
	fates     []Fate
	edits     []Edit
	repairs   int    // how many of the edits, at the end, are repairs
	hash      string // of the source
	broken    bool
	faults    []int
}

// code masks one file of a language.
func (r *run) code(ctx context.Context, e *entry, w *written) {
	if r.choose != nil {
		why := r.choose(e.path)
		if !why.is() && e.size > r.MaxFile {
			why = tooLarge(r.MaxFile)
		}
		w.whole(why)
	}
	if w.record.Kind != "" {
		r.copy(ctx, e, w)
		return
	}
	source, err := r.load(e)
	if err != nil {
		w.record.Failed = plain(err)
		return
	}
	hash := digest(source)
	if e.hash != "" && hash != e.hash {
		w.record.Failed = "it changed while it was read"
		return
	}
	c, why, err := r.changeOf(e, source)
	switch {
	case err != nil:
		w.record.Failed = err.Error()
		return
	case why.is():
		w.whole(why)
		r.copy(ctx, e, w)
		return
	}
	c.hash = hash
	r.apply(e, w, c, source)
}

// setting writes a file that is no code: as it is, but for what a compiler would refuse
// the starter for.
func (r *run) setting(ctx context.Context, e *entry, w *written) {
	var edits []Edit
	var source []byte
	for _, l := range r.Languages {
		s, ok := l.(Settled)
		if !ok || r.Profile != Strict || e.size > 1<<20 || !s.IsSetting(e.path) || wholeByPath(family(l), e.path).is() {
			continue
		}
		var err error
		if source, err = r.load(e); err != nil {
			w.record.Failed = plain(err)
			return
		}
		edits = append(edits, s.Soften(e.path, source)...)
	}
	if len(edits) == 0 {
		r.copy(ctx, e, w)
		return
	}
	r.apply(e, w, change{edits: edits, repairs: len(edits), hash: digest(source)}, source)
}

// apply writes a file with its edits, and what there is to say of them.
func (r *run) apply(e *entry, w *written, c change, source []byte) {
	text, err := Apply(source, c.edits)
	if err != nil {
		w.record.Failed = err.Error()
		return
	}
	if err := r.check(e, &c, source, text); err != nil {
		w.record.Failed = err.Error()
		return
	}
	w.record.Before, w.record.After = c.hash, c.hash
	if len(c.edits) > 0 {
		w.record.After = digest(text)
	}
	w.describe(c, source, text)
	if w.record.After != w.record.Before {
		w.undo = undoOf(&w.record, source, c.edits)
	}
	w.err = r.put(e, text)
}

func (r *run) put(e *entry, text []byte) error {
	to, err := r.create(e)
	if err != nil {
		return err
	}
	_, err = to.Write(text)
	return errors.Join(err, to.Chmod(e.mode.Perm()), to.Close())
}

// changeOf is what the profile does with a file; why is the reason where it stays whole.
func (r *run) changeOf(e *entry, source []byte) (c change, why Whole, err error) {
	if r.choose == nil {
		err = guard(func() { c = r.strictly(e.unit) })
		return c, why, err
	}
	if why := unreadable(e.unit.family, source); why.is() {
		return c, why, nil
	}
	compatible, ok := e.unit.language.(Compatible)
	if !ok {
		return c, why, fmt.Errorf("%s has no profile %s", e.unit.language.Name(), r.Profile)
	}
	tree, err := syntax.ParseTree(compatible.Grammar(e.path), source)
	if err != nil {
		return c, Whole{Kind: Unreadable, Reason: err.Error()}, nil
	}
	var choice Choice
	err = guard(func() { choice = compatible.Commit0(e.path, tree, r.Profile) })
	c = change{functions: choice.Functions, fates: choice.Fates, edits: choice.Edits, broken: tree.Broken(), faults: choice.Faults}
	if err == nil && len(c.fates) != len(c.functions) {
		err = errors.New("a function without its fate")
	}
	return c, why, err
}

// strictly are strict's edits of a file, as decided.
func (r *run) strictly(u *unit) change {
	c := change{faults: u.faults, broken: len(u.faults) > 0}
	for i, f := range u.functions {
		c.functions = append(c.functions, f.Function)
		c.functions[i].Shape.FanIn = r.fanIn[u.first+i]
	}
	c.fates = r.fates(u, c.functions)
	for i, f := range c.functions {
		if c.fates[i].Done == Masked {
			c.edits = append(c.edits, Edit{f.Body, f.Strict})
		}
		c.broken = c.broken || f.Broken
	}
	masked := c.literals(u, r.picked)
	if u.repair != nil {
		repairs := u.repair(masked)
		c.edits = append(c.edits, repairs...)
		c.repairs = len(repairs)
	}
	return c
}

// literals masks the literals of a unit that are picked. masked is of functions and literals, by the numbers of a File.
func (c *change) literals(u *unit, picked map[int]bool) (masked func(i int) bool) {
	gone := make([]bool, len(c.fates), len(c.fates)+len(u.literals))
	for i, f := range c.fates {
		gone[i] = f.Done == Masked || f.Done == Gone
	}
	for i, l := range u.literals {
		around := l.Parent >= 0 && gone[l.Parent]
		take := !around && picked[u.literal(i)]
		gone = append(gone, around || take)
		if !take {
			continue
		}
		parent := l.Parent
		if parent >= len(u.functions) {
			parent = -1
		}
		at, _ := slices.BinarySearchFunc(c.functions, l.Span.Start, func(f Function, start int) int { return cmp.Compare(f.Span.Start, start) })
		f := Function{Name: l.Name, Construct: Lambda, Literal: true, Parent: parent, Class: -1, Line: l.Line, Span: l.Span, Body: l.Body, Shape: l.Shape}
		c.functions, c.fates = slices.Insert(c.functions, at, f), slices.Insert(c.fates, at, Fate{Done: Masked})
		c.edits = append(c.edits, Edit{l.Body, l.Strict})
	}
	return func(i int) bool { return gone[i] }
}

// check parses the output: where the input was sound it must be. Where the input has what
// the grammar does not know, in code that is no function's (a callback), the output may have
// it too, and no more than that; the place is then a fault of the file.
func (r *run) check(e *entry, c *change, source, text []byte) error {
	if len(c.edits) == 0 || e.unit == nil {
		return nil
	}
	grammar := e.unit.language.Grammar(e.path)
	tree, err := syntax.ParseTree(grammar, text)
	if err != nil {
		return fmt.Errorf("parsing it again: %w", err)
	}
	if !tree.Broken() || c.broken {
		return nil
	}
	before, err := syntax.ParseTree(grammar, source)
	if err != nil {
		return fmt.Errorf("parsing it once more: %w", err)
	}
	if before.Broken() && countFaults(tree) <= countFaults(before) {
		c.broken, c.faults = true, append(c.faults, faultLine(before))
		return nil
	}
	return fmt.Errorf("its masked text does not parse, from line %d", faultLine(tree))
}

// countFaults is the number of places that a parse could not make sense of.
func countFaults(t *syntax.Tree) int {
	n := 0
	for node := range t.Root().Walk(syntax.Node.Broken) {
		if node.Missing() || node.Is("ERROR") {
			n++
		}
	}
	return n
}

// faultLine is where the first syntax error of a tree is. What cannot be read at all
// has the whole file for an error, and tells by what is inside.
func faultLine(t *syntax.Tree) int {
	for n := range t.Root().Walk(syntax.Node.Broken) {
		if n.Missing() || n.Is("ERROR") && n.Parent().Is() {
			return n.Line()
		}
	}
	return t.Root().Line()
}

// describe writes the functions and repairs of a file down.
func (w *written) describe(c change, source, text []byte) {
	at := newMap(source, c.edits)
	w.record.Faults = slices.Compact(c.faults)
	for i, f := range c.functions {
		d := Definition{
			Name: f.Name, Line: f.Line, Construct: f.Construct, Public: f.Public, Doc: f.Doc,
			Done: c.fates[i].Done, Reason: c.fates[i].Reason, Span: f.Span, Shape: f.Shape, group: c.fates[i].counted(),
		}
		if f.Body.Len() > 0 {
			d.Before = digest(source[f.Body.Start:f.Body.End])
		}
		if d.Done == Masked || d.Done == Kept {
			d.Output = at.span(f.Span)
			if body := at.span(f.Body); f.Body.Len() > 0 && 0 <= body.Start && body.Start <= body.End && body.End <= len(text) {
				d.After = digest(text[body.Start:body.End])
			}
		}
		if f.Parent < 0 && (f.Construct != Test || d.Done != Kept) {
			w.lines += f.Shape.Lines
		}
		w.record.Functions = append(w.record.Functions, d)
	}
	for _, e := range c.edits[len(c.edits)-c.repairs:] {
		w.record.Repairs = append(w.record.Repairs, Repair{Span: e.Range, Output: *at.span(e.Range), Reason: "what is masked was all that used it"})
	}
}

// offsets tell where a place of the source is in the output.
type offsets struct {
	edits []Edit // sorted
	shift []int  // of what follows each
}

func newMap(source []byte, edits []Edit) offsets {
	m := offsets{edits: slices.Clone(edits)}
	slices.SortStableFunc(m.edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	crlf := LineEnd(source) == "\r\n"
	sum := 0
	for _, e := range m.edits {
		n := len(e.Text)
		if crlf {
			n += strings.Count(e.Text, "\n")
		}
		sum += n - e.Len()
		m.shift = append(m.shift, sum)
	}
	return m
}

// span is where a range came to lie: with all of the text that took its place.
func (m offsets) span(r Range) *Range {
	return &Range{r.Start + m.before(r.Start, false), r.End + m.before(r.End, true)}
}

// before is the shift at an offset. An edit that ends (for a start) or begins (for an
// end) there counts to what is outside.
func (m offsets) before(offset int, end bool) int {
	i, _ := slices.BinarySearchFunc(m.edits, offset, func(e Edit, at int) int {
		if e.End < at || e.End == at && (end || e.Len() > 0 || e.Start < at) {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	return m.shift[i-1]
}
