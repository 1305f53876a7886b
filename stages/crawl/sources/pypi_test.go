package sources

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/toolchain"
)

func TestRepositoryOf(t *testing.T) {
	t.Parallel()
	f := &Finder{Server: "https://git.example.org/"}
	for _, tc := range []struct {
		name  string
		links []toolchain.Link
		want  string
	}{
		{"source", []toolchain.Link{{Label: "Source", URL: "https://github.com/acme/widget"}}, "acme/widget"},
		{"source_before_homepage", []toolchain.Link{{Label: "Home-page", URL: "https://github.com/acme/old"}, {Label: "Source Code", URL: "https://github.com/acme/widget/"}}, "acme/widget"},
		{"folder_of_a_mono_repository", []toolchain.Link{{Label: "Repository", URL: "https://github.com/Azure/sdk-for-python/tree/main/sdk/core"}}, "Azure/sdk-for-python"},
		{"git_address", []toolchain.Link{{Label: "source", URL: "git+https://www.github.com/acme/widget.git#egg=widget"}}, "acme/widget"},
		{"ssh_address", []toolchain.Link{{Label: "Repository", URL: "git@github.com:acme/widget.git"}}, "acme/widget"},
		{"homepage_that_is_documentation", []toolchain.Link{{Label: "Homepage", URL: "https://widget.readthedocs.io"}, {Label: "Issue Tracker", URL: "https://github.com/acme/widget/issues"}}, "acme/widget"},
		{"changelog_alone", []toolchain.Link{{Label: "Changelog", URL: "https://github.com/acme/widget/blob/main/CHANGES.md"}}, "acme/widget"},
		{"own_server", []toolchain.Link{{Label: "Source", URL: "https://git.example.org/acme/widget"}}, "acme/widget"},
		{"documentation_of_another_project", []toolchain.Link{{Label: "Documentation", URL: "https://github.com/acme/handbook"}}, ""},
		{"sponsors", []toolchain.Link{{Label: "Source", URL: "https://github.com/sponsors/acme"}, {Label: "Funding", URL: "https://github.com/acme/funds"}}, ""},
		{"owner_alone", []toolchain.Link{{Label: "Source", URL: "https://github.com/acme"}}, ""},
		{"pages", []toolchain.Link{{Label: "Homepage", URL: "https://acme.github.io/widget"}}, ""},
		{"another_forge", []toolchain.Link{{Label: "Source", URL: "https://codeberg.org/acme/widget"}}, ""},
		{"another_host_with_its_name", []toolchain.Link{{Label: "Source", URL: "https://github.com.example.org/acme/widget"}, {Label: "Homepage", URL: "https://example.org/github.com/acme/widget"}}, ""},
		{"dots", []toolchain.Link{{Label: "Source", URL: "https://github.com/acme/.."}}, ""},
		{"unreadable", []toolchain.Link{{Label: "Source", URL: "://%zz"}}, ""},
		{"nothing", nil, ""},
	} {
		got := f.repositoryOf(tc.links)
		if got.Repository != tc.want || (got.None == "") == (tc.want == "") {
			t.Errorf("%s: %+v, want %q", tc.name, got, tc.want)
		}
	}
}

// projects is an index in memory. A project without links is not there.
type projects struct {
	links map[string][]toolchain.Link
	fault map[string]error
	mu    sync.Mutex
	asked []string
}

func (p *projects) Links(_ context.Context, name string) ([]toolchain.Link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, name)
	if err := p.fault[name]; err != nil {
		return nil, err
	}
	if links, ok := p.links[name]; ok {
		return links, nil
	}
	return nil, fs.ErrNotExist
}

func source(address string) []toolchain.Link {
	return []toolchain.Link{{Label: "Source", URL: address}}
}

func TestFoundOnPyPI(t *testing.T) {
	t.Parallel()
	index := &projects{links: map[string][]toolchain.Link{
		"widget": source("https://github.com/acme/widget"), "widget-core": source("https://github.com/Acme/Widget/tree/main/core"),
		"box": source("https://forge.example.org/acme/box"), "pyyaml": source("https://github.com/yaml/pyyaml"),
	}}
	var said []string
	f := &Finder{
		Config: config.Default(), Folder: t.TempDir(), Index: index, Server: "https://github.com/", Now: time.Now, Progress: func(string, int, int) {},
		Distribution: func(module string) string { return strings.Replace(module, "yaml", "pyyaml", 1) },
		Say:          func(form string, args ...any) { said = append(said, fmt.Sprintf(form, args...)) },
	}
	ask := func(names ...string) ([]config.Listed, error) {
		said, index.asked = nil, nil
		known, err := readFindings(f.Folder)
		if err != nil {
			t.Fatal(err)
		}
		listed, err := f.foundOnPyPI(t.Context(), config.Source{PyPI: config.Projects{Names: names}}, known)
		return listed, errors.Join(err, known.write(f.Folder))
	}
	all := []string{"Widget_Core", "widget", "widgt", "box", "yaml"}
	listed, err := ask(all...)
	if diff := cmp.Diff([]config.Listed{{Name: "Acme/Widget"}}, listed); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if want := []string{
		"pypi  widgt left out: no index has a project of this name; did you mean widget?",
		"pypi  box left out: no address of its metadata is a repository on GitHub (Source https://forge.example.org/acme/box); where its code is in git, name it by git",
		"pypi  yaml left out: no index has a project of this name; did you mean pyyaml?",
		"pypi  5 projects, 1 source",
	}; !cmp.Equal(want, said) {
		t.Errorf("%s", strings.Join(said, "\n"))
	}

	// What is known is not asked again, a new name alone is, and a refresh asks for those without a repository.
	if again, err := ask(append(all, "pyyaml")...); err != nil || len(again) != 2 || !slices.Equal(index.asked, []string{"pyyaml"}) {
		t.Errorf("%v, %v, asked %v", again, err, index.asked)
	}
	f.Again = true
	if _, err := ask(all...); err != nil || len(index.asked) != 3 {
		t.Errorf("%v, asked %v", err, index.asked)
	}
	f.Again = false

	// An index that does not answer puts the run off, with what was learnt before; nothing found is refused.
	index.fault = map[string]error{"lamp": &toolchain.Unreachable{Err: errors.New("503")}}
	var refused *RefusedError
	if listed, err := ask("lamp", "widget"); !errors.As(err, &refused) || !refused.Later || len(listed) > 0 {
		t.Errorf("%v, %v", listed, err)
	}
	index.fault = nil
	index.links["lamp"] = source("https://github.com/acme/lamp")
	if listed, err := ask("lamp", "widget"); err != nil || len(listed) != 2 || len(index.asked) != 1 {
		t.Errorf("%v, %v, asked %v", listed, err, index.asked)
	}
	if _, err := ask("box"); !errors.As(err, &refused) || refused.Later {
		t.Error(err)
	}
	index.fault = map[string]error{"key": &toolchain.Refused{Err: errors.New("401"), How: "a password"}}
	if _, err := ask("key"); !errors.As(err, &refused) || refused.Later {
		t.Error(err)
	}
}
