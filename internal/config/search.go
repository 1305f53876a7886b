package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/nearest"
)

// The presets of sources[].preset.
const (
	PresetPaper = "featbench"
	PresetCode  = "featbench-code"
)

// Search is how repositories are looked for on GitHub, as it is written. The words and the
// forms of ranges are those of GitHub's own search.
type Search struct {
	Language string
	Stars    string // >=5000, 100..200
	Pushed   string // >=2026-01-01
	Created  string
	Topics   []string
	// TopicsNot are topics that a repository must not have.
	TopicsNot []string
	Archived  bool
	Forks     bool
	Ranks     string // of the results, those with the most stars first: 100..200
}

// IsZero reports whether nothing is asked for.
func (s Search) IsZero() bool { return len(s.fields()) == 0 }

// searchField is one word of a search; ptr gives a *string, *bool or *[]string.
type searchField struct {
	name string
	ptr  func(*Search) any
	// check reports whether a range is one.
	check func(string) error
}

var searchFields = []searchField{
	{"language", func(s *Search) any { return &s.Language }, nil},
	{"stars", func(s *Search) any { return &s.Stars }, isRange},
	{"pushed", func(s *Search) any { return &s.Pushed }, isDays},
	{"created", func(s *Search) any { return &s.Created }, isDays},
	{"topics", func(s *Search) any { return &s.Topics }, nil},
	{"topics_not", func(s *Search) any { return &s.TopicsNot }, nil},
	{"archived", func(s *Search) any { return &s.Archived }, nil},
	{"forks", func(s *Search) any { return &s.Forks }, nil},
	{"ranks", func(s *Search) any { return &s.Ranks }, isRange},
}

func isRange(s string) error { _, err := github.ParseRange(s); return err }
func isDays(s string) error  { _, err := github.ParseDays(s); return err }

// fields are the words that are set, with their values.
func (s Search) fields() map[string]any {
	out := map[string]any{}
	for _, f := range searchFields {
		switch p := f.ptr(&s).(type) {
		case *string:
			if *p != "" {
				out[f.name] = *p
			}
		case *bool:
			if *p {
				out[f.name] = true
			}
		case *[]string:
			if len(*p) > 0 {
				out[f.name] = *p
			}
		}
	}
	return out
}

