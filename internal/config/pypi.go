package config

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Projects are projects of PyPI: their names, or a file of them.
type Projects struct {
	Names []string
	File  string
}

// IsZero reports whether nothing is named.
func (p Projects) IsZero() bool { return len(p.Names) == 0 && p.File == "" }

// String is what a file of the configuration has.
func (p Projects) String() string {
	if p.File != "" {
		return quote(p.File)
	}
	return format(&p.Names)
}

// value is that of JSON: names, or nothing for a file, which lies on this machine.
func (p Projects) value() any {
	if p.File != "" {
		return nil
	}
	return p.Names
}

// projectName is what PyPI lets a project be called (PEP 508).
var projectName = lazyregexp.New(`^(?i:[A-Z0-9]|[A-Z0-9][A-Z0-9._-]*[A-Z0-9])$`)

// projects reads a list of names, or the path of a file.
func (r *reader) projects(into *Projects, source int, pair *ast.MappingValueNode) {
	r.config.origins[sourcePath(source, "pypi")] = Origin{FromFile, r.where(pair.Key)}
	if list, ok := pair.Value.(*ast.SequenceNode); ok {
		if err := r.words(&into.Names, list); err != nil {
			r.problem(pair.Value, "sources.pypi: %v", err)
			return
		}
	} else {
		text, ok := scalarOf(pair.Value)
		if !ok || text == "" {
			r.problem(pair.Value, "sources.pypi must be a list of projects, or a file of them")
			return
		}
		into.File = beside(r.file, text)
	}
	if into.IsZero() {
		r.problem(pair.Value, "sources.pypi: names no project")
	}
}

// pypi checks the names of an entry, and how many of them are wanted.
func (k *checker) pypi(i int) {
	s := k.c.Sources[i]
	for _, name := range s.PyPI.Names {
		if !projectName.MatchString(name) {
			k.at(sourcePath(i, "pypi"), "%q is not a name of a project", name)
		}
	}
	switch {
	case s.Most < 0:
		k.at(sourcePath(i, "most"), "%d is below 0", s.Most)
	case s.Most > 0 && s.PyPI.IsZero():
		k.at(sourcePath(i, "most"), "says how many projects of pypi are taken, and the entry has no pypi")
	}
}

// ReadProjects gives the names of an entry, at most so many (0 means all). A file has one a line, or
// rows with project and download_count in JSON or CSV, as the public list of the most downloaded
// packages has; those with the most downloads come first. Errors: Problems, or the fault of reading.
func ReadProjects(p Projects, most int) ([]string, error) {
	names := p.Names
	if p.File != "" {
		b, err := os.ReadFile(p.File)
		if err != nil {
			return nil, fmt.Errorf("reading the list of projects: %w", err)
		}
		if names, err = projectsIn(p.File, b); err != nil {
			return nil, err
		}
	}
	if most > 0 && most < len(names) {
		names = names[:most]
	}
	return names, nil
}

// projectRow is one project of a list, with where it stands there.
type projectRow struct {
	Project   string `json:"project"`
	Downloads int64  `json:"download_count"`
	where     string
}

func projectsIn(file string, b []byte) ([]string, error) {
	var rows []projectRow
	var err error
	switch text := bytes.TrimSpace(b); {
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		rows, err = jsonProjects(file, text)
	case csvHead.Match(text):
		rows, err = csvProjects(file, b)
	default:
		n := 0
		for line := range strings.Lines(string(b)) {
			n++
			if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
				rows = append(rows, projectRow{Project: strings.TrimSpace(line), where: fmt.Sprintf("%s:%d", file, n)})
			}
		}
	}
	if err != nil {
		return nil, Problems{{file, err.Error()}}
	}
	slices.SortStableFunc(rows, func(a, b projectRow) int { return cmp.Compare(b.Downloads, a.Downloads) })
	var names []string
	var problems Problems
	for _, row := range rows {
		if !projectName.MatchString(row.Project) {
			problems = append(problems, Problem{row.where, fmt.Sprintf("%q is not a name of a project", row.Project)})
		}
		names = append(names, row.Project)
	}
	switch {
	case len(problems) > 0:
		return nil, problems
	case len(names) == 0:
		return nil, Problems{{file, "names no project"}}
	}
	return names, nil
}

// jsonProjects reads {"rows": [{"project": …}]}, or a list of such rows or of names.
func jsonProjects(file string, b []byte) (rows []projectRow, err error) {
	var whole struct{ Rows []projectRow }
	var names []string
	switch {
	case b[0] == '{':
		err = json.Unmarshal(b, &whole)
		rows = whole.Rows
	case json.Unmarshal(b, &names) == nil:
		for _, name := range names {
			rows = append(rows, projectRow{Project: name})
		}
	default:
		err = json.Unmarshal(b, &rows)
	}
	for i := range rows {
		rows[i].where = fmt.Sprintf("%s: row %d", file, i+1)
	}
	return rows, err
}

// csvHead is the first line of a CSV with a column for the project.
var csvHead = lazyregexp.New(`^\x{FEFF}?(?:[\w" -]+,)*"?project"?(?:,|\r?\n)`)

func csvProjects(file string, b []byte) (rows []projectRow, err error) {
	lines := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(bytes.TrimSpace(b), []byte("\uFEFF"))))
	head, err := lines.Read()
	if err != nil {
		return nil, err
	}
	name, count := slices.Index(head, "project"), slices.Index(head, "download_count")
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := lines.FieldPos(name)
		row := projectRow{Project: fields[name], where: fmt.Sprintf("%s:%d", file, line)}
		if count >= 0 {
			if _, err := fmt.Sscan(fields[count], &row.Downloads); err != nil {
				return nil, fmt.Errorf("line %d: %q is not a number of downloads", line, fields[count])
			}
		}
		rows = append(rows, row)
	}
}
