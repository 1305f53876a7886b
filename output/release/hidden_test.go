package release

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/parquet-go/parquet-go"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// veiledShelf is a shelf with hidden parts, as tests use it.
type veiledShelf struct {
	dir, folder string
	parts       Parts
	keys        string // a file of the key that opens held-out tasks
}

func newVeiled(t testing.TB) veiledShelf {
	t.Helper()
	root := t.TempDir()
	id, err := age.GenerateX25519Identity()
	must(t, err)
	s := veiledShelf{dir: filepath.Join(root, "releases"), folder: filepath.Join(root, "hidden"), keys: filepath.Join(root, "key.txt")}
	put(t, s.keys, id.String()+"\n")
	s.parts = Parts{HeldOut: 0.3, Private: 0.3, Salt: strings.Repeat("salt", 8), Keys: []string{id.Recipient().String()}, Opens: "2025.04", Dir: s.folder}
	return s
}

func (s veiledShelf) options(w *output.Dataset, day string) Options {
	o, p := options(w, day), s.parts
	o.Parts = &p
	return o
}

// publish makes a version that must hold, on both shelves.
func (s veiledShelf) publish(t testing.TB, o Options) *Candidate {
	t.Helper()
	c := publish(t, s.dir, o)
	shelf, err := Read(s.dir)
	must(t, err)
	findings, err := shelf.CheckHidden(s.parts, func(string, int, int) {})
	must(t, err)
	for _, f := range findings {
		t.Errorf("check: %s", f)
	}
	return c
}

// places are the parts of all tasks after a version.
func (s veiledShelf) places(t testing.TB, v Version) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, id := range idsOf(t, s.dir, v) {
		out[id] = output.Public
	}
	h, err := Read(s.folder)
	must(t, err)
	d, err := h.newest()
	must(t, err)
	for _, r := range d.Rows {
		if out[r.InstanceID] != "" {
			t.Errorf("%s is public and hidden", r.InstanceID)
		}
		out[r.InstanceID] = r.Benchmint.Release.Part
	}
	return out
}

// months are changes of three months.
func months() (first, second, third []change) {
	for i := range 12 {
		first, second, third = append(first, rosewood(100+i, "2025-01-10")), append(second, rosewood(200+i, "2025-02-10")), append(third, rosewood(300+i, "2025-03-10"))
	}
	return first, slices.Concat(first, second), slices.Concat(first, second, third)
}

// rosewood is a change with a base tree of its own.
func rosewood(number int, day string) change {
	c := widget(number, day)
	c.licence += fmt.Sprintf("Made of rosewood%d.\n", number)
	return c
}

// TestDraw: a part is what HMAC-SHA256 of the identity says, keyed by the salt (the figures are those of Python's hmac).
func TestDraw(t *testing.T) {
	t.Parallel()
	p := newVeiled(t).parts
	for text, want := range map[string]float64{"sha256:aa": 0.08553790863054322, "sha256:bb": 0.5992733538241604, "acme__widget-1": 0.9572791799846283} {
		if got := p.fraction("part", text); math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %v, not %v", text, got, want)
		}
	}
	other := p
	other.Salt = strings.Repeat("pepper", 8)
	const n = 10_000
	count, same := map[string]int{}, 0
	for i := range n {
		id := fmt.Sprint("task", i)
		count[p.part(id)]++
		if p.part(id) == other.part(id) {
			same++
		}
	}
	if count[output.Private] < 2850 || count[output.Private] > 3150 || count[output.HeldOut] < 2850 || count[output.HeldOut] > 3150 {
		t.Errorf("of %d: %v", n, count)
	}
	if same < 3200 || same > 3600 { // 0.3² + 0.3² + 0.4²
		t.Errorf("another salt draws %d of %d the same", same, n)
	}
	if p.committed() == other.committed() || p.nonce(output.Row{InstanceID: "a"}) == p.nonce(output.Row{InstanceID: "b"}) {
		t.Error("two salts or nonces are one")
	}
}