// String is the search as a file has it.
func (s Search) String() string {
	set := s.fields()
	var words []string
	for _, f := range searchFields {
		if _, ok := set[f.name]; ok {
			words = append(words, f.name+": "+format(f.ptr(&s)))
		}
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// Query is the search as package github asks it, and which ranks of its results are taken
// (0: all). Its ranges were checked when they were read.
func (s Search) Query() (q github.Search, first, last int, err error) {
	q = github.Search{Language: s.Language, Topics: s.Topics, TopicsNot: s.TopicsNot, Archived: s.Archived, Forks: s.Forks}
	if s.Stars != "" {
		if q.Stars, err = github.ParseRange(s.Stars); err != nil {
			return q, 0, 0, err
		}
	}
	if s.Pushed != "" {
		if q.Pushed, err = github.ParseDays(s.Pushed); err != nil {
			return q, 0, 0, err
		}
	}
	if s.Created != "" {
		if q.Created, err = github.ParseDays(s.Created); err != nil {
			return q, 0, 0, err
		}
	}
	if s.Ranks != "" {
		ranks, err := github.ParseRange(s.Ranks)
		return q, ranks.Least, ranks.Most, err
	}
	return q, 0, 0, nil
}

// search reads a mapping of searchFields.
func (r *reader) search(into *Search, source int, pair *ast.MappingValueNode) {
	pairs, ok := pairsOf(pair.Value)
	if !ok {
		r.problem(pair.Value, "search must hold keys, such as {language: python, stars: \">=5000\"}")
		return
	}
	before := len(r.problems)
	var names []string
	for _, f := range searchFields {
		names = append(names, f.name)
	}
	for _, p := range pairs {
		name := p.Key.GetToken().Value
		i := slices.Index(names, name)
		if i < 0 {
			hint := nearest.Hint(name, names)
			if hint == "" {
				hint = " (known: " + strings.Join(names, ", ") + ")"
			}
			r.problem(p.Key, "unknown key \"search.%s\"%s", name, hint)
			continue
		}
		if err := r.searchField(searchFields[i], into, p.Value); err != nil {
			r.problem(p.Value, "search.%s: %v", name, err)
		}
	}
	r.config.origins[sourcePath(source, "search")] = Origin{FromFile, r.where(pair.Key)}
	if into.IsZero() && len(r.problems) == before {
		r.problem(pair.Key, "search: is empty: it would find all of GitHub")
	}
}

func (r *reader) searchField(f searchField, into *Search, n ast.Node) error {
	ptr := f.ptr(into)
	if list, ok := n.(*ast.SequenceNode); ok {
		words, isList := ptr.(*[]string)
		if !isList {
			return fmt.Errorf("must be a single value")
		}
		return r.words(words, list)
	}
	text, ok := scalarOf(n)
	if !ok {
		return fmt.Errorf("must be a single value or a list of words")
	}
	if f.check != nil {
		if err := f.check(text); err != nil {
			return err
		}
	}
	return assign(ptr, text)
}

// searchSchema is the JSON Schema of the words of a search.
func searchSchema() map[string]*jsonschema.Schema {
	out := map[string]*jsonschema.Schema{}
	for _, f := range searchFields {
		switch f.ptr(&Search{}).(type) {
		case *string:
			out[f.name] = &jsonschema.Schema{Type: "string"}
		case *bool:
			out[f.name] = &jsonschema.Schema{Type: "boolean"}
		case *[]string:
			out[f.name] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
		}
	}
	return out
}

// finds checks a source that stands for those that are found by it.
func (k *checker) finds(i int) {
	s := k.c.Sources[i]
	set := map[string]bool{"git": s.Git != "", "github": s.GitHub != "", "search": !s.Search.IsZero(), "list": s.List != "", "preset": s.Preset != "", "pypi": !s.PyPI.IsZero(), "name": s.Name != "", "only": len(s.Only) > 0 && k.c.Origin(sourcePath(i, "only")).Layer == FromFile}
	var words []string
	for _, name := range []string{"git", "github", "name", "only", "search", "list", "preset", "pypi"} {
		if set[name] {
			words = append(words, name)
		}
	}
	if len(words) > 1 {
		k.problems = append(k.problems, Problem{k.c.Origin(sourcePath(i, "")).Where, fmt.Sprintf("sources[%d]: %s cannot stand together: an entry is one repository, or one way of finding some", i, strings.Join(words, " and "))})
	}
	if choices := []string{PresetPaper, PresetCode}; s.Preset != "" && !slices.Contains(choices, s.Preset) {
		k.at(sourcePath(i, "preset"), "%q is not one of %s%s", s.Preset, strings.Join(choices, ", "), nearest.Hint(s.Preset, choices))
	}
	k.window(i)
}

// Listed is a repository of a list.
type Listed struct {
	Name     string // owner/name
	Category string // "" in a list without categories
}

// ReadList reads a file of repositories: owner/name in lists, by category (as FeatBench's
// crawl.json), or in one list. One that is there twice is one, of its first category. Errors: Problems, or the
// fault of reading.
func ReadList(file string) ([]Listed, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	parsed, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, Problems{syntaxProblem(file, err)}
	}
	r := &reader{config: Default(), file: file}
	var listed []Listed
	for _, doc := range parsed.Docs {
		if pairs, ok := pairsOf(doc.Body); ok {
			for _, pair := range pairs {
				r.list(pair.Value, pair.Key.GetToken().Value, &listed)
			}
			continue
		}
		r.list(doc.Body, "", &listed)
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return listed, nil
}

func (r *reader) list(n ast.Node, category string, into *[]Listed) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		r.problem(n, "a list of owner/name is needed here: {web: [acme/widget]}")
		return
	}
	for _, entry := range list.Values {
		name, _ := scalarOf(entry)
		switch {
		case !sourceName.MatchString(name):
			r.problem(entry, "%q is not owner/name", name)
		case !slices.ContainsFunc(*into, func(have Listed) bool { return strings.EqualFold(have.Name, name) }):
			*into = append(*into, Listed{name, category})
		}
	}
}
