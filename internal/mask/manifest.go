package mask

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// Format is the word by which a manifest is known; a change of its meaning changes it.
const Format = "benchmint-mask/1"

// Manifest says what a mask did. It holds no code.
type Manifest struct {
	Format  string   `json:"format"`
	Profile Profile  `json:"profile"`
	Slice   *Slice   `json:"slice,omitempty"`
	Load    LoadKind `json:"load,omitempty"`
	Files   []Record `json:"files"`
	Totals  Totals   `json:"totals"`
}

// Record is one file. Before and After are digests (sha256, hex); they are equal for
// what stays as it is.
type Record struct {
	Path      string       `json:"path"`
	PathBytes []byte       `json:"path_bytes,omitempty"` // of one that is not UTF-8
	Language  string       `json:"language,omitempty"`
	Link      string       `json:"link,omitempty"` // of a symbolic link: its target
	Before    string       `json:"before,omitempty"`
	After     string       `json:"after,omitempty"`
	Kind      WholeKind    `json:"kind,omitempty"`       // what a file is that stays whole
	Reason    string       `json:"reason,omitempty"`     // why it does
	Failed    string       `json:"failed,omitempty"`     // why the file is not in the starter
	Faults    []int        `json:"faults,omitempty"`     // lines of syntax errors outside functions
	Lines     int          `json:"code_lines,omitempty"` // of a source in a language that is not masked
	Functions []Definition `json:"functions,omitempty"`
	Repairs   []Repair     `json:"repairs,omitempty"` // edits outside bodies

	group string // the reason that the file is counted by
}

// Definition is one function of a file.
type Definition struct {
	Name      string    `json:"name"`
	Line      int       `json:"line"`
	Construct Construct `json:"construct"`
	Public    bool      `json:"public,omitempty"`
	Doc       bool      `json:"doc,omitempty"`
	Done      Done      `json:"done"`
	Reason    string    `json:"reason,omitempty"` // of what is kept
	Span      Range     `json:"span"`
	Output    *Range    `json:"output,omitempty"` // its span in the starter; none for what is gone
	Before    string    `json:"before,omitempty"` // digest of its body
	After     string    `json:"after,omitempty"`
	Shape     Shape     `json:"shape"`

	group string // the reason that it is counted by
}

// Repair is an edit outside the bodies that what is masked made necessary.
type Repair struct {
	Span   Range  `json:"span"`
	Output Range  `json:"output"`
	Reason string `json:"reason"`
}

// Totals count a run. Files that stay whole are not among the functions and lines, nor
// are tests that stand in others among the lines. Sources in languages that no mask reads
// are among the lines, with all of their code: it is left.
type Totals struct {
	Files     int               `json:"files"`
	Changed   int               `json:"changed"`
	Failed    int               `json:"failed"`
	Whole     map[string]int    `json:"whole"` // files that stay as they are, by reason
	Functions int               `json:"functions"`
	Masked    int               `json:"masked"`
	Removed   int               `json:"removed"`
	Gone      int               `json:"gone"` // inside of those
	Kept      map[string]int    `json:"kept"` // by reason
	Repairs   int               `json:"repairs"`
	NotMasked map[string]Unread `json:"not_masked"` // sources in languages that no mask reads
	Lines     int               `json:"body_lines"`
	Left      int               `json:"body_lines_left"`
	Share     float64           `json:"share_left"` // of body lines, 0 to 1
	Faults    []string          `json:"faults"`     // places of syntax errors outside functions
}

func newTotals() Totals {
	return Totals{Whole: map[string]int{}, Kept: map[string]int{}, NotMasked: map[string]Unread{}, Faults: []string{}}
}

// add counts a record.
func (t *Totals) add(r *Record) {
	t.Files++
	if r.Failed != "" {
		t.Failed++
	}
	if r.Before != r.After && r.Failed == "" {
		t.Changed++
	}
	if r.Kind != "" {
		t.Whole[r.group]++
	}
	if r.Kind == NotRead {
		u := t.NotMasked[r.Language]
		t.NotMasked[r.Language] = Unread{u.Files + 1, u.Lines + r.Lines}
	}
	t.Repairs += len(r.Repairs)
	for _, line := range r.Faults {
		t.Faults = append(t.Faults, fmt.Sprintf("%s:%d", r.Path, line))
	}
	for i := range r.Functions {
		t.count(&r.Functions[i])
	}
}

func (t *Totals) count(d *Definition) {
	t.Functions++
	switch d.Done {
	case Masked:
		t.Masked++
		t.Left -= d.Shape.Lines
	case Removed:
		t.Removed++
		t.Left -= d.Shape.Lines
	case Gone:
		t.Gone++
	default:
		t.Kept[d.group]++
	}
}

// lines adds the body lines of a file's outermost functions, which hold all others, or
// the lines of code of a source that no mask reads.
func (t *Totals) lines(n int) {
	t.Lines += n
	t.Left += n
}

func (t *Totals) close() {
	if t.Lines > 0 {
		t.Share = float64(t.Left) / float64(t.Lines)
	}
}

// ReadManifest reads a manifest that this version understands.
func ReadManifest(path string) (*Manifest, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if m.Format != Format {
		return nil, fmt.Errorf("%s has the format %q, and this version reads %s", path, m.Format, Format)
	}
	for i := range m.Files {
		m.Files[i].Path = pathOf(m.Files[i].Path, m.Files[i].PathBytes)
	}
	return &m, nil
}

// bytesOf is what a path needs beside it in JSON, which holds UTF-8 only.
func bytesOf(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}

func pathOf(path string, raw []byte) string {
	if raw != nil {
		return string(raw)
	}
	return path
}

// writer writes a manifest file by file, a record on a line of its own.
type writer struct {
	w     *bufio.Writer
	count int
	err   error
}

func newWriter(w io.Writer, o Options, load LoadKind) *writer {
	out := &writer{w: bufio.NewWriterSize(w, 1<<16)}
	head := struct {
		Format  string   `json:"format"`
		Profile Profile  `json:"profile"`
		Slice   *Slice   `json:"slice,omitempty"`
		Load    LoadKind `json:"load,omitempty"`
	}{Format: Format, Profile: o.Profile, Load: load}
	if !o.Slice.Everything() {
		head.Slice = &o.Slice
	}
	raw, err := json.Marshal(head)
	out.err = err
	if err == nil {
		out.put(raw[:len(raw)-1], []byte(",\"files\":["))
	}
	return out
}

func (w *writer) put(parts ...[]byte) {
	for _, p := range parts {
		if w.err == nil {
			_, w.err = w.w.Write(p)
		}
	}
}

func (w *writer) record(r *Record) {
	raw, err := json.Marshal(r)
	if w.err == nil {
		w.err = err
	}
	sep := []byte(",\n")
	if w.count == 0 {
		sep = []byte("\n")
	}
	w.count++
	w.put(sep, raw)
}

func (w *writer) close(t Totals) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	w.put([]byte("\n],\"totals\":"), raw, []byte("}\n"))
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