// TestHiddenParts: three releases with three parts. No task moves but those that are opened or revealed, the file of
// held-out tasks opens with its key alone, and what is hidden stands nowhere.
func TestHiddenParts(t *testing.T) {
	t.Parallel()
	s := newVeiled(t)
	first, second, third := months()
	s.publish(t, s.options(work(t, []ledgerFlake{flaky("tests/test_widget.py::test_other")}, first...), "2025-02-01"))
	one := s.places(t, "2025.02")
	s.unseen(t, "2025.02", one)
	s.publish(t, s.options(work(t, nil, second...), "2025-03-01"))
	two := s.places(t, "2025.03")
	s.unseen(t, "2025.03", two)
	for id, part := range one {
		if two[id] != part {
			t.Errorf("%s moved from %s to %s", id, part, two[id])
		}
	}
	counts := map[string]int{}
	for _, part := range two {
		counts[part]++
	}
	if len(two) != 24 || counts[output.Public] < 3 || counts[output.HeldOut] < 3 || counts[output.Private] < 3 {
		t.Fatalf("%d tasks: %v", len(two), counts)
	}
	s.opens(t, "2025.03", two)

	var shown string
	for _, id := range slices.Sorted(maps.Keys(two)) {
		if two[id] == output.Private {
			shown = id
		}
	}
	s.parts.Opens = "2026.01"
	o := s.options(work(t, nil, third...), "2025-04-01")
	o.Parts.Reveal = []string{"acme__widget-999"}
	if _, err := plan(s.dir, o, true); err == nil || !strings.Contains(err.Error(), "--reveal acme__widget-999: no private task has this name") {
		t.Errorf("%v", err)
	}
	o.Parts.Reveal = []string{shown}
	c := s.publish(t, o)
	three := s.places(t, "2025.04")
	s.unseen(t, "2025.04", three)
	for id, part := range two {
		want := part
		if part == output.HeldOut || id == shown {
			want = output.Public
		}
		if three[id] != want {
			t.Errorf("%s is %s and was %s", id, three[id], part)
		}
	}
	if got := ids(c.Diff.Opened); len(got) != counts[output.HeldOut] || !slices.Equal(ids(c.Diff.Revealed), []string{shown}) {
		t.Errorf("opened %q, revealed %v", got, c.Diff.Revealed)
	}
	for _, word := range []string{"## Opened", "## Revealed", "`" + shown + "`"} {
		if !strings.Contains(read(t, filepath.Join(s.dir, "2025.04", ChangelogFile)), word) {
			t.Errorf("the changelog does not have %q", word)
		}
	}
	before := contents(t, s.dir)
	if c, err := plan(s.dir, s.options(work(t, nil, third...), "2025-05-01"), false); err != nil || !c.Nothing() {
		t.Errorf("something is new: %v", err)
	}
	s.forged(t, shown)
	same(t, "the shelf", before, contents(t, s.dir))
}

// unseen searches every byte of a version for what hidden tasks add, and for names of private ones.
func (s veiledShelf) unseen(t testing.TB, v Version, places map[string]string) {
	t.Helper()
	dir := filepath.Join(s.dir, string(v))
	found := 0
	for name := range files(t, dir) {
		text := decoded(t, name, read(t, filepath.Join(dir, name)))
		for id, part := range places {
			_, number, _ := strings.Cut(id, "-")
			switch {
			case part == output.Public:
				found += strings.Count(text, "cornflower"+number)
			case strings.Contains(text, "cornflower"+number):
				t.Errorf("%s: %s, which is %s, stands in %s", v, id, part, name)
			case part == output.Private && strings.Contains(text, "rosewood"+number+"."), part == output.HeldOut && strings.Contains(text, "rosewood"+number+".") && !strings.HasPrefix(name, output.HeldOutDir+"/"):
				t.Errorf("%s: %s holds the base tree of %s, which is %s", v, name, id, part)
			case part == output.Private && strings.Contains(text, id):
				t.Errorf("%s: %s names %s, which is private", v, name, id)
			}
		}
	}
	if found == 0 {
		t.Error("the search finds nothing at all")
	}
}

// decoded is a file as text: without compression.
func decoded(t testing.TB, name, text string) string {
	t.Helper()
	switch {
	case strings.HasSuffix(name, ".gz"):
		zr, err := gzip.NewReader(strings.NewReader(text))
		must(t, err)
		b, err := io.ReadAll(zr)
		must(t, err)
		return string(b)
	case filepath.Ext(name) == ".parquet":
		f, err := parquet.OpenFile(strings.NewReader(text), int64(len(text)))
		must(t, err)
		var b strings.Builder
		for _, g := range f.RowGroups() {
			rows := make([]parquet.Row, g.NumRows())
			r := g.Rows()
			_, err := r.ReadRows(rows)
			if err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			for _, row := range rows {
				for _, v := range row {
					fmt.Fprintln(&b, v.String())
				}
			}
			must(t, r.Close())
		}
		return b.String()
	}
	return text
}

