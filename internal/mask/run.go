package mask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/nearest"
)

// Options say what is masked, and how.
type Options struct {
	Source    string // a folder; it is only read
	Output    string // a folder that is not there, or empty, outside of Source
	Profile   Profile
	Slice     Slice // strict only
	Languages []Language
	// Src and Tests are the folders by which the commit0 profiles choose files, relative
	// to Source; "." and "" by default.
	Src, Tests string
	// Load is what ran when the code of Source was loaded; nil: nobody looked, and a rule by plain names decides.
	Load *Load
	// Keep are functions, PATH::NAME, that stay since an earlier starter did not load without them.
	Keep    []string
	Workers int   // 0: as many as there are processors
	MaxFile int64 // bytes of a file that is read as code; 0: 8 MiB
}

const maxFile = 8 << 20

// ErrUnmet is an option that cannot be met: nothing was written.
var ErrUnmet = errors.New("cannot mask")

// Result is what a run left.
type Result struct {
	Output   string   `json:"output"`
	Manifest string   `json:"manifest"` // paths
	Undo     string   `json:"undo"`
	Totals   Totals   `json:"totals"`
	Failed   []string `json:"failed"` // path and reason of what is not in the starter
	// NotMasked are the sources in languages that no mask reads, by their paths.
	NotMasked []Source `json:"not_masked"`
}

// run is one mask in the making.
type run struct {
	Options
	source, starter *os.Root
	entries         []*entry
	project         *project
	constants       map[int]bool
	loaded          map[int]string // functions that run when the code is loaded, with the reason
	fanIn           []int
	picked          map[int]bool // nil: everything
	choose          func(string) Whole
}

// Run makes a starter of a source folder: Output, and beside it Output.mask.json (the
// manifest) and Output.mask.undo. It writes nothing where the options cannot be met
// (ErrUnmet, *SliceError). A file that fails is left out of the starter, named in the
// manifest and in Result.Failed; it is never copied unmasked.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &run{Options: o, project: newProject()}
	var err error
	if r.source, err = os.OpenRoot(o.Source); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnmet, err)
	}
	defer func() { _ = r.source.Close() }() // only read
	if r.entries, err = walk(ctx, o.Source); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if err := r.decide(ctx); err != nil {
		return nil, err
	}
	return r.write(ctx)
}

func (o *Options) check() error {
	if err := o.checkSource(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnmet, err)
	}
	if err := o.checkOutput(); err != nil {
		return fmt.Errorf("%w: the output %s: %w", ErrUnmet, o.Output, err)
	}
	if o.Profile == "" {
		o.Profile = Strict
	}
	known := []string{string(Strict), string(Commit0All), string(Commit0Docstring), string(Commit0Combined)}
	if !slices.Contains(known, string(o.Profile)) {
		return fmt.Errorf("%w: no profile %q, there are %s%s", ErrUnmet, o.Profile, strings.Join(known, ", "), nearest.Hint(string(o.Profile), known))
	}
	if o.Profile != Strict && !o.Slice.Everything() {
		return fmt.Errorf("%w: the profile %s masks all that the published tool does; a part goes with %s only", ErrUnmet, o.Profile, Strict)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxFile <= 0 {
		o.MaxFile = maxFile
	}
	if o.Src == "" {
		o.Src = "."
	}
	for _, folder := range []string{o.Src, o.Tests} {
		if err := o.checkFolder(folder); err != nil {
			return fmt.Errorf("%w: %w", ErrUnmet, err)
		}
	}
	return nil
}

// checkFolder reports whether a folder of the source is there.
func (o *Options) checkFolder(folder string) error {
	if info, err := os.Stat(filepath.Join(o.Source, folder)); filepath.IsLocal(folder) && err == nil && info.IsDir() || folder == "" {
		return nil
	}
	var known []string
	held, _ := os.ReadDir(filepath.Join(o.Source, filepath.Dir(filepath.Clean("/"+folder))))
	for _, e := range held {
		if e.IsDir() {
			known = append(known, filepath.Join(filepath.Dir(folder), e.Name()))
		}
	}
	return fmt.Errorf("no folder %q in %s%s", folder, o.Source, nearest.Hint(folder, known))
}

func (o *Options) checkSource() error {
	info, err := os.Stat(o.Source)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", o.Source)
	}
	if bare(o.Source) {
		return fmt.Errorf("%s is the inside of a git repository, with its history and no files: check it out first", o.Source)
	}
	if o.Source, err = filepath.EvalSymlinks(o.Source); err == nil {
		o.Source, err = filepath.Abs(o.Source)
	}
	return err
}

