package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/schemas"
)

// ErrNotOurs is a folder that holds something and no manifest of ours: writing a
// dataset there would lose it.
var ErrNotOurs = errors.New("is not empty and not a benchmint dataset")

// Input is all that a dataset is made of. Equal inputs give equal bytes. Tasks and
// rejects come one by one, so that a dataset of any size needs the memory of one task.
type Input struct {
	Name    string
	Splits  []SplitInput             // one at least
	Rejects iter.Seq2[Reject, error] // in order of ID, then stage
	// CarriedRejects are of items that this run did not read, as an earlier dataset has them.
	CarriedRejects []Reject
	// LeftOut are rejects of the tasks that a caller left out of Splits: of Balance, and carried ones that people refuse.
	LeftOut []Reject
	Balance *Balance // how Splits were drawn; nil where all tasks are taken
	// Release is set for a version of a shelf of releases.
	Release *Release
	// Packages are kept for the tasks of a release; nil: none are.
	Packages *Keeping
	// Extra are further files of a release, made when its rows are written: what it says of the
	// files that are there is by their digests.
	Extra func(m Manifest, digests map[string]schemas.Digest) (map[string][]byte, error)
	// Flakes are the lines of the flake ledger, in its own order.
	Flakes iter.Seq[ledger.Flake]
	// Untold are tasks that no line of the flake ledger names.
	Untold        map[string]bool
	Funnel        []Funnel // of the stages before
	Releases      int
	Open          int // items that neither came through nor ended
	Configuration any // effective, without what names this machine
	Tools         map[string]string
	// Replace lets rows of the dataset that is there go without a verdict on them.
	Replace bool
	// Allow is what package secrets finds and is known to be none.
	Allow secrets.Allow
	// Unsound puts a dataset in its place also where Check has something against it, for tests
	// of what reads datasets.
	Unsound bool
	// Wrote is told how many tasks are written; nil is told nothing.
	Wrote func(n int)
	// Left is told of the rows that went, once they have; nil is told nothing.
	Left func([]Leaving)
}

// SplitInput is the tasks of one split.
type SplitInput struct {
	Name  string                 // "" is test
	Tasks iter.Seq2[Task, error] // in order of ID; nil where all are carried
	// Carried are tasks that are copied from other datasets, in order of ID. None has the ID of
	// one of Tasks.
	Carried []Carried
}

// DefaultSplit is where SWE-bench's clients look first.
const DefaultSplit = "test"

// exported is the stage that a dataset is written by, in rejects and funnel.
const exported = "export"

func dataPath(split string) string    { return path.Join(DataDir, split+".jsonl") }
func parquetPath(split string) string { return path.Join(DataDir, split+".parquet") }

// Write puts a dataset at dir, whole or not at all: it is written beside dir and
// then swapped in, so that no reader meets a half one. What an earlier dataset
// left is gone afterwards; what is not ours (a .git) stays. A row goes only where its
// item was rejected by name, or where in.Replace says so: LossError. ErrNotOurs. What Check
// would find something in is not put there: UnsoundError.
func Write(dir string, in Input) (Manifest, error) {
	if err := checkInput(&in); err != nil {
		return Manifest{}, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // else the link would be swapped away, not the folder
	}
	if err := ours(dir); err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".new-*")
	if err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()     // after the swap this is the earlier dataset
	if err := os.Chmod(tmp, 0o755); err != nil { // a dataset is for others, too
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	w, err := newWriter(tmp)
	if err == nil {
		w.before, err = standingAt(dir, in.Replace)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	m, err := w.all(in)
	if err = errors.Join(err, w.close()); err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	left, err := w.before.leaving()
	if err == nil && !in.Unsound {
		err = holds(tmp)
	}
	if err == nil {
		err = swap(tmp, dir)
	}
	if err == nil && len(left) > 0 && in.Left != nil {
		in.Left(left)
	}
	return m, err
}

// UnsoundError is a dataset that was not put in its place, because Check has something
// against it.
type UnsoundError struct{ Findings []Finding }

func (e *UnsoundError) Error() string {
	return fmt.Sprintf("the dataset would not hold, a fault of benchmint: %s", Names(e.Findings))
}

// holds checks what was written before anybody sees it. UnsoundError.
func holds(dir string) error {
	findings, err := Check(dir)
	if err != nil {
		return fmt.Errorf("checking the dataset: %w", err)
	}
	if len(findings) > 0 {
		return &UnsoundError{findings}
	}
	return nil
}

func checkInput(in *Input) error {
	if len(in.Splits) == 0 {
		return errors.New("a dataset has one split at least")
	}
	in.Splits = slices.Clone(in.Splits)
	seen := map[string]bool{}
	for i := range in.Splits {
		s := &in.Splits[i]
		s.Name = cmp.Or(s.Name, DefaultSplit)
		if strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") != "" {
			return fmt.Errorf("split %q: only letters, digits, _ and . (Hugging Face)", s.Name)
		}
		fold := strings.ToLower(s.Name)
		if seen[fold] {
			return fmt.Errorf("split %q is given twice", s.Name)
		}
		seen[fold] = true
	}
	return nil
}

