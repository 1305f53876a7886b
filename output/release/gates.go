package release

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
)

// gate is one of this package, by its two questions and by what it calls; nil for one that it does
// not ask.
type gate struct {
	name string
	need func(ctx context.Context, c *Candidate) error
	look func(ctx context.Context, c *Candidate) (Answer, error)
	read func(ctx context.Context, c *Candidate, dir string) (Answer, error)
}

func (g gate) Name() string { return g.name }

func (g gate) Needs(ctx context.Context, c *Candidate) error {
	if g.need == nil {
		return nil
	}
	return g.need(ctx, c)
}

func (g gate) Look(ctx context.Context, c *Candidate) (Answer, error) {
	if g.look == nil {
		return Answer{Skipped: "it reads what is written"}, nil
	}
	return g.look(ctx, c)
}

func (g gate) Read(ctx context.Context, c *Candidate, dir string) (Answer, error) {
	if g.read == nil {
		return Answer{Skipped: onlyLooks}, nil
	}
	return g.read(ctx, c, dir)
}

func init() {
	for _, g := range []gate{
		{name: "vanished", look: vanished},
		{name: "identity", look: identity},
		{name: "window", look: window},
		{name: "licence", look: licence},
		{name: "secrets", look: noSecrets},
		{name: "leaks", look: noLeaks},
		{name: "reproof", look: againProved},
		{name: "decontamination", need: setsThere, look: decontaminated},
		{name: "hidden", look: unseen, read: veiled},
		{name: "lint", read: lint},
		{name: "canary", read: canary},
		{name: "huggingface", need: client, read: huggingFace},
	} {
		Register(g)
	}
}

// vanished: a task leaves by a withdrawal or a hold alone.
func vanished(_ context.Context, c *Candidate) (a Answer, err error) {
	for _, t := range c.Diff.Gone {
		a.Refuse = append(a.Refuse, Objection{"vanished", t.ID, "it is in the version before and not in this one, and nothing says why"})
	}
	return a, nil
}

// identity: no two tasks are one, and a published task keeps its patches, base and identity.
func identity(_ context.Context, c *Candidate) (a Answer, err error) {
	seen := map[string]string{}
	for _, t := range c.Tasks {
		key := string(t.Row.Benchmint.Identity)
		if other, ok := seen[key]; ok && key != "" {
			o := Objection{"identity", t.Row.InstanceID, "it has the identity of " + other}
			if t.New {
				a.Remove = append(a.Remove, o)
			} else {
				a.Refuse = append(a.Refuse, o)
			}
			continue
		}
		seen[key] = t.Row.InstanceID
	}
	for _, x := range c.Diff.Changed {
		if slices.Contains(x.Classes, ClassTask) {
			a.Refuse = append(a.Refuse, Objection{"identity", x.ID, "its patches, base tree or identity are other ones than published"})
		}
	}
	return a, nil
}

// window: new tasks landed in it; older ones are left out, or marked with --backfill.
func window(_ context.Context, c *Candidate) (a Answer, err error) {
	for t := range c.New() {
		if t.Row.Benchmint.Release.Backfill && !c.Backfill {
			a.Remove = append(a.Remove, Objection{"window", t.Row.InstanceID, "it landed before " + c.From + ", the first day of the window; --backfill takes it, marked"})
		}
	}
	return a, nil
}

// licence: the base tree of each task has a text of a licence.
func licence(_ context.Context, c *Candidate) (a Answer, err error) {
	n := 0
	for i := range c.Tasks {
		t := &c.Tasks[i]
		if n++; n%50 == 0 {
			c.say("licence texts", n, len(c.Tasks))
		}
		texts, err := c.licences(t)
		if err != nil {
			return a, fmt.Errorf("%s: %w", t.Row.InstanceID, err)
		}
		if len(texts) == 0 && t.New {
			a.Remove = append(a.Remove, Objection{"licence", t.Row.InstanceID, "its base tree holds no text of a licence"})
		}
	}
	return a, nil
}

// noSecrets: what is published holds no credential by today's rules.
func noSecrets(_ context.Context, c *Candidate) (a Answer, err error) {
	for _, t := range c.Tasks {
		r := t.Row
		found := secrets.ScanPatch([]byte(r.Patch))
		found = append(found, secrets.ScanPatch([]byte(r.TestPatch))...)
		found = append(found, secrets.Scan("", r.ProblemStatement+"\n"+r.HintsText)...)
		if found = c.Allow.Without(found); len(found) == 0 {
			continue
		}
		o := Objection{"secrets", r.InstanceID, secrets.Tell("text", found)}
		if t.New {
			a.Remove = append(a.Remove, o)
		} else {
			o.Text += "; release withdraw --purge takes it out, or redaction.allow lets it stand"
			a.Refuse = append(a.Refuse, o)
		}
	}
	return a, nil
}

