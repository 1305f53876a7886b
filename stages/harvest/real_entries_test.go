package harvest_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/changelog"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/schemas"
)

// written are numbers as anybody would look for them: a plain count to hold the
// reader against.
var written = regexp.MustCompile("(?i)(?:[\\s(\\[`,]#|\\bgh-|/(?:pull|issues)/|[:}]`#?)(\\d{1,6})\\b")

type told struct{ entries, linked, numbered, linkedNumbered, numbers, read, landed, right int }

// count holds the changelogs of the head against what the changes were given.
func (o options) count(ctx context.Context, repo *gitrepo.Repo, releases []schemas.Release, changes []schemas.Change) error {
	by := map[string]int{}
	notes := map[string][]schemas.Change{}
	numbers := map[int]bool{}
	recent := 0
	since := changes[0].CommittedAt.AddDate(-2, 0, 0)
	for _, c := range changes {
		numbers[c.Number] = true
		if c.CommittedAt.After(since) {
			recent++
			by[fmt.Sprintf("%s/%s", c.Notes[0].Form, c.Notes[0].Link)]++
		}
		for _, n := range c.Notes {
			if n.Form == schemas.NoteSubject {
				continue
			}
			key := strings.Join(changelog.Words(n.Text), " ")
			notes[key] = append(notes[key], c)
		}
	}
	fmt.Printf("%s: %d releases, %d changes, %d of the last two years, with", repo.Info().Name, len(releases), len(changes), recent)
	for _, key := range sorted(by) {
		fmt.Printf(" %s %d (%.0f%%)", key, by[key], 100*float64(by[key])/float64(recent))
	}
	fmt.Println()
	paths, err := repo.Paths(ctx, repo.Info().Head)
	if err != nil {
		return err
	}
	rows, err := repo.Raw(ctx, gitrepo.EmptyTree, repo.Line()[0].Tree)
	if err != nil {
		return err
	}
	var samples []string
	for _, f := range rows {
		if text, err := repo.Blob(ctx, f.NewBlob); err == nil && changelog.IsLog(f.Path) {
			samples = append(samples, string(text))
		}
	}
	reader := changelog.NewReader(repo.Info().Name, samples...)
	for _, f := range rows {
		if !slices.Contains(paths, f.Path) || !changelog.IsLog(f.Path) || !strings.HasPrefix(f.NewMode, "100") {
			continue
		}
		text, err := repo.Blob(ctx, f.NewBlob)
		if err != nil {
			return err
		}
		var t told
		for _, e := range reader.Parse(f.Path, string(text)) {
			o.hold(f.Path, e, notes, numbers, &t)
		}
		if t.entries == 0 {
			continue
		}
		fmt.Printf("  %s: %d entries, %d with a change; %d name a number, %d of them with a change; %d numbers written, %d read; %d are a landed change's own, %d given to it\n",
			f.Path, t.entries, t.linked, t.numbered, t.linkedNumbered, t.numbers, t.read, t.landed, t.right)
	}
	return nil
}

// given are the changes whose notes an entry is: by its words; where it was re-worded
// since, the ones that it names; else the most alike ones.
func given(e changelog.Entry, notes map[string][]schemas.Change) []schemas.Change {
	words := changelog.Words(e.Text)
	if owners := notes[strings.Join(words, " ")]; len(owners) > 0 {
		return owners
	}
	const same, related = 0.5, 0.3
	best := same
	var named, alike []schemas.Change
	for key, changes := range notes {
		l := changelog.Likeness(words, strings.Fields(key))
		for _, c := range changes {
			if l >= related && slices.Contains(e.Named, c.Number) {
				named = append(named, c)
			}
		}
		switch {
		case l > best:
			best, alike = l, slices.Clone(changes)
		case l == best:
			alike = append(alike, changes...)
		}
	}
	if len(named) > 0 {
		return named
	}
	return alike
}

func (o options) hold(path string, e changelog.Entry, notes map[string][]schemas.Change, numbers map[int]bool, t *told) {
	t.entries++
	owners := given(e, notes)
	if len(owners) > 0 {
		t.linked++
	}
	if o.entries {
		fmt.Printf("  E %s:%d [%s] %.300q\n", path, e.Line, e.Version, e.Text)
		seen := map[string]bool{}
		for _, c := range owners {
			if !seen[c.Commit] {
				fmt.Printf("    -> %.12s #%d %s [%s] %s\n", c.Commit, c.Number, c.CommittedAt.Format("2006-01-02"), c.Release, c.Subject)
			}
			seen[c.Commit] = true
		}
	}
	if len(e.Named) > 0 {
		t.numbered++
		if len(owners) > 0 {
			t.linkedNumbered++
		}
	}
	seen := map[string]bool{}
	for _, m := range written.FindAllStringSubmatch(" "+e.Text, -1) {
		if seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		t.numbers++
		if slices.ContainsFunc(e.References, func(r schemas.Reference) bool { return fmt.Sprint(r.Number) == m[1] }) {
			t.read++
		}
	}
	for _, n := range e.Named {
		if numbers[n] && n != 0 {
			t.landed++
			if slices.ContainsFunc(owners, func(c schemas.Change) bool { return c.Number == n }) {
				t.right++
			} else if o.unlinked {
				fmt.Printf("    not given to #%d (line %d, %s): %.100q\n", n, e.Line, e.Version, e.Text)
			}
		}
	}
	if o.unlinked && len(owners) == 0 {
		fmt.Printf("    nobody's (line %d, %s): %.120q\n", e.Line, e.Version, e.Text)
	}
}

func sorted(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