type writer struct {
	*folder
	bases    map[string]Base         // by tree and language, so that equal trees are packed once
	packed   map[schemas.Digest]bool // archives that are written
	ids      map[string]string       // folded → ID
	gate     Gate
	last     string // ID of the split
	splits   []Split
	tally    *tally
	rejected []Reject // by this writer, in order
	redactor redactor
	before   *before // the dataset that is there
	counts   Counts
	sources  map[*Dataset]*carriedFrom
	repos    map[string][]*Dataset // of carried tasks, by repository
	// quarantined are tests of carried tasks, by repository and name.
	quarantined map[[2]string]bool
	release     *Release
	keeping     *Keeping
	storage     Storage
	wrote       func(n int)
}

func newWriter(dir string) (*writer, error) {
	f, err := newFolder(dir)
	if err != nil {
		return nil, err
	}
	return &writer{folder: f, bases: map[string]Base{}, packed: map[schemas.Digest]bool{}, ids: map[string]string{}, gate: Gate{}, tally: newTally(), sources: map[*Dataset]*carriedFrom{}, repos: map[string][]*Dataset{}, quarantined: map[[2]string]bool{}}, nil
}

func (w *writer) all(in Input) (Manifest, error) {
	w.redactor, w.release, w.keeping, w.wrote = redactor{allow: in.Allow}, in.Release, in.Packages, in.Wrote
	if w.release != nil {
		w.canary = w.release.Canary
	}
	w.rejected = slices.Clone(in.LeftOut)
	if err := w.tasks(in); err != nil {
		return Manifest{}, err
	}
	if err := w.rejects(in.Rejects, in.CarriedRejects); err != nil {
		return Manifest{}, err
	}
	if err := w.lines(FlakesFile, func(yield func(any, error) bool) {
		for _, f := range w.untold(w.flakesWith(in.Flakes), in.Untold) {
			if w.redactor.withholds(FlakesFile, f.Test) {
				continue
			}
			if !yield(f, nil) {
				return
			}
		}
	}); err != nil {
		return Manifest{}, err
	}
	if err := w.packages(in.Packages); err != nil {
		return Manifest{}, err
	}
	m, err := w.manifest(in)
	if err != nil {
		return Manifest{}, err
	}
	if err := w.redactions(); err != nil {
		return Manifest{}, err
	}
	drawn, err := plots(m, w.tally)
	if err != nil {
		return Manifest{}, err
	}
	if in.Extra != nil {
		extra, err := in.Extra(m, w.digests)
		if err != nil {
			return Manifest{}, err
		}
		maps.Copy(drawn, extra)
	}
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		if err := w.put(name, 0o644, w.marked(name, drawn[name])); err != nil {
			return Manifest{}, err
		}
	}
	w.tally.files = w.digests
	if err := w.put(CardFile, 0o644, card(m, w.tally)); err != nil {
		return Manifest{}, err
	}
	if m.Checksums, err = w.finish(); err != nil {
		return Manifest{}, err
	}
	b, err := indented(m)
	if err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	return m, errors.Join(w.write(ManifestFile, 0o644, b), w.sync())
}

