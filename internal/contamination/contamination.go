// Package contamination finds tasks of a dataset that stand in another dataset already: under
// another name, rebased, indented in another way or told in other words.
//
// The words:
//
//   - A Task is what is compared, ours or one of a set: repository, number, commits, patch, statement.
//   - A set is a file or folder of tasks that somebody published. Read streams it; its family (SWE-bench,
//     Multi-SWE-bench, Harbor, …) is recognised by its columns.
//   - A key is a way in which two tasks are the same. A Hit is one key by which one task of ours and one of a set
//     agree, with its evidence. It removes the task, or only labels it.
//
// For example, two rows with equal added and removed lines but other white space agree in the key PatchBlank:
//
//	x := contamination.New(ours, contamination.Default())
//	set, hits, err := x.Against(ctx, "verified.parquet")
//	hits[0] // acme__widget-12 is other__name-77: patch_blank, removed, with the lines
//
// What is held in memory depends on our tasks and not on the size of a set. The package never asks a network and
// never runs anything.
package contamination

import (
	"fmt"
	"strings"
)

// Kind is what a task asks for, as far as it decides what is compared.
type Kind string

// The kinds. A task of a library is told apart by its release, one of a service by its base and endpoints: their
// statements are made by rules and say nothing.
const (
	Change  Kind = "change"
	Library Kind = "library"
	Service Kind = "service"
)

// Task is one task, ours or of a set. What is not known is empty.
type Task struct {
	ID        string
	Repo      string   // owner/name in any form that Fold knows; of some families the name alone
	Origin    string   // the repository that Repo is a copy of
	Number    int      // of the pull request; 0 is none
	Bases     []string // IDs of base commit and base tree; seven digits are enough
	Commit    string   // the solution's
	Patch     string   // unified diff of the solution
	Reversed  bool     // Patch leads away from the solution
	Tests     string   // unified diff of the tests
	Statement string
	Kind      Kind
	Release   string // of a library: its tag
	Part      string // of a library or service: which part of it, and in which variant
	Dataset   string // the name of one of ours
}

// Key is a way in which two tasks are the same.
type Key string

// The keys, strongest first.
const (
	Number     Key = "number"      // repository and pull request
	Commit     Key = "commit"      // the solution's commit
	BaseCommit Key = "base_commit" // one base, and the patches change the same lines of the same place
	Release    Key = "release"     // of a library: repository and release
	PatchID    Key = "patch_id"    // git patch-id --stable of the code part
	PatchBlank Key = "patch_blank" // added and removed lines of the code part without white space and context
	Shingles   Key = "shingles"    // share of five added lines in a row
	Words      Key = "words"       // share of 13 words in a row of the added lines
	Lines      Key = "lines"       // half of the changed lines, and the changed lines of the tests
	Grams      Key = "grams"       // share of 13 words in a row of the statement
)

// Keys are all of them in order.
var Keys = []Key{Number, Commit, BaseCommit, Release, PatchID, PatchBlank, Shingles, Words, Lines, Grams}

// Action is what follows from a hit.
type Action string

// The actions.
const (
	Removed  Action = "removed"
	Labelled Action = "labelled"
)

// SetRef names a set in a hit.
type SetRef struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // of a file's bytes, or of a folder's names and files
	Rows   int    `json:"rows"`
}

// Hit is one key by which a task of ours and a task of a set agree.
type Hit struct {
	InstanceID string   `json:"instance_id"`
	Set        SetRef   `json:"set"`
	Known      string   `json:"known"` // the task's ID in the set
	Key        Key      `json:"key"`
	Score      float64  `json:"score"` // 1, or the share that is the same
	Evidence   []string `json:"evidence"`
	Action     Action   `json:"action"`
}

func (h Hit) String() string {
	return fmt.Sprintf("it is %s of %s by %s (%.2f): %s", h.Known, h.Set.Name, h.Key, h.Score, strings.Join(h.Evidence, "; "))
}

// Options are what a comparison goes by.
type Options struct {
	// Aliases are names that repositories had before, each with the name that it has now.
	Aliases map[string]string
	// Remove and Label are the shares of Shingles and Grams from which on a task is removed or labelled. Remove is that
	// of Words and of the tests of Lines, too.
	Remove, Label float64
}

// Default are the thresholds of docs/releases.md.
func Default() Options { return Options{Remove: 0.7, Label: 0.2} }

// Validate refuses shares that are none, and aliases without two names.
func (o Options) Validate() error {
	if o.Label < 0 || o.Remove > 1 || o.Label > o.Remove {
		return fmt.Errorf("label %v and remove %v are not shares from 0 to 1, the first at most the second", o.Label, o.Remove)
	}
	for old, now := range o.Aliases {
		if !strings.Contains(Fold(old), "/") || !strings.Contains(Fold(now), "/") {
			return fmt.Errorf("alias %s=%s: both are owner/name", old, now)
		}
	}
	return nil
}
