// Package predictions reads what models answered: SWE-bench's predictions (JSON lines, a
// list, or an object by instance ID) and those of the harnesses beside it, RES-Q's submissions, and folders of
// patches or of solved trees.
//
// It never applies a patch, never knows a dataset, and never ends for one bad entry: what
// cannot be read is a Fault, and the rest is read.
package predictions

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// Prediction is one answer to one instance.
type Prediction struct {
	Instance string
	Model    string
	Sample   int // from 0, among the predictions of one model for one instance
	Patch    []byte
	// Tree is the folder of a solved tree, where the answer is one; Patch is nil then.
	Tree string
	// Fault is why there is no answer, where a harness could not get one: that says nothing of the model. "" of an answer.
	Fault string
	// Agent and Setting are what the model was used with, where the entry says so: they are part of Model, too.
	Agent, Setting string
	Effort
	Where string // file, or file:line
	// Said is what a reader of the verdict has to know of how the entry was read.
	Said []string
}

// Effort is what the answer took, as far as the entry says.
type Effort = schemas.Effort

// NoAnswer begins Prediction.Fault.
const NoAnswer = "no answer: "

// Fault is an entry that cannot be read.
type Fault struct {
	Where string // file, or file:line
	Err   error
}

func (f Fault) Error() string { return f.Where + ": " + f.Err.Error() }

// Read reads predictions from files and folders, in order. A path that cannot be opened, or
// holds nothing that is a prediction, is an error; so are answers of which nothing says whether
// they are of two models or two samples of one.
func Read(names ...string) ([]Prediction, []Fault, error) {
	all := &reader{}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, nil, err
		}
		r := &reader{}
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
		all.out, all.faults = append(all.out, r.out...), append(all.faults, r.faults...)
	}
	out, err := all.numbered()
	return out, all.faults, err
}

type reader struct {
	model  string // stands for one that an entry does not name
	out    []taken
	faults []Fault
}

// taken is a prediction before its sample is known.
type taken struct {
	Prediction
	sample *int // nil where the entry names none
	named  bool // the entry, or a folder, names the model
}

func (r *reader) fault(where string, err error) { r.faults = append(r.faults, Fault{where, err}) }

func (r *reader) take(p Prediction, sample *int, named bool) {
	p.Model = called(p.Model, p.Agent, p.Setting)
	r.out = append(r.out, taken{Prediction: p, sample: sample, named: named})
}

// numbered are the predictions with their samples: those that are named first, then the others in their
// order, so that no entry takes another one's number.
func (r *reader) numbered() ([]Prediction, error) {
	type key struct{ instance, model string }
	seen, unnumbered := map[key]map[int]bool{}, map[key][]int{}
	keep := make([]bool, len(r.out))
	for i, t := range r.out {
		k := key{t.Instance, t.Model}
		if seen[k] == nil {
			seen[k] = map[int]bool{}
		}
		switch {
		case t.sample == nil:
			unnumbered[k] = append(unnumbered[k], i)
		case *t.sample < 0:
			r.fault(t.Where, fmt.Errorf("sample %d is below 0", *t.sample))
		case seen[k][*t.sample]:
			r.fault(t.Where, fmt.Errorf("%s: sample %d of model %q is given more than once", t.Instance, *t.sample, t.Model))
		default:
			seen[k][*t.sample], keep[i], r.out[i].Sample = true, true, *t.sample
		}
	}
	var out []Prediction
	for i := range r.out {
		t := &r.out[i]
		k := key{t.Instance, t.Model}
		if t.sample == nil {
			if before := r.out[unnumbered[k][0]]; !t.named && before.Where != t.Where {
				if !bytes.Equal(before.Patch, t.Patch) {
					return nil, fmt.Errorf("%s and %s both answer %s: two models, or two samples of one? name the model (model_name_or_path, or model and prefix as in SWE-bench Pro) or the sample (sample, or sample_idx) in each entry", before.Where, t.Where, t.Instance)
				}
				r.fault(t.Where, fmt.Errorf("%s: the same answer is given more than once (%s)", t.Instance, before.Where))
				continue
			}
			for seen[k][t.Sample] {
				t.Sample++
			}
			seen[k][t.Sample], keep[i] = true, true
		}
		if keep[i] {
			out = append(out, t.Prediction)
		}
	}
	return out, nil
}