// bare tells a git repository without its files by what git itself looks for.
func bare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// checkOutput reports whether nothing is overwritten, and the source stays what it is.
func (o *Options) checkOutput() error {
	o.Output = filepath.Clean(o.Output)
	at, err := filepath.Abs(o.Output)
	if err != nil {
		return err
	}
	real, err := realPath(at)
	if err != nil {
		return err
	}
	if within(real, o.Source) || within(o.Source, real) {
		return fmt.Errorf("it and the source %s lie in each other", o.Source)
	}
	if here, err := os.Getwd(); err == nil && within(here, at) {
		return errors.New("it is the folder that this runs in, or around it; run it from elsewhere")
	}
	if target, err := os.Readlink(o.Output); err == nil {
		return fmt.Errorf("it is a link to %s; name that", target)
	}
	held, err := os.ReadDir(o.Output)
	if err == nil && len(held) > 0 {
		return errors.New("it is not empty")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, beside := range []string{ManifestPath(o.Output), UndoPath(o.Output)} {
		if _, err := os.Lstat(beside); err == nil {
			return fmt.Errorf("%s is there already, from another run", beside)
		}
	}
	return nil
}

// ManifestPath and UndoPath lie beside a starter, so that it holds no solution.
func ManifestPath(output string) string { return filepath.Clean(output) + ".mask.json" }

// UndoPath is what Undo is made from.
func UndoPath(output string) string { return filepath.Clean(output) + ".mask.undo" }

// realPath resolves links of what is there of a path.
func realPath(p string) (string, error) {
	rest := ""
	for at := p; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", err
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func within(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// read is the first pass: what every file says.
func (r *run) read(ctx context.Context) error {
	var code []*entry
	var paths []string
	for _, e := range r.entries {
		if !e.mode.IsRegular() || e.failed != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		paths = append(paths, e.path)
		if err := r.anchor(e); err != nil {
			e.failed = plain(err)
			continue
		}
		if l := r.languageOf(e.path); l != nil {
			e.unit = r.project.begin(e.path, l)
			code = append(code, e)
		}
	}
	if r.Profile != Strict {
		r.choices(paths)
		return nil // the choice is made file by file, in one pass
	}
	return inOrder(ctx, r.Workers, len(code), func(i int) *File { return r.readOne(code[i]) }, func(i int, f *File) error {
		switch u := code[i].unit; {
		case f == nil:
		case code[i].whole.Kind == ForTests:
			r.project.compiles(u.family, f.Compiled)
		default:
			r.project.add(u, f)
		}
		return nil
	})
}

func (r *run) languageOf(p string) Language {
	for _, l := range r.Languages {
		if l.Grammar(p) != "" {
			return l
		}
	}
	return nil
}

// choices asks the compatible languages which files the published tool would rewrite.
func (r *run) choices(paths []string) {
	rules := map[string]func(string) Whole{}
	for _, l := range r.Languages {
		if c, ok := l.(Compatible); ok {
			rules[l.Name()] = c.Commit0Files(paths, r.Src, r.Tests)
		}
	}
	r.choose = func(p string) Whole {
		l := r.languageOf(p)
		if rule, ok := rules[l.Name()]; ok {
			return rule(p)
		}
		return Whole{Kind: Unchosen, Reason: "the published tool knows Python only"}
	}
}

func (r *run) anchor(e *entry) error {
	for _, l := range r.Languages {
		a, ok := l.(Anchored)
		if !ok || e.size > 1<<20 || !a.IsAnchor(e.path) {
			continue
		}
		source, err := r.source.ReadFile(filepath.FromSlash(e.path))
		if err != nil {
			return err
		}
		if prefix := a.Anchor(e.path, source); prefix != "" {
			r.project.anchors = append(r.project.anchors, anchor{family(l), prefix, path.Dir(e.path)})
		}
	}
	return nil
}

// readOne says what one file holds, nil where that does not count. What stays whole is read
// too where it is loaded with the project: generated and vendored code. Of a test it says
// what the compiler runs for it, and nothing else.
func (r *run) readOne(e *entry) (f *File) {
	u := e.unit
	if e.size > r.MaxFile {
		e.whole = tooLarge(r.MaxFile)
		return nil
	}
	source, err := r.load(e)
	if err != nil {
		e.failed = plain(err)
		return nil
	}
	e.hash = digest(source)
	e.whole = u.language.Exempt(u.path, source)
	if e.whole.Kind == ForTests {
		names, err := compiledFor(u, source)
		if err != nil {
			e.whole.Detail = strings.TrimPrefix(e.whole.Detail+", not read: "+err.Error(), ", ")
		}
		return &File{Compiled: names}
	}
	if why := unreadable(u.family, source); why.is() {
		e.whole = why
		return nil
	}
	if !e.whole.is() {
		e.whole = wholeByPath(u.family, u.path)
	}
	if installed(u.path) {
		return nil // it is no other than where it is not there: others' packages, that know nothing of this tree
	}
	if !e.whole.is() {
		e.whole = wholeBySource(u.family, source)
	}
	if e.whole.Detail == small {
		return nil
	}
	tree, err := Parse(u.language, u.path, source)
	if err != nil {
		e.whole = Whole{Kind: Unreadable, Reason: err.Error()}
		return nil
	}
	if err := guard(func() { f = u.language.Read(u.path, tree) }); err != nil {
		e.failed = err.Error()
		return nil
	}
	f.count(source)
	return f
}

// count tells the lines that functions stand on.
func (f *File) count(source []byte) {
	var ends []int
	for i, b := range source {
		if b == '\n' {
			ends = append(ends, i)
		}
	}
	line := func(at int) int {
		i, _ := slices.BinarySearch(ends, at)
		return i + 1
	}
	for i := range f.Functions {
		span := f.Functions[i].Span
		f.Functions[i].From, f.Functions[i].To = line(span.Start), line(max(span.Start, span.End-1))
	}
}

func tooLarge(limit int64) Whole {
	return Whole{Kind: Unreadable, Reason: fmt.Sprintf("larger than %d MiB", limit>>20)}
}

// load reads a file of the source; it may have grown since it was listed.
func (r *run) load(e *entry) ([]byte, error) {
	source, err := r.source.ReadFile(filepath.FromSlash(e.path))
	if err == nil && int64(len(source)) > e.size {
		err = errors.New("it changed while it was read")
	}
	return source, err
}

// guard turns a panic of a language into the failure of one file, which is said.
func guard(do func()) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("reading it: %v", fault)
		}
	}()
	do()
	return nil
}

