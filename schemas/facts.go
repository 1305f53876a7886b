package schemas

import "time"

// Source is one source as it is asked for, and where it stands now: a source that
// moved is crawled again.
type Source struct {
	Git     string   `json:"git"` // path or URL
	Repo    Repo     `json:"repo"`
	Since   string   `json:"since,omitempty"` // YYYY-MM-DD, UTC, inclusive
	Until   string   `json:"until,omitempty"` // exclusive
	Only    []string `json:"only,omitempty"`  // pull request numbers or commits
	Changes int      `json:"changes"`         // newest candidates that are taken
}

// ID is the repository's.
func (s Source) ID() string { return s.Repo.ID() }

// Repo is one source repository as it was read.
type Repo struct {
	Name string `json:"name"` // owner/name; local/<name> where there is no owner
	URL  string `json:"url"`  // as the user gave it; a path stays a path
	Root string `json:"root"` // the oldest first-parent commit: who it is, under any name
	Head string `json:"head"` // the commit that the walk began at
	// Licence is the SPDX identifier of the licence file at Head, "" where none is recognised.
	Licence string `json:"licence,omitempty"`
}

// ID is the repository's name in IDs: owner__name.
func (r Repo) ID() string { return RepoSlug(r.Name) }

// NumberSource says where a change's pull request number comes from.
type NumberSource string

// The sources of a number, in the order they are tried.
const (
	NumberNone    NumberSource = ""
	NumberSubject NumberSource = "subject"  // "Add x (#12)": the last one
	NumberMerge   NumberSource = "merge"    // "Merge pull request #12 from …"
	NumberPatchID NumberSource = "patch_id" // equal patch-id under refs/pull/N/head
)

// Change is one landed commit of the first-parent line.
type Change struct {
	Repo        string       `json:"repo"` // Repo.Name
	RepoRoot    string       `json:"repo_root"`
	Licence     string       `json:"licence,omitempty"` // Repo.Licence
	Commit      string       `json:"commit"`            // the landed commit
	Tree        string       `json:"tree"`              // its tree
	Base        string       `json:"base"`
	BaseTree    string       `json:"base_tree"`
	Parents     []string     `json:"parents"`
	Number      int          `json:"number,omitempty"`
	NumberFrom  NumberSource `json:"number_from,omitempty"`
	Subject     string       `json:"subject"`
	Body        string       `json:"body,omitempty"`
	CommittedAt time.Time    `json:"committed_at"` // commit date of Commit, UTC
	BaseDate    time.Time    `json:"base_date"`    // commit date of Base, UTC
	// Files are the paths that the change touches, as git's raw diff gives them.
	Files []ChangedFile `json:"files"`
}

// ID is owner__name-1234, or owner__name-c<12 hex> where there is no number.
func (c Change) ID() string { return FeatureID(c.Repo, c.Number, c.Commit).String() }

// ChangedFile is one row of git's raw diff from base to solution.
type ChangedFile struct {
	Status  string `json:"status"` // A, M, D, R, T
	Path    string `json:"path"`   // the path after; before, for D; quoted as Go quotes where it is no UTF-8
	OldPath string `json:"old_path,omitempty"`
	OldMode string `json:"old_mode"` // "100644", "000000" where there is none
	NewMode string `json:"new_mode"`
	OldBlob string `json:"old_blob"`
	NewBlob string `json:"new_blob"`
	// Added and Removed are text lines; both are -1 for binary files, and for all
	// files of a change where the clone lacks a blob of it.
	Added   int `json:"added"`
	Removed int `json:"removed"`
}