// tasks writes every row and folder, one task at a time.
func (w *writer) tasks(in Input) error {
	timings, err := w.records(TimingsFile)
	if err != nil {
		return err
	}
	for _, s := range in.Splits {
		if err := w.split(s, timings); err != nil {
			return errors.Join(err, timings.drop())
		}
	}
	return timings.drop() // times are measured: outside of the digests
}

func (w *writer) split(s SplitInput, timings io.Writer) error {
	rows, err := w.stream(dataPath(s.Name))
	if err != nil {
		return err
	}
	packed, err := w.stream(parquetPath(s.Name))
	if err != nil {
		return errors.Join(err, rows.drop())
	}
	p, before := newParquet(packed), w.counts.Tasks
	w.last = ""
	sets := w.newConfigs(s)
	for _, c := range s.Carried { // wherever its ID stands, a task of the same states is the second
		w.gate.Hold(c.Row.Row)
	}
	for x, err := range together(s.Tasks, s.Carried) {
		switch {
		case err != nil:
		case x.carried != nil:
			err = w.carry(x.carried, rows, p, timings, sets)
		default:
			err = w.task(x.task, rows, p, timings)
		}
		if w.wrote != nil {
			w.wrote(w.counts.Tasks)
		}
		if err != nil {
			return errors.Join(err, rows.drop(), packed.drop())
		}
	}
	w.splits = append(w.splits, Split{Name: s.Name, Tasks: w.counts.Tasks - before})
	return errors.Join(p.close(), w.keep(rows), w.keep(packed), sets.close(w))
}

// task writes one task, or puts it among the rejects.
func (w *writer) task(t Task, rows io.Writer, p *parquetWriter, timings io.Writer) error {
	if err := w.known(t.ID()); err != nil {
		return err
	}
	if r, ok := w.gate.Refuses(t); ok {
		w.rejected = append(w.rejected, r)
		return nil
	}
	t = w.redactor.prose(t)
	row, found, err := w.folderOf(t)
	if err != nil {
		return fmt.Errorf("%s: %w", t.ID(), err)
	}
	if len(found) > 0 {
		w.rejected = append(w.rejected, w.withheld(t, found))
		return nil
	}
	b, err := line(row)
	if err != nil {
		return fmt.Errorf("%s: %w", t.ID(), err)
	}
	if _, err := rows.Write(b); err != nil {
		return err
	}
	if err := p.add(b); err != nil {
		return fmt.Errorf("%s: %w", t.ID(), err)
	}
	for _, x := range slices.SortedStableFunc(slices.Values(t.Timings), func(a, b Timing) int { return strings.Compare(a.Stage, b.Stage) }) {
		b, err := line(x)
		if err != nil {
			return fmt.Errorf("%s: %w", t.ID(), err)
		}
		if _, err := timings.Write(b); err != nil {
			return err
		}
	}
	w.tally.add(row)
	w.counts.Tasks++
	w.before.stays(t.ID())
	return nil
}

// known holds the order, and that no ID comes twice but for its case: a folder is
// named by each.
func (w *writer) known(id string) error {
	fold := strings.ToLower(id)
	if other, ok := w.ids[fold]; ok {
		return fmt.Errorf("two tasks with the ID %s (%s)", id, other)
	}
	if id < w.last {
		return fmt.Errorf("task %s comes after %s: out of order", id, w.last)
	}
	w.ids[fold], w.last = id, id
	return nil
}

// rejects writes every other end, those of this writer in their places.
func (w *writer) rejects(in iter.Seq2[Reject, error], carried []Reject) error {
	own, last := slices.Concat(w.rejected, carried), Reject{}
	slices.SortStableFunc(own, compareRejects)
	return w.lines(RejectsFile, func(yield func(any, error) bool) {
		give := func(r Reject) bool {
			if compareRejects(r, last) < 0 {
				return yield(nil, fmt.Errorf("%s at %s comes after %s: out of order", r.InstanceID, r.Stage, last.InstanceID))
			}
			last = r
			w.before.ended(r)
			count := w.count(r)
			r.Detail = w.redactor.mask(r.InstanceID, RejectsFile, r.Detail)
			r.Reviews = w.redactor.reviews(r.InstanceID, RejectsFile, r.Reviews)
			w.tally.reviews.reject(r)
			return yield(r, count)
		}
		for r, err := range mergedRejects(own, in) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !give(r) {
				return
			}
		}
	})
}