// extensions are those of patches in a folder.
var extensions = []string{".patch", ".diff"}

// files are those that harnesses put all answers of a run into.
var files = []string{"preds.json", "all_preds.jsonl", "output.jsonl", "predictions.jsonl", "predictions.json"}

// folder reads ID.patch, MODEL/ID.patch and MODEL/SAMPLE/ID.patch, and in their places folders
// that are called by an instance's ID: those hold solved trees, and nothing in them is read
// here, but for a harness's own folder of an instance. Where a harness put all answers into one file of the
// folder, that is read. Files with other extensions are left alone.
func (r *reader) folder(dir string) error {
	for _, name := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			err := r.file(filepath.Join(dir, name))
			r.trajectories(dir)
			return err
		}
	}
	if r.job(dir) || r.jobs(dir) {
		return nil
	}
	if runs := runsIn(dir); len(runs) > 0 {
		var errs []error
		for _, run := range runs {
			errs = append(errs, r.folder(run))
		}
		return errors.Join(errs...)
	}
	before := len(r.out)
	if r.trajectories(dir); len(r.out) > before {
		return nil
	}
	root := os.DirFS(dir)
	return fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		where := filepath.Join(dir, filepath.FromSlash(p))
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && isID(path.Base(p)):
			r.instance(dir, p)
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

// instance reads a folder that is called by an instance's ID: a solved tree, or what a harness left of it.
func (r *reader) instance(dir, p string) {
	where := filepath.Join(dir, filepath.FromSlash(p))
	out := Prediction{Instance: path.Base(p), Tree: where, Where: where}
	name := answerIn(where, out.Instance)
	if path.Ext(name) == ".pred" {
		if err := r.file(filepath.Join(where, name)); err != nil {
			r.fault(filepath.Join(where, name), err)
		}
		return
	}
	_, err := os.Stat(filepath.Join(where, "run_instance.log"))
	switch {
	case name != "":
		out.Where, out.Tree = filepath.Join(where, name), ""
		if out.Patch, err = os.ReadFile(out.Where); err != nil {
			r.fault(out.Where, err)
			return
		}
	case err == nil: // of SWE-bench, and no solved tree
		out.Tree, out.Fault = "", NoAnswer+"SWE-bench's folder has no patch.diff"
	}
	r.placed(dir, p, out)
}

// answerIn is the file of a patch in a harness's folder of an instance: SWE-agent's has ID.pred and ID.patch,
// and SWE-bench's logs have patch.diff beside what its harness ran. It is "" in a solved tree.
func answerIn(folder, id string) string {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	}
	switch {
	case has(id + ".pred"): // it names the model too
		return id + ".pred"
	case has(id + ".patch"):
		return id + ".patch"
	case has("patch.diff") && (has("eval.sh") || has("run_instance.log")):
		return "patch.diff"
	}
	return ""
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
	r.take(out, sample, true)
}

// Matched are predictions with the IDs of known instances. An ID that is none of them is taken for the
// only one that differs from it in case, or in the "instance_" that SWE-bench Pro puts before its own; those
// come last, so that none stands in the way of an exact one.
func Matched(all []Prediction, known []string) []Prediction {
	short := func(id string) string {
		return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "instance_")
	}
	like := map[string][]string{}
	for _, id := range known {
		like[short(id)] = append(like[short(id)], id)
	}
	var out, loose []Prediction
	for _, p := range all {
		is := like[short(p.Instance)]
		if slices.Contains(known, p.Instance) || len(is) != 1 {
			out = append(out, p)
			continue
		}
		p.Said = append(p.Said, fmt.Sprintf("instance %s is taken for %s", p.Instance, is[0]))
		p.Instance = is[0]
		loose = append(loose, p)
	}
	return append(out, loose...)
}
