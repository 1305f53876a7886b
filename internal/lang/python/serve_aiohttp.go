package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

var (
	runApp    = lazyregexp.New(`\brun_app\(`)
	runAppTop = lazyregexp.New(`(?m)^(?:\w+\.)*run_app\(`)
)

// findAiohttp chooses the program that serves, or the application where no program runs one.
func (s *serving) findAiohttp() error {
	var programs []app
	for _, f := range s.files {
		if at, ok := s.runs(f); ok {
			a := s.weigh(f, app{why: f.line(at)})
			a.script = true
			programs = append(programs, a)
		}
	}
	if len(programs) > 0 {
		return s.choose(programs)
	}
	return s.choose(s.apps())
}

// runs reports whether running a file serves an application, and which offset shows it. The program of a package may import
// what runs it.
func (s *serving) runs(f source) (at int, ok bool) {
	if x := runAppTop.FindStringIndex(f.text); x != nil {
		return x[0], true
	}
	guard := mainGuard.FindStringIndex(f.text)
	if guard != nil && runApp.MatchString(mainBlock(f.text, guard[1])) {
		return guard[0], true
	}
	return 0, path.Base(f.path) == "__main__.py" && slices.ContainsFunc(s.files, func(g source) bool {
		return strings.HasPrefix(g.path, folderOf(f.path)+"/") && runApp.MatchString(g.text)
	})
}

// startAiohttp runs the program. Its port is a guess: it may have one of its own.
func (s *serving) startAiohttp() schemas.Command {
	s.service.Port = 8080
	if s.app.script {
		return schemas.Command{Argv: []string{venvPython, "-m", strings.TrimSuffix(s.app.module, ".__main__")}}
	}
	call := ""
	if s.app.factory {
		call = "()"
	}
	return schemas.Command{Argv: []string{venvPython, "-c", fmt.Sprintf("from aiohttp import web\nfrom %s import %s as app\nweb.run_app(app%s, host='127.0.0.1', port=8080)\n", s.app.module, s.app.attr, call)}}
}