// opens: the key opens the held-out tasks, and nothing else does.
func (s veiledShelf) opens(t testing.TB, v Version, places map[string]string) {
	t.Helper()
	dir, to := filepath.Join(s.dir, string(v)), filepath.Join(t.TempDir(), "opened")
	_, n, err := OpenHeldOut(dir, s.keys, to)
	must(t, err)
	d, err := output.Read(to)
	must(t, err)
	var got []string
	for _, r := range d.Rows {
		got = append(got, r.InstanceID)
		if part := places[r.InstanceID]; part == output.HeldOut != (r.Benchmint.Release.Part == output.HeldOut) {
			t.Errorf("%s: part is %q", r.InstanceID, r.Benchmint.Release.Part)
		}
	}
	var want []string
	held := 0
	for _, id := range slices.Sorted(maps.Keys(places)) {
		if places[id] == output.HeldOut {
			held++
		}
		if places[id] != output.Private {
			want = append(want, id)
		}
	}
	if !slices.Equal(got, want) || n != held {
		t.Errorf("opened %d: %q, not %q", n, got, want)
	}
	other, err := age.GenerateX25519Identity()
	must(t, err)
	keys := filepath.Join(t.TempDir(), "other.txt")
	put(t, keys, other.String())
	if _, _, err := OpenHeldOut(dir, keys, to+"2"); !errors.Is(err, ErrKey) {
		t.Errorf("another key: %v", err)
	}
	path := filepath.Join(dir, output.ReleaseFile)
	was, r := read(t, path), record(t, s.dir, v)
	r.Hidden.HeldOut.Tasks[0].Commitment = schemas.DigestBytes([]byte("another row"))
	b, err := output.EncodeRecord(r)
	must(t, err)
	put(t, path, string(b))
	if _, _, err := OpenHeldOut(dir, s.keys, to+"3"); err == nil || !strings.Contains(err.Error(), r.Hidden.HeldOut.Tasks[0].ID+": the row is not the one that") {
		t.Errorf("a row that was not committed to: %v", err)
	}
	put(t, path, was)
	shown, err := ShownTasks(dir)
	must(t, err)
	for _, x := range shown {
		for _, name := range []string{"tasks/" + x.InstanceID + "/statement.md", "tasks/" + x.InstanceID + "/Dockerfile", output.BlobPath(x.BaseArchive)} {
			if _, err := os.Stat(filepath.Join(dir, output.HeldOutDir, name)); err != nil {
				t.Error(err)
			}
		}
	}
}

// forged: a row that became public and is not the one that was committed to is found.
func (s veiledShelf) forged(t testing.TB, id string) {
	t.Helper()
	shelf, err := Read(s.dir)
	must(t, err)
	r, err := shelf.Record("2025.04")
	must(t, err)
	i := slices.IndexFunc(r.Hidden.Disclosed, func(p Proof) bool { return p.ID == id })
	d := dataset(t, s.dir, "2025.04")
	side, err := SideOf("2025.04", d)
	must(t, err)
	p, row := r.Hidden.Disclosed[i], side.Rows[id]
	if all := differs(p, row); len(all) > 0 {
		t.Errorf("%q", all)
	}
	forged := row
	forged.Patch = strings.ReplaceAll(row.Patch, "return", "return  ")
	forged.Raw, err = forged.Encoded()
	must(t, err)
	for name, x := range map[string]struct {
		p    Proof
		row  Line
		text string
	}{
		"other_row":                 {p, forged, "is not the one that was committed to"},
		"other_nonce":               {Proof{ID: id, Commitment: p.Commitment, Nonce: "1" + p.Nonce[1:]}, row, "is not the one that was committed to"},
		"other_patch_as_a_revision": {Proof{ID: id, Commitment: p.Commitment, Nonce: p.Nonce, Row: string(row.Raw)}, forged, "its patches, base tree or identity are other ones"},
	} {
		if all := differs(x.p, x.row); len(all) == 0 || !strings.Contains(all[0], x.text) {
			t.Errorf("%s: %q", name, all)
		}
	}
	// A commitment that no version made.
	path := filepath.Join(s.dir, "2025.04", output.ReleaseFile)
	was := read(t, path)
	defer put(t, path, was)
	r.Hidden.Disclosed[i].Commitment = Commitment(p.Nonce, forged.Raw)
	b, err := output.EncodeRecord(r)
	must(t, err)
	put(t, path, string(b))
	var got []string
	for _, f := range findings(t, s.dir) {
		got = append(got, f.String())
	}
	for _, text := range []string{id + ": no version before committed to", id + ": the row that is public is not the one", "gone without a word"} {
		if !slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, text) }) {
			t.Errorf("%q is not found: %q", text, got)
		}
	}
}