// noLeaks: no place that a solver sees shows the solution, as the scan of each proof says.
func noLeaks(_ context.Context, c *Candidate) (a Answer, err error) {
	for t := range c.New() {
		if hits := t.Row.Benchmint.Leaks.Hits; len(hits) > 0 {
			a.Remove = append(a.Remove, Objection{"leaks", t.Row.InstanceID, fmt.Sprintf("the solution is shown in %d places, the first is %s", len(hits), hits[0].Place)})
		}
	}
	return a, nil
}

// lint: check holds on the whole folder.
func lint(_ context.Context, c *Candidate, dir string) (a Answer, err error) {
	findings, err := output.CheckEach(dir, func(n, of int) { c.say("gate lint", n, of) })
	if err != nil {
		return a, err
	}
	for _, f := range findings {
		a.Refuse = append(a.Refuse, Objection{"lint", f.Instance, f.String()})
	}
	return a, nil
}

// canary: it stands in every text and row, and nowhere that a solver or an image sees.
func canary(_ context.Context, c *Candidate, dir string) (a Answer, err error) {
	guid := output.Canary(c.Shelf.Feed.Dataset, string(c.Version))
	refuse := func(name, text string) {
		a.Refuse = append(a.Refuse, Objection{"canary", "", name + ": " + text})
	}
	for _, t := range c.Tasks {
		r := t.Row
		own := output.Canary(c.Shelf.Feed.Dataset, r.Benchmint.Release.First)
		if !strings.Contains(r.Benchmint.Release.Canary, own) {
			a.Refuse = append(a.Refuse, Objection{"canary", r.InstanceID, "its row does not hold that of " + r.Benchmint.Release.First})
		}
		if slices.ContainsFunc([]string{r.ProblemStatement, r.HintsText, r.Patch, r.TestPatch}, func(text string) bool { return strings.Contains(text, output.CanaryWords) }) {
			a.Refuse = append(a.Refuse, Objection{"canary", r.InstanceID, "what a solver or an image sees holds it"})
		}
	}
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if path.Dir(name) == output.BlobsDir && path.Ext(name) == "" {
			return nil // a package, as its registry has it
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		switch has := bytes.Contains(b, []byte(output.CanaryWords)) || bytes.Contains(b, []byte(guid)); {
		case path.Dir(name) == output.BlobsDir:
			if has, err = unpackedHas(b); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			} else if has {
				refuse(name, "a base tree holds it")
			}
		case output.ForSolvers(name) && has:
			refuse(name, "a solver or an image sees it")
		case !has && wantsCanary(name):
			refuse(name, "it is a text without the canary")
		}
		return nil
	})
	return a, err
}

// wantsCanary leaves out what solvers see, texts of others, sums and what is no text. An empty
// split has no rows and so no canary.
func wantsCanary(name string) bool {
	name = strings.TrimPrefix(name, output.HeldOutDir+"/")
	switch {
	case name == output.HeldOutFile, path.Dir(name) == output.BlobsDir: // encrypted, or base trees
		return false
	case output.ForSolvers(name), strings.HasPrefix(name, licencesDir+"/"), name == output.ChecksumsFile, path.Ext(name) == ".parquet":
		return false
	case path.Dir(name) == output.DataDir:
		return false // its rows were looked at
	}
	return true
}

func unpackedHas(b []byte) (bool, error) {
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return false, err
	}
	text, err := io.ReadAll(zr)
	return bytes.Contains(text, []byte(output.CanaryWords)), err
}

// client gets Hugging Face's. verify.ErrNoClient.
func client(ctx context.Context, c *Candidate) error {
	return verify.Ready(ctx, verify.HuggingFaceName, c.Client)
}

// huggingFace: the client that people use opens every configuration, and finds in it the rows that
// belong to it.
func huggingFace(ctx context.Context, c *Candidate, dir string) (a Answer, err error) {
	if len(c.Tasks) == 0 {
		return Answer{Skipped: "there are no rows that a client could open"}, nil
	}
	d, err := output.Read(dir)
	if err != nil {
		return a, err
	}
	for _, s := range d.Manifest.Splits {
		seen, err := verify.Configurations(ctx, dir, s.Name, d.ConfigRows(s.Name), c.Client)
		if err != nil {
			return a, err
		}
		for _, f := range seen.Formats {
			if f.Difference != "" {
				a.Refuse = append(a.Refuse, Objection{"huggingface", "", f.Format + ": " + f.Difference})
			}
		}
	}
	return a, nil
}
