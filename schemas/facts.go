package schemas

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"
)

// Source is one source as it is asked for, and where it stands now: a source that
// moved is crawled again.
type Source struct {
	Git    string `json:"git"`              // path or URL
	GitHub string `json:"github,omitempty"` // owner/name, where GitHub is asked of pull requests
	// Forge is what GitHub says of the repository, nil where it was not asked; Edits is how
	// often it was found to say other things of releases and pull requests than before.
	Forge *Forge `json:"forge,omitempty"`
	Edits int    `json:"edits,omitempty"`
	// AsOf is the day before which releases and pull requests count that GitHub tells of,
	// YYYY-MM-DD; "" is any. What git tells is cut by Repo.Head and Refs.
	AsOf string `json:"as_of,omitempty"`
	// Gates are what the repository must be by what GitHub says of it; nil lets all in.
	Gates *Gates   `json:"gates,omitempty"`
	Repo  Repo     `json:"repo"`
	Since string   `json:"since,omitempty"` // YYYY-MM-DD, UTC, inclusive
	Until string   `json:"until,omitempty"` // exclusive
	Only  []string `json:"only,omitempty"`  // pull request numbers or commits; of ranges base..commit
	Kinds []Kind   `json:"kinds,omitempty"` // empty: features
	// Category is that of the list which the source comes from, else its domain by rule, with what
	// spoke for it in CategoryBy; "" where neither says one.
	Category   string `json:"category,omitempty"`
	CategoryBy string `json:"category_by,omitempty"`
	Changes    int    `json:"changes"` // newest candidates that are taken
	// EditShare is the part of the changes with code and tests that edits are made of where
	// features are asked for, too; 0 where one kind alone is.
	EditShare float64 `json:"edit_share,omitempty"`
	// Releases bounds the window to the changes of the newest releases, and what is not
	// released yet; 0 means no limit.
	Releases int `json:"releases,omitempty"`
	// Refs is the digest of all tags, and of whether the clone lacks objects: a new tag
	// changes notes, not commits.
	Refs Digest `json:"refs,omitempty"`
	// EarlierSources have the same history and names that sort before this one: a change
	// that one of them has as well is theirs. Before it is crawled, those that
	// are known without fetching anything.
	EarlierSources []string `json:"elders,omitempty"`
	// Beside is the digest of the names before its own of which nobody knows, before this
	// source is crawled, whether they have the same history: they were never fetched. A crawl that looked
	// at fewer or others is done again.
	Beside Digest `json:"beside,omitempty"`
}

// ID is the repository's.
func (s Source) ID() string { return s.Repo.ID() }

// Wants reports whether tasks of a kind are made of the source.
func (s Source) Wants(k Kind) bool {
	return slices.Contains(s.Kinds, k) || len(s.Kinds) == 0 && k == KindFeature
}

// DrawnForEdit reports whether a landed change with code and tests, of which a feature could be made, is left to edits:
// a part of them (EditShare) is drawn by a seed, the repository's root, so that no change becomes both.
func (s Source) DrawnForEdit(commit string) bool {
	lot := sha256.Sum256([]byte("edit " + s.Repo.Root + " " + commit))
	return len(s.Only) == 0 && float64(binary.BigEndian.Uint32(lot[:])) < s.EditShare*(1<<32)
}

// Crawled is a source that passed the gates, and what it released.
type Crawled struct {
	Source   Source    `json:"source"`
	Releases []Release `json:"releases"` // newest first
}

// ID is the repository's.
func (c Crawled) ID() string { return c.Source.ID() }

