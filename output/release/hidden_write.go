package release

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Veiled is what release.json says of hidden tasks.
type Veiled struct {
	Drawn
	HeldOut VeiledHeldOut `json:"held_out_tasks"`
	Private VeiledPrivate `json:"private_tasks"`
	// Disclosed are those that this version makes public, with what shows that they are the rows that were committed to.
	Disclosed []Proof `json:"disclosed"`
	// Gone are commitments of the version before that nothing stands behind any more, and Revised those of rows that changed.
	Gone    []Gone    `json:"gone"`
	Revised []Revised `json:"revised"`
}

// VeiledHeldOut are the held-out tasks. Their statements and base trees are in held_out/, all else in File.
type VeiledHeldOut struct {
	Tasks []HeldOutTask `json:"tasks"` // in order of ID
	// File is the digest of held_out.age, "" where no task is held out; Keys are its recipients.
	File schemas.Digest `json:"file"`
	Keys []string       `json:"keys"`
}

// HeldOutTask is one that is held out.
type HeldOutTask struct {
	ID         string         `json:"id"`
	Opens      Version        `json:"opens"` // the version that makes it public
	Commitment schemas.Digest `json:"commitment"`
}

// VeiledPrivate are the private tasks: as many as there are commitments, in the order of these.
type VeiledPrivate struct {
	Commitments []schemas.Digest `json:"commitments"`
}

// Proof shows that a row is the one that was committed to: Commitment(Nonce, its line).
type Proof struct {
	ID         string         `json:"id"`
	Part       string         `json:"part"`
	Commitment schemas.Digest `json:"commitment"`
	Nonce      string         `json:"nonce"`
	// Row is the line that was committed to where the public row is a revision of it.
	Row string `json:"row,omitempty"`
}

// Gone is a hidden task that is out of the data.
type Gone struct {
	Commitment schemas.Digest     `json:"commitment"`
	Reason     schemas.Withdrawal `json:"reason"`
	Held       bool               `json:"held,omitempty"` // it may come back
}

// Revised is a hidden row that changed.
type Revised struct {
	From schemas.Digest `json:"from"`
	To   schemas.Digest `json:"to"`
}

func (v *Veiled) tasks() int {
	if v == nil {
		return 0
	}
	return len(v.HeldOut.Tasks) + len(v.Private.Commitments)
}

func byID(all []HeldOutTask) map[string]schemas.Digest {
	out := map[string]schemas.Digest{}
	for _, t := range all {
		out[t.ID] = t.Commitment
	}
	return out
}

// veil is what a version publishes of hidden tasks.
type veil struct {
	record   *Veiled
	manifest *output.Hidden
	files    map[string][]byte // by path in the version's folder
	rows     []output.Located  // that are hidden; nil where the files are those of another version
}

// lower makes the veil of a version. dir is the folder of its hidden tasks, "" where none are written with it.
func (c *Candidate) lower(dir string) (err error) {
	switch {
	case c.secret:
		return nil
	case c.draw == nil && c.Previous == nil:
		return nil
	case c.draw == nil: // a correction of public tasks: the hidden ones stay as they are
		last, _ := c.Shelf.Latest()
		c.veil, err = c.Shelf.veilOf(last.Version)
		return err
	}
	set := c.draw.last
	if dir != "" {
		if set, err = output.Read(dir); err != nil {
			return err
		}
	}
	v := &veil{record: &Veiled{Drawn: *c.Feed.Hidden, Disclosed: []Proof{}, Gone: []Gone{}, Revised: []Revised{}}, files: map[string][]byte{}}
	v.record.HeldOut.Tasks, v.record.HeldOut.Keys = []HeldOutTask{}, []string{}
	if set != nil {
		v.rows = set.Rows
	}
	c.veil = v
	return errors.Join(c.commit(set), c.proofsOf(), c.accounts(set), c.holdOut(set), c.countHidden(set))
}

// commit lists the commitments of hidden rows.
func (c *Candidate) commit(set *output.Dataset) error {
	heldOut, private, err := c.draw.commitments(set)
	if err != nil {
		return err
	}
	r := c.veil.record
	for _, row := range c.veil.rows {
		if row.Benchmint.Release.Part == output.HeldOut {
			r.HeldOut.Tasks = append(r.HeldOut.Tasks, HeldOutTask{row.InstanceID, Version(row.Benchmint.Release.Opens), heldOut[row.InstanceID]})
		}
	}
	slices.SortFunc(r.HeldOut.Tasks, func(a, b HeldOutTask) int { return strings.Compare(a.ID, b.ID) })
	r.Private.Commitments = append([]schemas.Digest{}, slices.Sorted(maps.Values(private))...)
	return nil
}

