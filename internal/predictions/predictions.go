// Package predictions reads what models answered: SWE-bench's predictions (JSON lines, a
// list, or an object by instance ID), RES-Q's submissions, and folders of patches or of solved
// trees.
//
// It never applies a patch, never knows a dataset, and never ends for one bad entry: what
// cannot be read is a Fault, and the rest is read.
package predictions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
)

// Prediction is one answer to one instance.
type Prediction struct {
	Instance string
	Model    string
	Sample   int // from 0, among the predictions of one model for one instance
	Patch    []byte
	// Tree is the folder of a solved tree, where the answer is one; Patch is nil then.
	Tree   string
	Tokens int64   // 0: not said
	Cost   float64 // dollars; 0: not said
	Where  string  // file, or file:line
}

// Fault is an entry that cannot be read.
type Fault struct {
	Where string // file, or file:line
	Err   error
}

func (f Fault) Error() string { return f.Where + ": " + f.Err.Error() }

// Read reads predictions from a file or a folder, in order. A path that cannot be opened, or
// holds nothing that is a prediction, is an error.
func Read(name string) ([]Prediction, []Fault, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{seen: map[[2]string]map[int]bool{}}
	if info.IsDir() {
		err = r.folder(name)
	} else {
		err = r.file(name)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(r.out)+len(r.faults) == 0 {
		return nil, nil, fmt.Errorf("%s holds no predictions", name)
	}
	return r.out, r.faults, nil
}

type reader struct {
	out    []Prediction
	faults []Fault
	seen   map[[2]string]map[int]bool // samples by instance and model
}

func (r *reader) fault(where string, err error) { r.faults = append(r.faults, Fault{where, err}) }

// take adds a prediction. sample is nil where the entry names none: it is the next one then.
func (r *reader) take(p Prediction, sample *int) {
	key := [2]string{p.Instance, p.Model}
	if r.seen[key] == nil {
		r.seen[key] = map[int]bool{}
	}
	if sample != nil {
		p.Sample = *sample
	} else {
		for r.seen[key][p.Sample] {
			p.Sample++
		}
	}
	switch {
	case p.Instance == "":
		r.fault(p.Where, errors.New("instance_id is empty"))
	case p.Sample < 0:
		r.fault(p.Where, fmt.Errorf("sample %d is below 0", p.Sample))
	case r.seen[key][p.Sample]:
		r.fault(p.Where, fmt.Errorf("%s: sample %d of model %q is given more than once", p.Instance, p.Sample, p.Model))
	default:
		r.seen[key][p.Sample] = true
		r.out = append(r.out, p)
	}
}

// entry is one prediction in JSON. Other keys are the model's own, and left alone.
type entry struct {
	Instance string  `json:"instance_id"`
	ID       string  `json:"id"` // RES-Q
	Model    string  `json:"model_name_or_path"`
	Patch    *string `json:"model_patch"`
	Plain    *string `json:"patch"` // RES-Q
	Sample   *int    `json:"sample"`
	Tokens   int64   `json:"total_tokens"`
	Cost     float64 `json:"cost"`
}

// keys are those that a misspelt one is compared with.
var keys = []string{"instance_id", "id", "model_name_or_path", "model_patch", "patch", "sample", "total_tokens", "cost"}

// one reads an entry. model stands for one that the entry does not name.
func (r *reader) one(where, id, model string, raw json.RawMessage) {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		r.fault(where, wrong(err))
		return
	}
	p := Prediction{Instance: first(e.Instance, e.ID, id), Model: first(e.Model, model), Tokens: e.Tokens, Cost: e.Cost, Where: where}
	patch := e.Patch
	if patch == nil {
		patch = e.Plain
	}
	switch {
	case p.Instance == "":
		r.fault(where, missing(raw, "instance_id"))
		return
	case patch == nil && !isNull(raw, "model_patch") && !isNull(raw, "patch"):
		r.fault(where, fmt.Errorf("%s: %w", p.Instance, missing(raw, "model_patch")))
		return
	case patch != nil:
		p.Patch = []byte(*patch)
	}
	r.take(p, e.Sample)
}

