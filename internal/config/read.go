package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/benchmint/benchmint/internal/nearest"
)

// Problem is one thing that is wrong, and where it was written.
type Problem struct {
	Where string // benchmint.yaml:12, BENCHMINT_STORE, --store; "" where nobody wrote it
	Text  string
}

func (p Problem) String() string {
	if p.Where == "" {
		return p.Text
	}
	return p.Where + ": " + p.Text
}

// compare orders problems by the line of the file, then those of variables and flags.
func (p Problem) compare(other Problem) int {
	a, b := p.line(), other.line()
	switch {
	case a > 0 && b > 0:
		return cmp.Compare(a, b)
	case a > 0:
		return -1
	case b > 0:
		return 1
	}
	return 0
}

// line is the line of the file; 0 where it is not in a file.
func (p Problem) line() int {
	n, err := strconv.Atoi(p.Where[strings.LastIndexByte(p.Where, ':')+1:])
	if err != nil || !strings.Contains(p.Where, ":") {
		return 0
	}
	return n
}

// Problems is every problem of a configuration: those of the file by line, then those of
// variables and flags in the order they were met.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// reader walks one file.
type reader struct {
	config   *Config
	file     string
	problems Problems
}

func (c *Config) readFile(file string, b []byte) Problems {
	r := &reader{config: c, file: file}
	parsed, err := parser.ParseBytes(b, 0)
	if err != nil {
		return Problems{syntaxProblem(file, err)}
	}
	if len(parsed.Docs) > 1 {
		r.problem(parsed.Docs[1].Body, "a second document; a configuration has one")
	}
	if len(parsed.Docs) > 0 && parsed.Docs[0].Body != nil && parsed.Docs[0].Body.Type() != ast.NullType {
		r.mapping("", -1, parsed.Docs[0].Body)
	}
	return r.problems
}

// syntaxProblem keeps the parser's first line; its drawing of the source does not fit a log.
func syntaxProblem(file string, err error) Problem {
	where := file
	var syntax yaml.Error
	if !errors.As(err, &syntax) {
		return Problem{file, "not YAML: " + err.Error()}
	}
	if at := syntax.GetToken(); at != nil {
		where = fmt.Sprintf("%s:%d", file, at.Position.Line)
	}
	return Problem{where, "not YAML: " + syntax.GetMessage()}
}

func (r *reader) where(n ast.Node) string {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return r.file
	}
	return fmt.Sprintf("%s:%d", r.file, n.GetToken().Position.Line)
}

func (r *reader) problem(n ast.Node, form string, args ...any) {
	r.problems = append(r.problems, Problem{r.where(n), fmt.Sprintf(form, args...)})
}

// mapping reads the keys of one section ("", "sandbox", "sources[]").
func (r *reader) mapping(section string, source int, n ast.Node) {
	pairs, ok := pairsOf(n)
	if !ok {
		r.problem(n, "%s must hold keys (name: value)", orFile(section))
		return
	}
	for _, pair := range pairs {
		name := pair.Key.GetToken().Value
		path := join(section, name)
		key, known := findKey(path)
		switch {
		case known:
			r.value(key, source, pair)
		case path == "sources":
			r.sources(pair.Value)
		case isSection(path):
			if pair.Value.Type() != ast.NullType {
				r.mapping(path, source, pair.Value)
			}
		default:
			r.problem(pair.Key, "unknown key %q%s", strings.ReplaceAll(path, "[]", index(source)), hintKey(section, name))
		}
	}
}

// index is that of a source, "" elsewhere.
func index(source int) string {
	if source < 0 {
		return ""
	}
	return fmt.Sprintf("[%d]", source)
}

func (r *reader) sources(n ast.Node) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		r.problem(n, "sources must be a list, each entry with - git: PATH or URL, or how repositories are found")
		return
	}
	for _, entry := range list.Values {
		r.config.Sources = append(r.config.Sources, Source{})
		i := len(r.config.Sources) - 1
		r.config.origins[sourcePath(i, "")] = Origin{FromFile, r.where(entry)}
		r.mapping("sources[]", i, entry)
	}
}

