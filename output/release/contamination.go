package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/output"
)

// setsThere looks for the sets before anything is done.
func setsThere(_ context.Context, c *Candidate) error {
	for _, place := range c.Against {
		if _, err := os.Stat(place); err != nil {
			return fmt.Errorf("decontamination.against: %w", err)
		}
	}
	return nil
}

// decontaminated: no new task stands in another dataset, or in a version of this one under another name. A published
// task that does stays, and a person decides.
func decontaminated(ctx context.Context, c *Candidate) (a Answer, err error) {
	last, published := c.Shelf.Latest()
	if len(c.Against) == 0 && !published {
		return Answer{Skipped: "there is nothing to compare with (decontamination.against)"}, nil
	}
	var ours []contamination.Task
	fresh := map[string]bool{}
	for _, t := range c.Tasks {
		task, err := known(t.Row, c.Shelf.Feed.Dataset)
		if err != nil {
			return a, err
		}
		ours, fresh[t.Row.InstanceID] = append(ours, task), t.New
	}
	x := contamination.New(ours, c.Contamination)
	c.hits, c.known = nil, &output.Decontamination{Sets: []output.PublishedSet{}, Hits: []output.ContaminationHits{}}
	for i, place := range c.Against {
		c.say("sets that tasks are held against", i+1, len(c.Against))
		set, hits, err := x.Against(ctx, place)
		if err != nil {
			return a, fmt.Errorf("decontamination.against: %w", err)
		}
		if n := len(set.Bad); n > 0 {
			c.Decide = append(c.Decide, fmt.Sprintf("%s: %d rows could not be read, and nothing was compared with them; the first is %s", set.Name, n, set.Bad[0]))
		}
		c.known.Sets, c.hits = append(c.known.Sets, output.PublishedSet(set.SetRef)), append(c.hits, hits...)
	}
	if published {
		sets, hits, err := c.againstShelf(x, last, fresh)
		if err != nil {
			return a, err
		}
		c.known.Sets, c.hits = append(c.known.Sets, sets...), append(c.hits, hits...)
	}
	return c.decideHits(fresh), nil
}

// known is a row as it is compared.
func known(r output.Row, dataset string) (contamination.Task, error) {
	line, err := r.Encoded()
	if err != nil {
		return contamination.Task{}, fmt.Errorf("%s: %w", r.InstanceID, err)
	}
	t, err := contamination.FromRow(line, dataset)
	if err != nil {
		return t, fmt.Errorf("%s: %w", r.InstanceID, err)
	}
	return t, nil
}

// againstShelf compares new tasks with those of all versions, each as the newest version has it. Published tasks were
// compared when they came.
func (c *Candidate) againstShelf(x *contamination.Index, last Entry, fresh map[string]bool) (sets []output.PublishedSet, hits []contamination.Hit, err error) {
	seen := map[string]bool{}
	for _, e := range slices.Backward(c.Shelf.Feed.Versions) {
		d := c.Previous
		if e.Version != last.Version || d == nil {
			if d, err = c.Shelf.Dataset(e.Version); err != nil {
				return nil, nil, err
			}
		}
		set := contamination.SetRef{Name: c.Shelf.Feed.Dataset + " " + string(e.Version), SHA256: strings.TrimPrefix(string(e.Record), "sha256:"), Rows: len(d.Rows)}
		sets = append(sets, output.PublishedSet(set))
		hits = append(hits, x.Compare(set, tasksOf(d, seen, c.Shelf.Feed.Dataset, &err))...)
		if err != nil {
			return nil, nil, err
		}
	}
	return sets, slices.DeleteFunc(hits, func(h contamination.Hit) bool { return !fresh[h.InstanceID] }), nil
}

// tasksOf are the tasks of a version that are in no newer one.
func tasksOf(d *output.Dataset, seen map[string]bool, dataset string, fault *error) iter.Seq[contamination.Task] {
	return func(yield func(contamination.Task) bool) {
		for _, r := range d.Rows {
			if seen[r.InstanceID] {
				continue
			}
			seen[r.InstanceID] = true
			t, err := known(r.Row, dataset)
			if err != nil {
				*fault = err
				return
			}
			if !yield(t) {
				return
			}
		}
	}
}

// decideHits takes new tasks out, names published ones, and counts.
func (c *Candidate) decideHits(fresh map[string]bool) (a Answer) {
	counts := map[contamination.Key]map[string]string{} // by key and task: what follows
	said := map[string]bool{}
	for _, h := range c.hits {
		word := "labelled"
		if h.Action == contamination.Removed {
			word = "kept"
			if fresh[h.InstanceID] {
				word = "removed"
			}
			if !said[h.InstanceID] && fresh[h.InstanceID] {
				a.Remove = append(a.Remove, Objection{"decontamination", h.InstanceID, h.String()})
			} else if !said[h.InstanceID] {
				c.Decide = append(c.Decide, fmt.Sprintf("%s is published and %s; withdraw it (reason contaminated), or let it stand: whoever copied it came later", h.InstanceID, strings.TrimPrefix(h.String(), "it ")))
			}
			said[h.InstanceID] = true
		}
		if counts[h.Key] == nil {
			counts[h.Key] = map[string]string{}
		}
		if counts[h.Key][h.InstanceID] == "" || word != "labelled" {
			counts[h.Key][h.InstanceID] = word
		}
	}
	for _, key := range contamination.Keys {
		n := map[string]int{}
		for _, word := range counts[key] {
			n[word]++
		}
		if len(n) > 0 {
			c.known.Hits = append(c.known.Hits, output.ContaminationHits{Key: string(key), Removed: n["removed"], Kept: n["kept"], Label: n["labelled"]})
		}
	}
	rows := 0
	for _, s := range c.known.Sets {
		rows += s.Rows
	}
	a.Figures = map[string]float64{"sets": float64(len(c.known.Sets)), "rows": float64(rows), "hits": float64(len(c.hits))}
	return a
}

// writeContamination puts the hits into the version's folder, outside of the digests.
func (c *Candidate) writeContamination(dir string) error {
	if c.known == nil {
		return nil
	}
	b, err := contamination.Encode(c.hits)
	if err != nil {
		return err
	}
	guid := output.Canary(c.Shelf.Feed.Dataset, string(c.Version))
	return blob.WriteFile(filepath.Join(dir, output.DecontaminationFile), output.WithCanary(output.DecontaminationFile, b, guid))
}

// keepContamination copies the hits of a version without those of some tasks.
func keepContamination(from, to string, without []string) error {
	b, err := os.ReadFile(filepath.Join(from, output.DecontaminationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var out []byte
	for line := range bytes.Lines(b) {
		var h contamination.Hit
		if err := json.Unmarshal(line, &h); err != nil {
			return fmt.Errorf("%s: %w", output.DecontaminationFile, err)
		}
		if !slices.Contains(without, h.InstanceID) && !slices.Contains(without, h.Known) {
			out = append(out, line...)
		}
	}
	return blob.WriteFile(filepath.Join(to, output.DecontaminationFile), out)
}