// isNull reports whether an entry has a key whose value is null: a model that gave nothing.
func isNull(raw json.RawMessage, key string) bool {
	var all map[string]json.RawMessage
	return json.Unmarshal(raw, &all) == nil && string(all[key]) == "null"
}

// missing says that a key is not there, and which key may be meant for it.
func missing(raw json.RawMessage, key string) error {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) == nil {
		for name := range all {
			if !slices.Contains(keys, name) && nearest.Hint(name, []string{key}) != "" {
				return fmt.Errorf("key %q is missing; is %q meant for it?", key, name)
			}
		}
	}
	return fmt.Errorf("key %q is missing", key)
}

func wrong(err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Errorf("key %q: a %s where a %s belongs", typed.Field, typed.Value, typed.Type)
	}
	return err
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// file reads one file of JSON lines, a list or an object.
func (r *reader) file(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	model := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	text := bytes.TrimSpace(b)
	switch {
	case len(text) == 0:
		return fmt.Errorf("%s is empty", name)
	case text[0] == '[':
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for i, raw := range list {
			r.one(fmt.Sprintf("%s: entry %d", name, i+1), "", model, raw)
		}
		return nil
	case text[0] == '{' && r.object(name, model, text):
		return nil
	case text[0] == '{':
		n := 0
		for line := range bytes.Lines(b) {
			n++
			if line = bytes.TrimSpace(line); len(line) > 0 {
				r.one(name+":"+strconv.Itoa(n), "", model, line)
			}
		}
		return nil
	}
	return fmt.Errorf("%s: not predictions: JSON lines, a list or an object of JSON, or a folder of patches are read", name)
}

// object reads one JSON object: of predictions by instance ID, or one prediction. It is
// false where the text is more than one value.
func (r *reader) object(name, model string, text []byte) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return false
	}
	if slices.ContainsFunc(keys, func(k string) bool { _, ok := all[k]; return ok }) {
		return false // one line of JSON lines
	}
	for _, id := range sortedKeys(all) {
		where := fmt.Sprintf("%s: %q", name, id)
		var patch string
		if json.Unmarshal(all[id], &patch) == nil {
			r.take(Prediction{Instance: id, Model: model, Patch: []byte(patch), Where: where}, nil)
			continue
		}
		r.one(where, id, model, all[id])
	}
	return true
}

func sortedKeys(m map[string]json.RawMessage) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// extensions are those of patches in a folder.
var extensions = []string{".patch", ".diff"}

// folder reads ID.patch, MODEL/ID.patch and MODEL/SAMPLE/ID.patch, and in their places folders
// that are called by an instance's ID: those hold solved trees, and nothing in them is read
// here. Files with other extensions are left alone.
func (r *reader) folder(dir string) error {
	root := os.DirFS(dir)
	return fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		where := filepath.Join(dir, filepath.FromSlash(p))
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && isID(path.Base(p)):
			r.placed(dir, p, Prediction{Instance: path.Base(p), Tree: where, Where: where})
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(extensions, path.Ext(p)):
			return nil
		}
		b, err := fs.ReadFile(root, p)
		if err != nil {
			r.fault(where, err)
			return nil
		}
		r.placed(dir, p, Prediction{Instance: strings.TrimSuffix(path.Base(p), path.Ext(p)), Patch: b, Where: where})
		return nil
	})
}

func isID(name string) bool {
	_, err := schemas.ParseInstanceID(name)
	return err == nil
}

// placed takes a prediction whose model and sample are said by the folders that it lies in.
func (r *reader) placed(dir, p string, out Prediction) {
	folders := strings.Split(path.Dir(p), "/")
	var sample *int
	switch {
	case folders[0] == ".":
		out.Model = filepath.Base(filepath.Clean(dir))
	case len(folders) == 1:
		out.Model = folders[0]
	case len(folders) == 2:
		n, err := strconv.Atoi(folders[1])
		if err != nil {
			r.fault(out.Where, fmt.Errorf("folder %q is not the number of a sample", folders[1]))
			return
		}
		out.Model, sample = folders[0], &n
	default:
		r.fault(out.Where, errors.New("too deep: ID.patch, MODEL/ID.patch and MODEL/SAMPLE/ID.patch are read"))
		return
	}
	r.take(out, sample)
}