// Repo is one source repository as it was read.
type Repo struct {
	Name string `json:"name"` // owner/name; local/<name> where there is no owner
	URL  string `json:"url"`  // as the user gave it; a path stays a path
	// Root is the oldest first-parent commit: who it is, under any name. "" in a Source
	// that was never fetched.
	Root string `json:"root"`
	Head string `json:"head"` // the commit that the walk began at
	// Licence is the SPDX identifier of the licence file at Head, "" where none is
	// recognised, and before the repository was crawled.
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

// Change is one landed commit of the first-parent line, or a range of them (kind edit).
type Change struct {
	Kind        Kind         `json:"kind,omitempty"` // "" is a feature
	Repo        string       `json:"repo"`           // Repo.Name
	RepoRoot    string       `json:"repo_root"`
	Licence     string       `json:"licence,omitempty"`  // Repo.Licence
	Category    string       `json:"category,omitempty"` // Source.Category
	CategoryBy  string       `json:"category_by,omitempty"`
	Commit      string       `json:"commit"` // the landed commit
	Tree        string       `json:"tree"`   // its tree
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
	// Release is the tag of the first release that holds the change; "" where none does yet.
	Release string `json:"release,omitempty"`
	// ReleasedAt is the commit date of Release, UTC; zero where there is none.
	ReleasedAt time.Time `json:"released_at,omitzero"`
	// Notes are the entries of release notes that tell of the change, best first.
	Notes []Note `json:"notes,omitempty"`
	// Pull is what the forge says of the change's pull request; nil where it was not asked,
	// or has none of the number.
	Pull *Pull `json:"pull,omitempty"`
	// Class is what a range does, by the subject that it began with; "" for a feature.
	Class string `json:"class,omitempty"`
	// Range are the commits from Base to Commit, oldest first, where the change is a range.
	Range []RangeCommit `json:"range,omitempty"`
	// LeftTo is the kind of which tasks are made of the change instead (Source.DrawnForEdit); "" for most.
	LeftTo Kind `json:"left_to,omitempty"`
	// Twin is the ID of the change that had the same identity first; "" for most.
	Twin string `json:"twin,omitempty"`
}

// RangeCommit is one commit of a range.
type RangeCommit struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
}

// Written is what its author wrote of the change: the pull request's title and body where
// they are known, else the commit's.
func (c Change) Written() (title, body string) {
	title, body = c.Subject, c.Body
	if c.Pull != nil && c.Pull.Title != "" {
		title = c.Pull.Title
		if c.Pull.Body != "" {
			body = c.Pull.Body
		}
	}
	return title, body
}

// Forge is what a forge says of a repository.
type Forge struct {
	Name      string    `json:"name"`           // owner/name there; another where it was renamed
	Gone      string    `json:"gone,omitempty"` // why it is not to be had; then nothing else is known
	Stars     int       `json:"stars"`
	Size      int64     `json:"size"` // of its git directory there, in bytes
	Archived  bool      `json:"archived,omitempty"`
	Fork      bool      `json:"fork,omitempty"`
	Template  bool      `json:"template,omitempty"`
	Topics    []string  `json:"topics,omitempty"`
	Languages []string  `json:"languages,omitempty"` // as the forge calls them, largest first; empty: not known
	Licence   string    `json:"licence,omitempty"`   // SPDX; "NOASSERTION" and "" are not known
	Pushed    time.Time `json:"pushed,omitzero"`
	Root      []string  `json:"root,omitempty"` // names at the head, those of folders with "/"; empty: not known
}

// Gates are what a repository must be by what its forge says of it, before it is fetched.
// The zero Gates let all in.
type Gates struct {
	Stars         int      `json:"stars,omitempty"`
	Size          int64    `json:"size,omitempty"`         // at most, in bytes
	PushedSince   string   `json:"pushed_since,omitempty"` // YYYY-MM-DD
	NotArchived   bool     `json:"not_archived,omitempty"`
	TopicsNot     []string `json:"topics_not,omitempty"`
	Releases      int      `json:"releases,omitempty"`       // final ones
	ReleaseText   int      `json:"release_text,omitempty"`   // characters that a release must be told in to count
	ReleasedSince string   `json:"released_since,omitempty"` // YYYY-MM-DD; older releases do not count
	Tests         bool     `json:"tests,omitempty"`          // its root must show tests
}

// Pull is what a forge says of a pull request.
type Pull struct {
	Number int      `json:"number,omitempty"`
	Title  string   `json:"title"`
	Body   string   `json:"body,omitempty"`
	Labels []string `json:"labels,omitempty"`
	Merge  string   `json:"merge,omitempty"` // the commit that it was merged as
	// OpenedAt is when it was opened, UTC; zero where the forge was asked by an earlier version.
	OpenedAt time.Time `json:"opened_at,omitzero"`
}

// Stable is the change without what later work in its repository can alter: its
// release, its notes, what its pull request says, the category of its repository. Stages
// that read the states of a change only depend on this.
func (c Change) Stable() Change {
	c.Release, c.ReleasedAt, c.Notes, c.Pull, c.Category, c.CategoryBy = "", time.Time{}, nil, nil, "", ""
	return c
}

