package output

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/screen"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/schemas"
)

// Redaction is one line of redactions.jsonl: a credential that was masked, or one that
// the configuration allows; an address, the name beside one or an offensive word that was
// masked.
type Redaction struct {
	InstanceID string `json:"instance_id"` // "" where it was in no item
	Place      string `json:"place"`       // a key of the row, or a file
	Line       int    `json:"line"`        // of the text or patch, from 1
	Rule       string `json:"rule"`
	// Fingerprint is what redaction.allow takes: it names the secret and does not say it. ""
	// for what is not a credential.
	Fingerprint string `json:"fingerprint"`
	Done        string `json:"done"` // masked, allowed, withheld
}

// What was done about a finding.
const (
	masked   = "masked"
	allowed  = "allowed"
	withheld = "withheld" // the line is not written
)

// redactor keeps credentials out of a dataset. It masks them in prose. Everything else it
// leaves as it is: a patch, a tree or the name of a test is true to the byte or not
// there.
type redactor struct {
	allow   secrets.Allow
	noted   []Redaction
	scanned secrets.Trees // of bases: neighbours share nearly all of their files
	// code is what the patches of the task hold whose texts are masked: an address that it
	// works with is no person's.
	code string
}

func (r *redactor) note(id, place, done string, f secrets.Finding) {
	r.noted = append(r.noted, Redaction{InstanceID: id, Place: place, Line: f.Line, Rule: f.Rule, Fingerprint: f.Fingerprint, Done: done})
}

// mask is a text of people without credentials, addresses, the names beside them and
// offensive words, and with its hidden characters shown; a credential that is allowed is
// masked as well, since prose does without.
func (r *redactor) mask(id, place, text string) string {
	text, found := secrets.Mask(prose.Visible(text))
	for _, f := range found {
		r.note(id, place, masked, f)
	}
	text, hits := screen.Mask(text, func(address string) bool { return strings.Contains(r.code, address) })
	for _, f := range hits {
		r.note(id, place, masked, secrets.Finding{Rule: f.Rule, Line: f.Line})
	}
	return text
}

// withholds reports whether a name cannot stand in a file: it would be another one without
// the credential that it holds.
func (r *redactor) withholds(place, name string) bool {
	for _, f := range secrets.Scan("", name) {
		if !r.allow.Has(f) {
			r.note("", place, withheld, f)
			return true
		}
	}
	return false
}

// prose masks what people have written about a task.
func (r *redactor) prose(t Task) Task {
	id := t.ID()
	r.code = string(t.Patch) + string(t.TestPatch)
	defer func() { r.code = "" }()
	t.Statement.Text = r.mask(id, "problem_statement", t.Statement.Text)
	t.Statement.Hints = r.mask(id, "hints_text", t.Statement.Hints)
	t.Reviews = r.reviews(id, "benchmint.reviews", t.Reviews)
	if s := t.Statement.Specification; s != nil { // its text was masked before it was printed
		for _, m := range s.Masked {
			r.note(id, path.Join(SpecDir, schemas.SpecificationText), masked, secrets.Finding{Rule: m.Rule, Line: m.Line, Fingerprint: m.Fingerprint})
		}
	}
	t.Label.Evidence = slices.Clone(t.Label.Evidence)
	for i := range t.Label.Evidence {
		t.Label.Evidence[i].Quote = r.mask(id, "benchmint.change.label_evidence", t.Label.Evidence[i].Quote)
	}
	if t.Origin.Change == nil {
		return t
	}
	c := *t.Origin.Change
	c.Subject = r.mask(id, "benchmint.change.subject", c.Subject)
	c.Notes, c.Range = slices.Clone(c.Notes), slices.Clone(c.Range)
	for i := range c.Notes {
		c.Notes[i].Text = r.mask(id, "benchmint.change.notes", c.Notes[i].Text)
	}
	for i := range c.Range {
		c.Range[i].Subject = r.mask(id, "benchmint.change.range", c.Range[i].Subject)
	}
	t.Origin.Change = &c
	return t
}