// proofsOf shows for each task that becomes public that it is the one that was committed to.
func (c *Candidate) proofsOf() error {
	for _, x := range c.Feed.Disclosed {
		if x.In != c.Version {
			continue
		}
		d, err := c.draw.shelf.Dataset(x.Last)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(d.Rows, func(r output.Located) bool { return r.InstanceID == x.ID })
		if i < 0 {
			return fmt.Errorf("%s: %s does not have it", x.ID, d.Dir)
		}
		line, err := d.Line(d.Rows[i])
		if err != nil {
			return err
		}
		nonce := c.draw.nonce(d.Rows[i].Row)
		p := Proof{ID: x.ID, Part: x.Part, Commitment: Commitment(nonce, line), Nonce: nonce}
		for _, t := range c.Tasks {
			if t.Row.InstanceID == x.ID && t.carried.Line != nil {
				p.Row = string(line)
			}
		}
		c.veil.record.Disclosed = append(c.veil.record.Disclosed, p)
	}
	return nil
}

// accounts says of each commitment of the version before that is not in this one what became of the task.
func (c *Candidate) accounts(set *output.Dataset) error {
	last, ok := c.Shelf.Latest()
	if !ok {
		return nil
	}
	before, err := c.Shelf.Record(last.Version)
	if err != nil || before.Hidden == nil {
		return err
	}
	now := c.veil.record.all()
	var missing []schemas.Digest
	for d := range before.Hidden.all() {
		if !now[d] && !slices.ContainsFunc(c.veil.record.Disclosed, func(p Proof) bool { return p.Commitment == d }) {
			missing = append(missing, d)
		}
	}
	slices.Sort(missing)
	heldOut, private, err := c.draw.commitments(set)
	if err != nil {
		return err
	}
	s := c.draw.shelf
	feed := s.Feed
	if c.hidden != nil {
		feed = c.hidden.Feed
	}
	for _, e := range slices.Backward(s.Feed.Versions) {
		if len(missing) == 0 {
			return nil
		}
		d, err := s.Dataset(e.Version)
		if err != nil {
			return err
		}
		a, b, err := c.draw.commitments(d)
		if err != nil {
			return err
		}
		maps.Copy(a, b)
		for _, id := range slices.Sorted(maps.Keys(a)) {
			if i := slices.Index(missing, a[id]); i >= 0 {
				missing = slices.Delete(missing, i, i+1)
				c.account(feed, id, a[id], cmp.Or(heldOut[id], private[id]))
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s has no row behind %d of the commitments of %s", s.Dir, len(missing), last.Version)
	}
	return nil
}

func (c *Candidate) account(feed Feed, id string, was, now schemas.Digest) {
	r := c.veil.record
	if now != "" {
		r.Revised = append(r.Revised, Revised{was, now})
		return
	}
	if w, ok := withdrawn(feed.Withdrawals, id, ""); ok {
		r.Gone = append(r.Gone, Gone{Commitment: was, Reason: w.Reason})
	} else if w, ok := withdrawn(feed.Held, id, ""); ok {
		r.Gone = append(r.Gone, Gone{Commitment: was, Reason: w.Reason, Held: true})
	}
}

// all are the commitments of both parts.
func (v *Veiled) all() map[schemas.Digest]bool {
	out := map[schemas.Digest]bool{}
	for _, t := range v.HeldOut.Tasks {
		out[t.Commitment] = true
	}
	for _, d := range v.Private.Commitments {
		out[d] = true
	}
	return out
}

// Names in held_out/ and in held_out.age.
const (
	heldOutRows = "tasks.jsonl"
	noncesFile  = "nonces.json"
)

// Shown is what a version publishes of a held-out task: enough to run a solver.
type Shown struct {
	InstanceID       string         `json:"instance_id"`
	Repo             string         `json:"repo"`
	BaseCommit       string         `json:"base_commit"`
	ProblemStatement string         `json:"problem_statement"`
	HintsText        string         `json:"hints_text"`
	CreatedAt        string         `json:"created_at"`
	Language         string         `json:"language"`
	Kind             schemas.Kind   `json:"kind"`
	Licence          string         `json:"licence"`
	BaseTree         string         `json:"base_tree"`
	BaseArchive      schemas.Digest `json:"base_archive"` // held_out/blobs/<hex>.tar.gz
	Interface        []schemas.Name `json:"interface"`
	Opens            string         `json:"opens"`
	Commitment       schemas.Digest `json:"commitment"` // to the whole row
}

// holdOut publishes what a solver needs of held-out tasks, and encrypts the rest.
func (c *Candidate) holdOut(set *output.Dataset) error {
	v := c.veil
	var lines []byte
	of := byID(v.record.HeldOut.Tasks)
	if len(of) == 0 {
		return nil
	}
	shown := &Candidate{Options: c.Options, texts: c.texts}
	for _, carried := range set.Carry(func(r output.Row) bool { return of[r.InstanceID] != "" }) {
		r := carried.Row.Row
		b, err := schemas.Canonical(Shown{
			r.InstanceID, r.Repo, r.BaseCommit, r.ProblemStatement, r.HintsText, r.CreatedAt, r.Benchmint.Language, r.Benchmint.Kind, r.Benchmint.Licence,
			r.Benchmint.Trees.Base, r.Benchmint.BaseArchive, r.Benchmint.Interface, r.Benchmint.Release.Opens, of[r.InstanceID],
		})
		if err != nil {
			return err
		}
		lines = append(append(lines, b...), '\n')
		if err := v.show(set, r); err != nil {
			return fmt.Errorf("%s: %w", r.InstanceID, err)
		}
		shown.Tasks = append(shown.Tasks, Task{Row: r, carried: carried})
	}
	v.files[path.Join(output.HeldOutDir, heldOutRows)] = lines
	notices := map[string][]byte{}
	canary := output.CanaryText(output.Canary(c.Shelf.Feed.Dataset, string(c.Version)))
	if err := shown.notice(notices, "<!-- "+canary+" -->\n\n"); err != nil {
		return err
	}
	for name, b := range notices {
		v.files[path.Join(output.HeldOutDir, name)] = b
	}
	sealed, err := c.sealed(set, of)
	if err != nil {
		return fmt.Errorf("%s: %w", output.HeldOutFile, err)
	}
	v.files[output.HeldOutFile] = sealed
	v.record.HeldOut.File, v.record.HeldOut.Keys = schemas.DigestBytes(sealed), slices.Clone(c.Parts.Keys)
	return nil
}

// show adds the files of a held-out task that a solver or its image gets, with the base tree. held_out/ is the context
// of their Dockerfiles.
func (v *veil) show(set *output.Dataset, r output.Row) error {
	if err := set.EachTaskFile(r.InstanceID, func(name string, _ fs.FileMode, b []byte) error {
		at := path.Join(output.TasksDir, r.InstanceID, name)
		if name == output.DockerfileFile || output.ForSolvers(at) && !strings.HasPrefix(name, output.InputDir+"/") {
			v.files[path.Join(output.HeldOutDir, at)] = output.Bare(at, b)
		}
		return nil
	}); err != nil {
		return err
	}
	blob := output.BlobPath(r.Benchmint.BaseArchive)
	b, err := os.ReadFile(filepath.Join(set.Dir, filepath.FromSlash(blob)))
	v.files[path.Join(output.HeldOutDir, blob)] = b
	return err
}

// sealed is the dataset of the held-out tasks, encrypted: a tar of its folder, but for the base trees that stand open.
func (c *Candidate) sealed(set *output.Dataset, of map[string]schemas.Digest) (_ []byte, err error) {
	dir, err := os.MkdirTemp(c.Shelf.Dir, begun+"held-out-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	nonces := map[string]string{}
	for _, r := range set.Rows {
		if of[r.InstanceID] != "" {
			nonces[r.InstanceID] = c.draw.nonce(r.Row)
		}
	}
	secret := map[string]bool{}
	for id := range c.draw.hidden {
		secret[id] = of[id] == ""
	}
	maps.DeleteFunc(secret, func(_ string, out bool) bool { return !out })
	in := c.input()
	in.Splits = []output.SplitInput{{Name: in.Splits[0].Name, Carried: set.Carry(func(r output.Row) bool { return of[r.InstanceID] != "" })}}
	in.Rejects, in.CarriedRejects, in.LeftOut, in.Packages, in.Wrote = nil, nil, nil, nil, nil
	in.Flakes, in.Untold = slices.Values(set.Flakes), secret
	in.Extra = func(output.Manifest, map[string]schemas.Digest) (map[string][]byte, error) {
		b, err := output.EncodeRecord(nonces)
		return map[string][]byte{noncesFile: b}, err
	}
	folder := filepath.Join(dir, "dataset")
	if _, err := output.Write(folder, in); err != nil {
		return nil, err
	}
	to, err := c.Parts.recipients()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w, err := age.Encrypt(&buf, to...)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(packFolder(w, folder), w.Close()); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// packFolder writes a folder without its blobs as tar.gz: no name, no time, no system in the header.
func packFolder(w io.Writer, dir string) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name == output.BlobsDir {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := tw.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: int64(info.Mode().Perm()), Size: int64(len(b)), Typeflag: tar.TypeReg, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = tw.Write(b)
		return err
	})
	return errors.Join(err, tw.Close(), zw.Close())
}

// countHidden is what manifest and card say of hidden tasks.
func (c *Candidate) countHidden(set *output.Dataset) (err error) {
	v := c.veil
	r := v.record
	v.manifest = &output.Hidden{
		Since: string(r.Since), HeldOutShare: r.Drawn.HeldOut, PrivateShare: r.Drawn.Private, HeldOut: len(r.HeldOut.Tasks), Private: len(r.Private.Commitments), Opens: []output.Opening{},
	}
	by := map[string]int{}
	for _, t := range r.HeldOut.Tasks {
		by[string(t.Opens)]++
	}
	for _, version := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return Version(a).Compare(Version(b)) }) {
		v.manifest.Opens = append(v.manifest.Opens, output.Opening{Version: version, Tasks: by[version]})
	}
	v.manifest.Shown, err = c.shown(set)
	return err
}