// isBroken is the reason for functions that the parser could not read, isLoaded for what
// runs with the code around them.
const (
	isBroken = "a syntax error lies inside"
	isLoaded = "runs when the code is loaded"
)

// decide says of every function what becomes of it. What ctx ends is left as it is.
func (r *run) decide(ctx context.Context) error {
	if r.Profile != Strict {
		return nil
	}
	p := r.project
	for _, l := range r.Languages {
		if err := r.host(l); err != nil {
			return err
		}
	}
	r.nameRoots()
	if err := p.index(ctx); err != nil {
		return err
	}
	if err := r.setAside(ctx); err != nil {
		return err
	}
	var err error
	if r.picked, err = p.pick(ctx, r.Slice); err != nil {
		return err
	}
	r.constants, r.loaded = p.constants(), r.stays(ctx)
	r.fanIn = p.graph(ctx).fanIn()
	if err := ctx.Err(); err != nil {
		return err
	}
	p.tellStars()
	return nil
}

// fates say of every function of a unit what becomes of it.
func (r *run) fates(u *unit, functions []Function) []Fate {
	fates := make([]Fate, len(functions))
	for i, f := range functions {
		at := u.first + i
		policy, known := PolicyOf(f.Construct)
		kept := func(why string) { fates[i] = Fate{Done: Kept, Reason: why} }
		switch {
		case f.Parent >= 0 && fates[f.Parent].Done != Kept:
			fates[i] = Fate{Done: Gone}
		case f.Broken:
			fates[i] = Fate{Kept, fmt.Sprintf("%s, from line %d", isBroken, f.Line), isBroken}
		case !known:
			kept("no policy for " + string(f.Construct))
		case !policy.Mask:
			kept(policy.Reason)
		case f.Body == Range{}:
			kept("its body is elsewhere")
		case r.constants[at]:
			kept("the compiler may run it")
		case r.loaded[at] != "":
			fates[i] = Fate{Kept, r.loaded[at], isLoaded}
		case r.picked != nil && !r.inSlice(u, i):
			kept("outside the slice")
		default:
			fates[i] = Fate{Done: Masked}
		}
	}
	return fates
}

// inSlice reports whether the function or one around it was picked.
func (r *run) inSlice(u *unit, i int) bool {
	for ; i >= 0; i = u.functions[i].Parent {
		if r.picked[u.first+i] {
			return true
		}
	}
	return false
}