// reviews masks the notes of reviews.
func (r *redactor) reviews(id, place string, all []schemas.PeerReview) []schemas.PeerReview {
	all = slices.Clone(all)
	for i := range all {
		all[i].Note = r.mask(id, place, all[i].Note)
	}
	return all
}

// task is what looks like a credential in what was made of a task's change, and is not
// allowed. The base tree was looked at when the start was made, before anything was built for
// it: what is allowed in it is said here.
func (r *redactor) task(t Task, row Row, files []taskFile) ([]secrets.Finding, error) {
	var all []secrets.Finding
	for _, f := range files {
		switch base := path.Base(f.name); {
		case base == GoldFile || base == TestFile || base == MaskFile:
			all = append(all, secrets.ScanPatch(f.data)...)
		case drawn(f.name): // the text beside it says the same, and is looked at
		default:
			all = append(all, named(f.name, secrets.Scan("", unescaped(f.data)))...)
		}
	}
	b, err := line(row.withoutPatches())
	if err != nil {
		return nil, err
	}
	all = append(all, named("row", secrets.Scan("", unescaped(b)))...)
	if len(r.allow) > 0 {
		base, err := t.Base()
		if err != nil {
			return nil, fmt.Errorf("reading the base tree: %w", err)
		}
		all = append(all, slices.DeleteFunc(r.scanned.Scan(base, nil), func(f secrets.Finding) bool { return !r.allow.Has(f) })...)
	}
	var out []secrets.Finding
	for _, f := range all {
		if r.allow.Has(f) {
			r.note(t.ID(), f.Path, allowed, f)
		} else {
			out = append(out, f)
		}
	}
	return out, nil
}

// drawn reports whether a file of a specification is a picture or what was printed: of these
// nothing is read.
func drawn(name string) bool {
	in := path.Dir(name)
	return path.Base(in) == SpecDir && path.Base(name) == schemas.SpecificationPDF || path.Base(path.Dir(in)) == SpecDir && path.Ext(name) != ".svg"
}

// named gives findings the name of what they are in.
func named(name string, all []secrets.Finding) []secrets.Finding {
	for i := range all {
		all[i].Path = name
	}
	return all
}

// withoutPatches is a row without what files of its folder hold as well.
func (r Row) withoutPatches() Row {
	r.Patch, r.TestPatch, r.ProblemStatement = "", "", ""
	return r
}

// unescaped is JSON in JSON as it reads: rules look for quotes and line ends.
func unescaped(b []byte) string {
	return strings.NewReplacer(`\\\"`, `"`, `\"`, `"`, `\\n`, "\n", `\n`, "\n").Replace(string(b))
}

// json masks every text of a JSON value.
func (r *redactor) json(place string, b []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	before := len(r.noted)
	v = r.texts(place, v)
	if len(r.noted) == before {
		return b, nil
	}
	return schemas.Canonical(v)
}

func (r *redactor) texts(place string, v any) any {
	switch v := v.(type) {
	case string:
		return r.mask("", place, v)
	case []any:
		for i := range v {
			v[i] = r.texts(place, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = r.texts(place, v[k])
		}
	}
	return v
}

// withheld is the end of a task that would bring a credential into the dataset.
func (w *writer) withheld(t Task, found []secrets.Finding) Reject {
	delete(w.gate, t.Start.Identity)
	r := t.ended()
	r.Reason, r.Detail = schemas.SecretInRow, secrets.Tell("text", found)
	return r
}

// redactions writes what was masked or allowed, where there is any.
func (w *writer) redactions() error {
	if len(w.redactor.noted) == 0 {
		return nil
	}
	slices.SortFunc(w.redactor.noted, func(a, b Redaction) int {
		return cmp.Or(cmp.Compare(a.InstanceID, b.InstanceID), cmp.Compare(a.Place, b.Place), a.Line-b.Line, cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Done, b.Done))
	})
	return w.lines(RedactionsFile, func(yield func(any, error) bool) {
		for _, x := range slices.Compact(w.redactor.noted) {
			if !yield(x, nil) {
				return
			}
		}
	})
}