// mergedRejects are two sorted lists as one; in may be nil, and ends at its first error.
func mergedRejects(own []Reject, in iter.Seq2[Reject, error]) iter.Seq2[Reject, error] {
	return func(yield func(Reject, error) bool) {
		own := own
		if in != nil {
			for r, err := range in {
				for ; err == nil && len(own) > 0 && compareRejects(own[0], r) < 0; own = own[1:] {
					if !yield(own[0], nil) {
						return
					}
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
		for _, r := range own {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func compareRejects(a, b Reject) int {
	return cmp.Or(strings.Compare(a.InstanceID, b.InstanceID), strings.Compare(a.Stage, b.Stage), strings.Compare(a.Commit, b.Commit))
}

func (w *writer) count(r Reject) error {
	switch r.End {
	case schemas.StepRejected:
		w.counts.Rejected++
	case schemas.StepDeferred:
		w.counts.Deferred++
	case schemas.StepFailed:
		w.counts.Failed++
	default:
		return fmt.Errorf("%s: unknown end %q of an item", r.InstanceID, r.End)
	}
	return nil
}

func (w *writer) manifest(in Input) (Manifest, error) {
	w.counts.Open = in.Open
	m := Manifest{
		Format: Format, Name: in.Name, Splits: w.splits, Funnel: w.funnel(in.Funnel), Tools: in.Tools, Card: CardVersion, Counts: w.counts,
		Releases: in.Releases, Statistics: w.tally.statistics(), Release: in.Release, Balance: in.Balance.written(w.tally),
	}
	if m.Release != nil {
		m.Storage = &w.storage
	}
	if m.Tools == nil {
		m.Tools = map[string]string{}
	}
	var err error
	if m.Configuration, err = schemas.Canonical(in.Configuration); err != nil {
		return m, fmt.Errorf("configuration: %w", err)
	}
	if m.Configuration, err = w.redactor.json(ManifestFile, m.Configuration); err != nil {
		return m, fmt.Errorf("configuration: %w", err)
	}
	return m, nil
}

// funnel is that of the stages before, and what was taken out here.
func (w *writer) funnel(before []Funnel) []Funnel {
	out := []Funnel{}
	for _, f := range before {
		if f.Stage == documented && total(f) == 0 {
			continue // no library came so far: the manifests of other kinds keep their bytes
		}
		if f.Rejected == nil {
			f.Rejected = map[schemas.Reason]int{}
		}
		out = append(out, f)
	}
	here := Funnel{Stage: exported, Done: w.counts.Tasks, Rejected: map[schemas.Reason]int{}}
	for _, r := range w.rejected {
		here.Rejected[r.Reason]++
	}
	return append(out, here)
}

// records opens a file of one JSON value a line; that of a release begins with its canary.
func (w *writer) records(name string) (*stream, error) {
	s, err := w.stream(name)
	if err == nil {
		_, err = s.Write(w.marked(name, nil))
	}
	return s, err
}

// marked is a file with the canary of the release, where it is one.
func (w *writer) marked(name string, b []byte) []byte {
	if w.canary == "" {
		return b
	}
	return WithCanary(name, b, w.canary)
}

// lines writes a file of one JSON value a line.
func (w *writer) lines(name string, items iter.Seq2[any, error]) error {
	s, err := w.records(name)
	if err != nil {
		return err
	}
	for x, err := range items {
		var b []byte
		if err == nil {
			b, err = line(x)
		}
		if err == nil {
			_, err = s.Write(b)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", name, err), s.drop())
		}
	}
	return w.keep(s)
}

func line(v any) ([]byte, error) {
	b, err := schemas.Canonical(v)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

func indented(v any) ([]byte, error) {
	b, err := schemas.Canonical(v)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, b, "", "  "); err != nil {
		return nil, err
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}
