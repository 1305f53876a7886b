package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// reviewsUsage is the help of --reviews.
const reviewsUsage = "`FILE,…` of what people say of tasks (benchmint review)"

// reviews is what people say of tasks, by instance ID.
type reviews map[string][]schemas.PeerReview

// read reads files of it, before anything starts.
func (r *reviews) read(files []string) (err error) {
	if *r, err = config.ReadReviews(files); err != nil {
		return &ended{exitUsage, err}
	}
	return nil
}

// sayUnused names the tasks that people reviewed and the dataset of a configuration does not have, nor left out with
// their reviews: each with what became of it, or with a hint at what was meant.
func (r reviews) sayUnused(t *terminal, c *config.Config) error {
	if len(r) == 0 {
		return nil
	}
	d, err := output.Read(c.Output)
	if err != nil {
		return err
	}
	why, known := map[string]string{}, []string{}
	for _, x := range d.Rejects {
		why[x.InstanceID] = "; it ended with " + string(cmp.Or(x.Reason, schemas.Reason(x.End)))
		known = append(known, x.InstanceID)
		if len(x.Reviews) > 0 {
			why[x.InstanceID] = ""
		}
	}
	for _, x := range d.Rows {
		why[x.InstanceID] = ""
		known = append(known, x.InstanceID)
	}
	for _, id := range slices.Sorted(maps.Keys(r)) {
		ended, ok := why[id]
		if !ok {
			ended = nearest.Hint(id, known)
		}
		if !ok || ended != "" {
			t.say("%s: the dataset has no %s%s", strings.Join(c.Reviews, ", "), id, ended)
		}
	}
	return nil
}