// veilOf reads what a published version says of hidden tasks, nil where it says nothing.
func (s *Shelf) veilOf(v Version) (*veil, error) {
	r, err := s.Record(v)
	if err != nil || r.Hidden == nil {
		return nil, err
	}
	m, err := output.ReadManifest(s.Path(v))
	if err != nil {
		return nil, err
	}
	again := *r.Hidden
	again.Disclosed, again.Gone, again.Revised = []Proof{}, []Gone{}, []Revised{}
	out := &veil{record: &again, manifest: m.Release.Hidden, files: map[string][]byte{}}
	read := func(name string) error {
		b, err := os.ReadFile(filepath.Join(s.Path(v), filepath.FromSlash(name)))
		out.files[name] = output.Bare(name, b)
		return err
	}
	if again.HeldOut.File == "" {
		return out, nil
	}
	if err := read(output.HeldOutFile); err != nil {
		return nil, err
	}
	return out, filepath.WalkDir(filepath.Join(s.Path(v), output.HeldOutDir), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(s.Path(v), p)
		if err != nil {
			return err
		}
		return read(filepath.ToSlash(name))
	})
}

// lines are the lines of all texts in a value of JSON, of texts that are JSON too.
func jsonLines(b []byte, do func(string)) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(b))
	for dec.Decode(&v) == nil {
		linesOf(v, do)
	}
}