// Release is one released state of a repository, or of one package in it.
type Release struct {
	Repo    string    `json:"repo"` // Repo.Name
	Tag     string    `json:"tag"`
	Package string    `json:"package,omitempty"` // where several are released from one repository
	Version string    `json:"version"`           // the tag without package and "v"
	Commit  string    `json:"commit"`
	Date    time.Time `json:"date"` // commit date of Commit, UTC
	// Pre marks alpha, beta, rc and dev releases.
	Pre bool `json:"pre,omitempty"`
	// OffBranch says that Commit is not on the first-parent line of the head.
	OffBranch bool `json:"off_branch,omitempty"`
	// Previous is the tag that the notes are counted from: the nearest earlier release
	// of the same package, "" for the first.
	Previous string `json:"previous,omitempty"`
	// Body is how a forge announces it; "" where none does.
	Body string `json:"body,omitempty"`
}

// Untagged is a commit that no tag names, as a release.
func Untagged(repo, commit string, at time.Time) Release {
	short := "c" + commit[:min(len(commit), 12)]
	return Release{Repo: repo, Tag: short, Version: short, Commit: commit, Date: at.UTC()}
}

// NoteForm is the kind of text that a note was found in.
type NoteForm string

// The forms, best first.
const (
	NoteFragment  NoteForm = "fragment"  // a towncrier (or alike) file of the change's own
	NoteChangelog NoteForm = "changelog" // an entry of a changelog file
	NoteRelease   NoteForm = "release"   // a line of how a forge announces the release
	NoteTag       NoteForm = "tag"       // a line of an annotated tag's message
	NoteSubject   NoteForm = "subject"   // the commit subject, between two tags: no one wrote notes
)

// NoteLink says how a note was tied to its change.
type NoteLink string

// The links, in the order they are tried.
const (
	LinkDiff   NoteLink = "diff"   // the change's own diff added the entry first
	LinkNumber NoteLink = "number" // the entry names the change's number
	LinkCommit NoteLink = "commit" // the entry names the change's commit
	LinkSelf   NoteLink = "self"   // the note is the change's own subject
)

// Reference is what a note points at, as it is written.
type Reference struct {
	Number int    `json:"number,omitempty"` // a pull request or an issue
	Commit string `json:"commit,omitempty"` // hex, as long as it was written
	Text   string `json:"text"`             // "#12", "https://…/pull/12", ":pr:`12`", "GH-12", "abc1234"
}

// Note is one entry of release notes, with its text as it is written.
type Note struct {
	Release string   `json:"release,omitempty"` // tag; "" is not released yet
	Version string   `json:"version,omitempty"` // as the heading writes it: "1.2.0", "Unreleased"
	Heading string   `json:"heading,omitempty"` // of the section: "Added", "🚀 Features"; a fragment's type
	Text    string   `json:"text"`              // the entry, markup kept, its marker and hard wraps undone
	Path    string   `json:"path,omitempty"`    // of the changelog or the fragment
	Line    int      `json:"line,omitempty"`    // in the file at the commit that added it, from 1
	Form    NoteForm `json:"form"`
	Link    NoteLink `json:"link"`
	// References are all that the entry points at, the change itself included.
	References []Reference `json:"references,omitempty"`
}

// ID is owner__name-1234, or owner__name-c<12 hex> where there is no number; of a range
// owner__name-e<12 hex>, with .b<8 hex> where its base is not the commit's parent.
func (c Change) ID() string {
	if c.Kind != KindEdit {
		return FeatureID(c.Repo, c.Number, c.Commit).String()
	}
	base := c.Base
	if len(c.Parents) > 0 && c.Parents[0] == base {
		base = ""
	}
	return EditID(c.Repo, c.Commit, base).String()
}

// Alias is the ID that the change would have if git told its number; "" where git does, or
// nobody knows one. An ID never changes because the forge told a number later.
func (c Change) Alias() string {
	if c.Kind == KindEdit || c.Number != 0 || c.Pull == nil || c.Pull.Number == 0 {
		return ""
	}
	return FeatureID(c.Repo, c.Pull.Number, c.Commit).String()
}

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