// value reads one key's scalar or list into the configuration.
func (r *reader) value(k Key, source int, pair *ast.MappingValueNode) {
	shown := strings.ReplaceAll(k.Path, "[]", "")
	var err error
	ptr := k.pointer(r.config, source)
	if s, ok := ptr.(*Search); ok {
		r.search(s, source, pair)
		return
	}
	switch p := ptr.(type) {
	case *Projects:
		r.projects(p, source, pair)
		return
	case *Prices:
		*p = r.prices(pair.Value)
		r.config.origins[k.Path] = Origin{FromFile, r.where(pair.Key)}
		return
	case *Shares:
		*p = r.shares(k.Path, pair.Value)
		r.config.origins[k.Path] = Origin{FromFile, r.where(pair.Key)}
		return
	}
	switch list, isList := pair.Value.(*ast.SequenceNode); {
	case !isList && k.isList() && k.IsPath: // one file needs no list
		text, scalar := scalarOf(pair.Value)
		if !scalar {
			r.problem(pair.Value, "%s must be a file, or a list of files", shown)
			return
		}
		*ptr.(*[]string) = []string{beside(r.file, text)}
	case isList != k.isList():
		want := map[bool]string{true: "a list", false: "a single value"}[k.isList()]
		r.problem(pair.Value, "%s must be %s", shown, want)
		return
	case isList:
		words := ptr.(*[]string)
		err = r.words(words, list)
		for i := range *words {
			if k.IsPath {
				(*words)[i] = beside(r.file, (*words)[i])
			}
		}
	default:
		text, scalar := scalarOf(pair.Value)
		if !scalar {
			r.problem(pair.Value, "%s must be a single value", shown)
			return
		}
		if k.IsPath {
			text = beside(r.file, text)
		}
		err = assign(ptr, text)
	}
	if err != nil {
		r.problem(pair.Value, "%s: %v", shown, err)
		return
	}
	path := k.Path
	if source >= 0 {
		_, name := k.split()
		path = sourcePath(source, name)
		if s := &r.config.Sources[source]; name == "git" {
			s.Git = beside(r.file, s.Git)
		}
	}
	r.config.origins[path] = Origin{FromFile, r.where(pair.Key)}
}

func (r *reader) words(into *[]string, list *ast.SequenceNode) error {
	*into = []string{}
	for _, n := range list.Values {
		text, ok := scalarOf(n)
		if !ok {
			return errors.New("an entry is not a single value")
		}
		*into = append(*into, text)
	}
	return nil
}

func pairsOf(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// scalarOf is the text as it was written: 012 and 1e5 may be commits, not numbers.
func scalarOf(n ast.Node) (string, bool) {
	switch n.Type() {
	case ast.StringType, ast.IntegerType, ast.FloatType, ast.BoolType:
		return n.GetToken().Value, true
	}
	return "", false
}

func join(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}

func orFile(section string) string {
	if section == "" {
		return "a configuration"
	}
	return strings.TrimSuffix(section, "[]")
}

func isSection(path string) bool { _, ok := sections[path]; return ok }

// hintKey looks among the keys of the section, then for the name in another one.
func hintKey(section, name string) string {
	var here []string
	for _, k := range Keys {
		s, n := k.split()
		if s == strings.TrimSuffix(section, "[]") {
			here = append(here, n)
		}
		if section == "" && s != "" && !slices.Contains(here, s) {
			here = append(here, s)
		}
	}
	if hint := nearest.Hint(name, here); hint != "" {
		return hint
	}
	for _, k := range Keys {
		if _, n := k.split(); n == name {
			return "; did you mean " + strings.ReplaceAll(k.Path, "[]", "") + "?"
		}
	}
	slices.Sort(here)
	return " (known: " + strings.Join(slices.Compact(here), ", ") + ")"
}

// The variables with the token of a run that listens, and with the file that holds it. They are settings of no key: no
// token is in a configuration.
const (
	TokenVariable     = envPrefix + "TOKEN"
	TokenFileVariable = envPrefix + "TOKEN_FILE"
)

// SaltVariable has the salt by which hidden parts of releases are drawn. It is in no configuration either.
const SaltVariable = envPrefix + "SALT"

// readEnviron applies BENCHMINT_*; an unknown one is an error like an unknown key.
func (c *Config) readEnviron(environ []string) (problems Problems) {
	byName := map[string]Key{}
	var names []string
	for _, k := range Keys {
		if e := k.env(); e != "" {
			byName[e] = k
			names = append(names, e)
		}
	}
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(entry, "=")
		// Empty is unset, as for git and Docker; BENCHMINT_TEST_* is for this project's tests.
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, envPrefix+"TEST_") || text == "" ||
			name == TokenVariable || name == TokenFileVariable || name == SaltVariable {
			continue
		}
		k, ok := byName[name]
		if !ok {
			problems = append(problems, Problem{name, "unknown variable" + nearest.Hint(name, names)})
			continue
		}
		if err := assign(k.bind(c), text); err != nil {
			problems = append(problems, Problem{name, err.Error()})
			continue
		}
		c.origins[k.Path] = Origin{FromEnv, name}
	}
	return problems
}

// readFlags applies the flags; a flag of a source's key sets it for every source.
// settable are the keys that --set may set: all but those of one source.
func settable() []string {
	var out []string
	for _, k := range Keys {
		if k.source == nil {
			out = append(out, k.Path)
		}
	}
	return out
}

func (c *Config) readFlags(flags []Setting) (problems Problems) {
	for _, f := range flags {
		k, ok := findKey(f.Key)
		if !ok {
			problems = append(problems, Problem{f.Flag, fmt.Sprintf("unknown key %q%s", f.Key, nearest.Hint(f.Key, settable()))})
			continue
		}
		targets := 1
		if k.source != nil {
			targets = len(c.Sources)
		}
		for i := range targets {
			if err := assign(k.pointer(c, i), f.Value); err != nil {
				problems = append(problems, Problem{f.Flag, err.Error()})
				break
			}
			path := k.Path
			if k.source != nil {
				_, name := k.split()
				path = sourcePath(i, name)
			}
			c.origins[path] = Origin{FromFlag, f.Flag}
		}
	}
	return problems
}