func linesOf(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		if t := strings.TrimSpace(v); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			jsonLines([]byte(t), do)
		}
		for l := range strings.Lines(v) {
			do(l)
		}
	case []any:
		for _, x := range v {
			linesOf(x, do)
		}
	case map[string]any:
		for k, x := range v {
			do(k)
			linesOf(x, do)
		}
	}
}

// hiddenText says how many tasks are hidden, and names none.
func (c *Candidate) hiddenText(b *strings.Builder) {
	if c.veil != nil {
		r := c.veil.record
		fmt.Fprintf(b, "\n## Hidden\n\n%s held out, %d private. Since the version before %d are out of the data and %d changed.\n", tasks(len(r.HeldOut.Tasks)), len(r.Private.Commitments), len(r.Gone), len(r.Revised))
		return
	}
	if c.hidden == nil {
		return
	}
	n := map[string]int{}
	for _, t := range c.hidden.Tasks {
		n[t.Row.Benchmint.Release.Part]++
	}
	d := c.hidden.Diff
	fmt.Fprintf(b, "\n## Hidden\n\n%s held out, %d private: %d came, %d are out of the data, %d changed.\n", tasks(n[output.HeldOut]), n[output.Private], len(d.Came), len(d.Out)+len(d.Held), len(d.Changed))
}
