package crawl

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// CheckGitHub lets a source in by what GitHub says of it, before anything of it is fetched: it is
// the first that Run does. forge may be nil.
func CheckGitHub(s schemas.Source, forge Announcements, config Config) error {
	if s.Forge == nil {
		return nil
	}
	g := &Gate{config: config}
	return g.told(s, announcedBy(forge, s))
}

func announcedBy(forge Announcements, s schemas.Source) []github.Release {
	if forge == nil || s.Forge == nil || s.GitHub == "" {
		return nil
	}
	return forge.Releases(s.GitHub)
}

func (g *Gate) told(s schemas.Source, announced []github.Release) error {
	f := s.Forge
	if f.Gone != "" {
		return pipeline.Reject(schemas.GoneSource, "%s", f.Gone)
	}
	gates := schemas.Gates{}
	if s.Gates != nil {
		gates = *s.Gates
	}
	switch topic := offTopic(*f, gates.TopicsNot); {
	case gates.NotArchived && f.Archived:
		return pipeline.Reject(schemas.IsArchived, "it is archived")
	case f.Stars < gates.Stars:
		return pipeline.Reject(schemas.FewStars, "it has %d stars, %d are asked for", f.Stars, gates.Stars)
	case gates.Size > 0 && f.Size > gates.Size:
		return pipeline.Reject(schemas.LargeSource, "it has %d MiB, %d are allowed", f.Size>>20, gates.Size>>20)
	case gates.PushedSince != "" && !f.Pushed.IsZero() && f.Pushed.Format(time.DateOnly) < gates.PushedSince:
		return pipeline.Reject(schemas.Inactive, "the last push was on %s", f.Pushed.Format(time.DateOnly))
	case topic != "":
		return pipeline.Reject(schemas.OffTopic, "it has the topic %s", topic)
	case gates.Tests && len(f.Root) > 0 && !showsTests(f.Root):
		return pipeline.Reject(schemas.Untested, "its root has no folder of tests and no test file")
	}
	if err := g.licensed(f.Licence); err != nil {
		return err
	}
	if n, all := counting(announced, gates), len(announced); n < gates.Releases {
		return pipeline.Reject(schemas.FewReleases, "%d of %d releases on GitHub count, %d are asked for", n, all, gates.Releases)
	}
	return g.languages(f.Languages)
}

// licensed rejects a licence that GitHub names and nobody allows. What it does not know is
// read from the file, later.
func (g *Gate) licensed(spdx string) error {
	const unknown = "NOASSERTION"
	if spdx == "" || spdx == unknown {
		return nil
	}
	return g.licence(spdx)
}

// fewLanguages is how many GitHub is asked for: a shorter list is whole.
const fewLanguages = 10

// spellings are the languages that GitHub calls other than we do.
var spellings = map[string]string{"c++": "cpp", "c#": "csharp"}

// languages rejects a source of which GitHub knows all languages, none of them wanted.
func (g *Gate) languages(names []string) error {
	if len(g.config.Languages) == 0 || len(names) == 0 || len(names) >= fewLanguages {
		return nil
	}
	for _, name := range names {
		word := strings.ToLower(name)
		if ours, ok := spellings[word]; ok {
			word = ours
		}
		if slices.ContainsFunc(g.config.Languages, func(l string) bool { return strings.EqualFold(l, word) }) {
			return nil
		}
	}
	return pipeline.Reject(schemas.NoSources, "GitHub finds %s in it; %s is asked for", strings.Join(names, ", "), strings.Join(g.config.Languages, " or "))
}

// counting is how many releases count: final ones that no program published, told in enough words, not too long
// ago.
func counting(releases []github.Release, gates schemas.Gates) int {
	n := 0
	for _, r := range releases {
		if !r.Pre && !r.ByBot() && utf8.RuneCountInString(strings.TrimSpace(r.Body)) >= gates.ReleaseText && r.Published.Format(time.DateOnly) >= gates.ReleasedSince {
			n++
		}
	}
	return n
}

// lists is the topic of repositories that are lists, whose names say so as well.
const lists = "awesome"

func offTopic(f schemas.Forge, not []string) string {
	for _, t := range not {
		if slices.ContainsFunc(f.Topics, func(own string) bool { return strings.EqualFold(own, t) }) {
			return t
		}
	}
	_, name, _ := strings.Cut(strings.ToLower(f.Name), "/")
	if slices.Contains(not, lists) && strings.HasPrefix(name, lists+"-") {
		return lists
	}
	return ""
}

// testFolders are those that hold tests, by their names, and those that may hold some
// deeper: nothing is asked of these.
var testFolders = []string{
	"test", "tests", "testing", "spec", "specs", "unit_tests", "__tests__", "e2e",
	"src", "lib", "pkg", "internal", "packages", "crates", "cmd",
}

// showsTests reports whether one of the names at the root is of tests: a folder, or a file.
func showsTests(root []string) bool {
	return slices.ContainsFunc(root, func(name string) bool {
		name = strings.ToLower(name)
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			return slices.Contains(testFolders, folder)
		}
		base, _, _ := strings.Cut(name, ".")
		return strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test") || strings.HasSuffix(base, "_spec") || base == "conftest" || strings.Contains(name, ".test.") || strings.Contains(name, ".spec.")
	})
}

// announce gives releases the words in which GitHub announced them. What it calls a
// pre-release is one.
func announce(releases []schemas.Release, announced []github.Release) {
	by := map[string]github.Release{}
	for _, a := range announced {
		by[a.Tag] = a
	}
	for i := range releases {
		if a, ok := by[releases[i].Tag]; ok {
			releases[i].Body = a.Body
			releases[i].Pre = releases[i].Pre || a.Pre
		}
	}
}
