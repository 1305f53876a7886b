package schemas

import "time"

// Origin is the fact that a start was made of: one of its fields is set, by the kind.
type Origin struct {
	Change *Change `json:"change,omitempty"` // kinds feature and edit
	Cut    *Cut    `json:"cut,omitempty"`    // kinds library and service
}

// ID is the instance ID.
func (o Origin) ID() string {
	if o.Cut != nil {
		return o.Cut.ID()
	}
	return o.change().ID()
}

// Repo is owner/name.
func (o Origin) Repo() string {
	if o.Cut != nil {
		return o.Cut.Repo
	}
	return o.change().Repo
}

// RepoRoot is the repository's oldest first-parent commit.
func (o Origin) RepoRoot() string {
	if o.Cut != nil {
		return o.Cut.RepoRoot
	}
	return o.change().RepoRoot
}

// Licence is the repository's SPDX identifier, "" where none was recognised.
func (o Origin) Licence() string {
	if o.Cut != nil {
		return o.Cut.Licence
	}
	return o.change().Licence
}

// Category is that of the list which the repository came from, else its domain by rule: by is then
// what spoke for it. Both are "" where there is none.
func (o Origin) Category() (name, by string) {
	if o.Cut != nil {
		return o.Cut.Category, o.Cut.CategoryBy
	}
	return o.change().Category, o.change().CategoryBy
}

// Commit is the one that the solution was read from.
func (o Origin) Commit() string {
	if o.Cut != nil {
		return o.Cut.Release.Commit
	}
	return o.change().Commit
}

// CreatedAt is when the solution was committed, UTC.
func (o Origin) CreatedAt() time.Time {
	if o.Cut != nil {
		return o.Cut.Release.Date
	}
	return o.change().CommittedAt
}

// Subject is one line that says what the origin is about.
func (o Origin) Subject() string {
	if o.Cut != nil {
		line := "release " + o.Cut.Release.Tag
		if o.Cut.Slice != nil {
			line += ", " + o.Cut.Slice.String()
		}
		return line
	}
	return o.change().Subject
}

// change is the change, or the zero Change of no ID.
func (o Origin) change() Change {
	if o.Change == nil {
		return Change{}
	}
	return *o.Change
}