// TestHiddenRefused: what would move a task or lose one is refused before anything is written.
func TestHiddenRefused(t *testing.T) {
	t.Parallel()
	s := newVeiled(t)
	first, second, _ := months()
	s.publish(t, s.options(work(t, nil, first...), "2025-02-01"))
	before, beforeHidden := contents(t, s.dir), contents(t, s.folder)
	w := work(t, nil, second...)
	for _, tt := range []struct {
		name, text string
		edit       func(*Options)
	}{
		{"other_salt", "the salt is not the one of 2025.02", func(o *Options) { o.Parts.Salt = strings.Repeat("pepper", 8) }},
		{"other_share", "are not those of 2025.02 (0.3 and 0.3)", func(o *Options) { o.Parts.HeldOut = 0.2 }},
		{"nothing_hidden", "without these shares a task would move", func(o *Options) { o.Parts = nil }},
		{"no_folder", "hidden tasks of 2025.02: ", func(o *Options) { o.Parts.Dir = filepath.Join(t.TempDir(), "none") }},
		{"opened_already", `hidden.opens "2025.03" is not a version after 2025.03`, func(o *Options) { o.Parts.Opens = "2025.03" }},
	} {
		o := s.options(w, "2025-03-01")
		tt.edit(&o)
		if _, err := plan(s.dir, o, true); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.name, err)
		}
		same(t, tt.name, before, contents(t, s.dir))
		same(t, tt.name, beforeHidden, contents(t, s.folder))
	}
	if _, err := os.Stat(filepath.Join(s.dir, "2025.03")); err == nil {
		t.Error("it is written")
	}
	for _, p := range []Parts{{HeldOut: 0.1, Salt: "short"}, {HeldOut: 0.1, Salt: s.parts.Salt}, {HeldOut: 0.1, Salt: s.parts.Salt, Keys: []string{"age1nokey"}}, {HeldOut: 0.6, Private: 0.6, Salt: s.parts.Salt}} {
		if p.Check() == nil {
			t.Errorf("%+v is taken", p)
		}
	}
}

// TestHiddenBegins: tasks that were public before hidden parts began stay so.
func TestHiddenBegins(t *testing.T) {
	t.Parallel()
	s := newVeiled(t)
	first, second, _ := months()
	publish(t, s.dir, options(work(t, nil, first...), "2025-02-01"))
	s.publish(t, s.options(work(t, nil, second...), "2025-03-01"))
	for id, part := range s.places(t, "2025.03") {
		if strings.Contains(id, "-1") && part != output.Public {
			t.Errorf("%s was public and is %s", id, part)
		}
	}
	if h := feedOf(t, s.dir).Hidden; h == nil || h.Since != "2025.03" {
		t.Errorf("%+v", h)
	}
}

// TestHiddenTaken: a hidden task is withdrawn on its shelf, and the public one says that one is gone and names none.
// Corrections of public tasks leave what is hidden as it is.
func TestHiddenTaken(t *testing.T) {
	t.Parallel()
	s := newVeiled(t)
	first, _, _ := months()
	s.publish(t, s.options(work(t, nil, first...), "2025-02-01"))
	by := map[string][]string{}
	for id, part := range s.places(t, "2025.02") {
		by[part] = append(by[part], id)
	}
	correct := func(parts *Parts, a Act) error {
		shelf, err := Open(context.Background(), s.dir, "bench")
		must(t, err)
		defer shelf.Close()
		o := options(nil, "2025-02-01")
		o.Parts = parts
		_, err = shelf.Correct(context.Background(), o, a)
		return err
	}
	act := Act{IDs: by[output.Private][:1], Reason: schemas.ForUnfair, Text: "nobody can know the name"}
	must(t, correct(&s.parts, act))
	holds(t, s.dir)
	holds(t, s.folder)
	r := record(t, s.dir, "2025.02.1")
	if len(r.Hidden.Gone) != 1 || r.Hidden.Gone[0].Reason != schemas.ForUnfair || len(r.Hidden.Private.Commitments) != len(by[output.Private])-1 {
		t.Errorf("%+v", r.Hidden)
	}
	places := s.places(t, "2025.02.1")
	places[act.IDs[0]] = output.Private
	s.unseen(t, "2025.02.1", places)
	if strings.Contains(read(t, filepath.Join(s.dir, FeedFile)), act.IDs[0]) {
		t.Error("the feed names it")
	}
	if err := correct(&s.parts, Act{IDs: by[output.HeldOut][:1], Reason: schemas.ForTakeDown, Text: "asked for", Purge: true}); err == nil || !strings.Contains(err.Error(), "is hidden, and --purge") {
		t.Errorf("%v", err)
	}
	must(t, correct(nil, Act{IDs: by[output.Public][:1], Reason: schemas.ForUnfair, Text: "nobody can know the name"}))
	holds(t, s.dir)
	if a, b := record(t, s.dir, "2025.02.2").Hidden, r.Hidden; !slices.Equal(a.Private.Commitments, b.Private.Commitments) || a.HeldOut.File != b.HeldOut.File {
		t.Error("what is hidden changed")
	}
	must(t, correct(nil, Act{IDs: by[output.Public][1:2], Reason: schemas.ForTakeDown, Text: "asked for", Purge: true}))
	holds(t, s.dir)
	if _, n, err := OpenHeldOut(filepath.Join(s.dir, "2025.02"), s.keys, filepath.Join(t.TempDir(), "opened")); err != nil || n != len(by[output.HeldOut]) {
		t.Errorf("a version with a purge: %d opened, %v", n, err)
	}
}

