package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// CutOff is a model's end of training data, as a release counts tasks by it.
type CutOff struct {
	Model  string `json:"model"`
	CutOff string `json:"cutoff"` // the last day of its training data, YYYY-MM-DD
	Source string `json:"source"` // who says so
	// Config says that the tasks after it are a configuration of their own.
	Config bool `json:"config,omitempty"`
}

// SinceConfig names the configuration of the tasks after a model's cut-off.
func SinceConfig(model string) string {
	words := strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return "since_" + strings.Join(words, "_")
}

// What a first public date is taken from.
const (
	FromCommit      = "commit"
	FromRelease     = "release"
	FromPullRequest = "pull_request"
)

// FirstPublic is the day on which a task's solution was public at the latest, YYYY-MM-DD in UTC: the earliest that is
// known. The date of a commit is that of its committer, when it was made as it landed: an author's date may be of years
// before, and anybody can write one. It is "" where the row has no date.
func (r Row) FirstPublic() (day, from string) {
	at := r.Created()
	if from = FromCommit; r.Benchmint.Change == nil {
		from = FromRelease
	}
	if c := r.Benchmint.Change; c != nil {
		for _, x := range []struct {
			at   time.Time
			from string
		}{{c.ReleasedAt, FromRelease}, {c.OpenedAt, FromPullRequest}} {
			if !x.at.IsZero() && (at.IsZero() || x.at.Before(at)) {
				at, from = x.at, x.from
			}
		}
	}
	if at.IsZero() {
		return "", ""
	}
	return at.UTC().Format(time.DateOnly), from
}

// After reports whether a day of FirstPublic is after the cut-off.
func (c CutOff) After(day string) bool { return day > c.CutOff }

// since are the configurations of cut-offs that a row is in.
func (r *Release) since(row Row) (out []string) {
	if r == nil {
		return nil
	}
	day, _ := row.FirstPublic()
	for _, c := range r.CutOffs {
		if c.Config && c.After(day) {
			out = append(out, SinceConfig(c.Model))
		}
	}
	return out
}

// after counts the tasks after a cut-off.
func (t *tally) after(c CutOff) int {
	n := 0
	for _, day := range t.days {
		if c.After(day) {
			n++
		}
	}
	return n
}

// sinceConfigs are the cut-offs with a configuration that some row is in, by its name.
func (t *tally) sinceConfigs(r *Release) (out []CutOff) {
	if r == nil {
		return nil
	}
	for _, c := range r.CutOffs {
		if c.Config && t.after(c) > 0 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b CutOff) int { return strings.Compare(SinceConfig(a.Model), SinceConfig(b.Model)) })
	return out
}

// freshnessText says how many tasks are newer than the training data of models.
func freshnessText(b *bytes.Buffer, m Manifest, t *tally) {
	if m.Release == nil || len(m.Release.CutOffs) == 0 || t.tasks() == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Freshness\n\nA task counts for a model where its solution was first public after the last day of the model's training data.\n`%s` has the date of each task (`freshness`): the earliest of its commit, of the release that holds it and of\nits pull request, as far as they are known. The date of a commit is that of its committer.\n", ReleaseFile)
	fmt.Fprintf(b, "\n| Model | Training data until | Tasks after it | Share | Configuration | Source |\n| --- | --- | ---: | ---: | --- | --- |\n")
	for _, c := range m.Release.CutOffs {
		n, config := t.after(c), ""
		if c.Config && n > 0 {
			config = "`" + SinceConfig(c.Model) + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %d | %.1f %% | %s | %s |\n", plain(c.Model), c.CutOff, n, 100*float64(n)/float64(t.tasks()), config, plain(c.Source))
	}
}

// hiddenText says what is hidden, and how much that is worth.
func hiddenText(b *bytes.Buffer, m Manifest) {
	if m.Release == nil || m.Release.Hidden == nil {
		return
	}
	h := m.Release.Hidden
	fmt.Fprintf(b, "\n## Hidden parts\n\n| Part | Tasks | Share of those that come | What is here |\n| --- | ---: | ---: | --- |\n")
	fmt.Fprintf(b, "| public | %d | %.0f %% | everything |\n", m.Counts.Tasks, 100*(1-h.HeldOutShare-h.PrivateShare))
	fmt.Fprintf(b, "| held out | %d | %.0f %% | statement and base tree (`%s/`); all else encrypted (`%s`) |\n", h.HeldOut, 100*h.HeldOutShare, HeldOutDir, HeldOutFile)
	fmt.Fprintf(b, "| private | %d | %.0f %% | a commitment |\n", h.Private, 100*h.PrivateShare)
	fmt.Fprintf(b, "\nHMAC-SHA256 of a task's identity with a salt that its maintainer keeps draws the part, from %s on. No task moves, but\nfor those that are opened or revealed: `CHANGELOG.md` names them.\n", h.Since)
	for _, o := range h.Opens {
		fmt.Fprintf(b, "Version %s opens %s that %s held out.\n", o.Version, count(o.Tasks, "task"), map[bool]string{true: "is", false: "are"}[o.Tasks == 1])
	}
	fmt.Fprintf(b, "\nA commitment in `%s` is the SHA-256 of a nonce, a line feed and the line of a row. It says nothing of the\nrow, and it binds its maintainer: a task that is revealed later comes with its nonce, and `benchmint release check`\nholds the row to the commitment. It does not say that the row is a good task.\n", ReleaseFile)
	fmt.Fprintf(b, "\n**The solutions are public all the same.** Each task is a change that landed in a public repository: its commit is on\nthe forge, and whoever has the base commit of a held-out task finds the next one. A model may have been trained on it.\nThe base tree of a later task of the same repository holds the change, too: of the %s,\n%d can be read in a base tree of this version. What is hidden is which changes are tasks, and which tests decide.\n", count(h.HeldOut+h.Private, "hidden task"), h.Shown)
}
