package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/stages"
)

// writes reports whether a run up to a stage writes the dataset.
func writes(until string) bool { return until == "" || until == stages.Export }

// places says everything that is wrong with the folders of store and dataset before
// hours of work end at them. It makes neither.
func places(c *config.Config, until string) error {
	var problems config.Problems
	add := func(key string, err error) {
		if err != nil {
			problems = append(problems, config.Problem{Where: c.Origin(key).Where, Text: key + ": " + err.Error()})
		}
	}
	add("store", store.Fit(c.Store))
	if writes(until) {
		err := output.Fit(c.Output)
		if err == nil {
			err = separate(c)
		}
		add("output", err)
	}
	if len(problems) > 0 {
		return &ended{exitUsage, problems}
	}
	return nil
}

// separate: a dataset is replaced as a whole, and a store is deleted as a whole.
func separate(c *config.Config) error {
	out, outErr := output.RealPath(c.Output)
	kept, keptErr := output.RealPath(c.Store)
	if err := errors.Join(outErr, keptErr); err != nil {
		return err
	}
	switch {
	case out == kept:
		return errors.New("is the folder of the store")
	case output.Within(out, kept):
		return fmt.Errorf("the store at %s lies in it, and a dataset is replaced as a whole", c.Store)
	case output.Within(kept, out):
		return fmt.Errorf("%s lies in the store at %s; give it a folder of its own", filepath.Clean(c.Output), c.Store)
	}
	return nil
}