// TestHiddenGate: a public file that holds what a hidden task adds refuses the version.
func TestHiddenGate(t *testing.T) {
	t.Parallel()
	s := newVeiled(t)
	first, _, _ := months()
	c := s.publish(t, s.options(work(t, nil, first...), "2025-02-01"))
	dir := filepath.Join(s.dir, "2025.02")
	a, err := gates["hidden"].Read(context.Background(), c, dir)
	must(t, err)
	if len(a.Refuse) > 0 {
		t.Fatalf("%v", a.Refuse)
	}
	secret := c.hidden.Tasks[0].Row
	for _, r := range c.hidden.Tasks {
		if r.Row.Benchmint.Release.Part == output.Private {
			secret = r.Row
		}
	}
	line, err := secret.Encoded()
	must(t, err)
	for name, text := range map[string]string{
		"rejects.jsonl": string(line), "NOTICE.md": secret.Patch + secret.TestPatch, "CHANGELOG.md": "as " + secret.InstanceID + " does.",
		"tasks/x/proof.json": fmt.Sprintf("{\"log\": %q}", secret.TestPatch+secret.Patch),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		was, _ := os.ReadFile(path)
		put(t, path, string(was)+text)
		a, err := gates["hidden"].Read(context.Background(), c, dir)
		must(t, err)
		if !slices.ContainsFunc(a.Refuse, func(o Objection) bool { return o.ID == secret.InstanceID && strings.HasPrefix(o.Text, name) }) {
			t.Errorf("%s: %v", name, a.Refuse)
		}
		must(t, os.WriteFile(path, was, 0o644))
	}
}

// TestHiddenFlakes: a flake that only hidden tasks know is named nowhere, and counts all the same.
func TestHiddenFlakes(t *testing.T) {
	t.Parallel()
	s := newVeiled(t)
	first, _, _ := months()
	s.publish(t, s.options(work(t, nil, first...), "2025-02-01"))
	var private string
	for id, part := range s.places(t, "2025.02") {
		if part == output.Private {
			private = max(private, id)
		}
	}
	f := flaky(guarding)
	f.Changes = []string{private}
	s.publish(t, s.options(work(t, []ledgerFlake{f}, first...), "2025-03-01"))
	s.unseen(t, "2025.03", s.places(t, "2025.03"))
	for _, r := range dataset(t, s.dir, "2025.03").Rows {
		if slices.Contains(r.PassToPass, guarding) || r.Benchmint.Release.Revision != 1 {
			t.Errorf("%s keeps it: %q", r.InstanceID, r.PassToPass)
		}
	}
	if h := record(t, s.dir, "2025.03").Hidden; len(h.Revised) != h.tasks() {
		t.Errorf("%d of %d revised", len(h.Revised), h.tasks())
	}
}

// TestHiddenTampered: a hidden row that is changed on its shelf is not the one that was committed to.
func TestHiddenTampered(t *testing.T) {
	t.Parallel()
	s := newVeiled(t)
	first, second, _ := months()
	s.publish(t, s.options(work(t, nil, first...), "2025-02-01"))
	path := filepath.Join(s.folder, "2025.02", "data", "test.jsonl")
	b := []byte(read(t, path))
	put(t, path, string(bytes.Replace(b, []byte("give widgets"), []byte("lend widgets"), 1)))
	if _, err := plan(s.dir, s.options(work(t, nil, second...), "2025-03-01"), true); err == nil || !strings.Contains(err.Error(), "holds other tasks than 2025.02 commits to") {
		t.Errorf("%v", err)
	}
}
