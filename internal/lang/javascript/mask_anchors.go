package javascript

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/jsonc"

	"github.com/benchmint/benchmint/internal/mask"
)

// anchors gathers what the settings of a tree say of imports.
type anchors struct {
	read     func(string) ([]byte, error)
	files    map[string]bool
	modules  []string          // code, by the paths that imports say
	packages map[string]string // folders by name
	out      []mask.Anchor
	closed   []string
}

// Anchors are the path mappings of tsconfig.json and jsconfig.json with what they extend,
// and what package.json says of its own name and of imports with a "#".
func (Masker) Anchors(paths []string, read func(string) ([]byte, error)) (all []mask.Anchor, closed []string) {
	a := &anchors{read: read, files: map[string]bool{}, packages: map[string]string{}}
	var configs, packages []string
	for _, p := range paths {
		base := path.Base(p)
		switch {
		case strings.HasPrefix(p, "node_modules/") || strings.Contains(p, "/node_modules/"):
			continue
		case isConfig(base):
			configs = append(configs, p)
		case base == "package.json":
			packages = append(packages, p)
		case bare(p) != p:
			a.modules = append(a.modules, modules(p)...)
		}
		a.files[p] = true
	}
	for _, p := range packages {
		a.packageFile(p)
	}
	for _, p := range configs {
		a.config(p)
	}
	return a.out, a.closed
}

// isConfig tells by its name a file with the compiler's settings for the files around it.
func isConfig(base string) bool {
	return path.Ext(base) == ".json" && (strings.HasPrefix(base, "tsconfig") || strings.HasPrefix(base, "jsconfig"))
}

// decode reads JSON with comments; what is not as the format wants it says nothing.
func (a *anchors) decode(file string, into any) bool {
	source, err := a.read(file)
	return err == nil && json.Unmarshal(jsonc.ToJSON(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))), into) == nil
}

// settings are those of a compiler's file, with what it takes from others.
type settings struct {
	base  string              // the folder from which imports without dots are looked up
	paths map[string][]string // patterns
	from  string              // the folder from which their targets are
	own   bool                // not all is from others
}

// configDir stands for the folder of the file that extends another.
const configDir = "${configDir}"

// maxExtends is how many files may extend each other, and conditions stand in each other:
// cycles end here.
const maxExtends = 16

func (a *anchors) settings(file string, depth int) settings {
	var own struct {
		Extends json.RawMessage
		Options struct {
			BaseURL *string `json:"baseUrl"`
			Paths   map[string][]string
		} `json:"compilerOptions"`
	}
	var s settings
	if depth > maxExtends || !a.decode(file, &own) {
		return s
	}
	for _, from := range leaves(own.Extends, 0) {
		if parent := a.extended(path.Dir(file), from); parent != "" {
			of := a.settings(parent, depth+1)
			if of.base != "" {
				s.base = of.base
			}
			if of.paths != nil {
				s.paths, s.from = of.paths, of.from
			}
		}
	}
	if own.Options.BaseURL != nil {
		s.base, s.own = under(path.Dir(file), *own.Options.BaseURL), true
	}
	if own.Options.Paths != nil {
		s.paths, s.from, s.own = own.Options.Paths, path.Dir(file), true
	}
	return s
}

// under is a path as a file in dir says it.
func under(dir, p string) string {
	if strings.HasPrefix(p, configDir) {
		return p
	}
	return path.Join(dir, p)
}

// extended is the file that another extends, "" for one that is not in the tree.
func (a *anchors) extended(dir, name string) string {
	at := path.Join(dir, name)
	if !strings.HasPrefix(name, ".") {
		at = ""
		for end := len(name); end > 0 && at == ""; end = strings.LastIndexByte(name[:end], '/') {
			if folder, ok := a.packages[name[:end]]; ok {
				at = path.Join(folder, name[end:])
			}
		}
	}
	for _, file := range []string{at, at + ".json", path.Join(at, "tsconfig.json")} {
		if a.files[file] {
			return file
		}
	}
	return ""
}

// config adds what one file of settings says of the files around it.
func (a *anchors) config(file string) {
	s, dir := a.settings(file, 0), path.Dir(file)
	if !s.own && !strings.HasPrefix(s.base, configDir) && (s.from == "." || strings.HasPrefix(dir+"/", s.from+"/")) && !mentionsConfigDir(s.paths) {
		return // it is said further up already
	}
	here := func(p string) string {
		if rest, ok := strings.CutPrefix(p, configDir); ok {
			return path.Join(dir, rest)
		}
		return p
	}
	from := s.from
	if s.base != "" {
		from = here(s.base)
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.paths)) {
		for _, target := range s.paths[pattern] {
			a.add(pattern, here(under(from, target)), dir)
		}
	}
	if s.base != "" {
		a.add("*", path.Join(from, "*"), dir)
	}
}

func mentionsConfigDir(paths map[string][]string) bool {
	for _, targets := range paths {
		for _, t := range targets {
			if strings.HasPrefix(t, configDir) {
				return true
			}
		}
	}
	return false
}

// add says that what fits a pattern is a target. Of both, a star is the same.
func (a *anchors) add(pattern, target, within string) {
	before, after, star := strings.Cut(pattern, "*")
	target = bare(target)
	head, tail, starred := strings.Cut(target, "*")
	switch {
	case !star || !starred:
		if !star {
			a.out = append(a.out, mask.Anchor{Prefix: pattern, Folder: target, Within: within, Whole: true})
		}
	case after == "" && tail == "" && (head == "" || strings.HasSuffix(head, "/")):
		a.out = append(a.out, mask.Anchor{Prefix: before, Folder: path.Clean(head), Within: within})
	default:
		for _, name := range a.modules {
			rest, ok := strings.CutPrefix(name, head)
			if middle, found := strings.CutSuffix(rest, tail); ok && found {
				a.out = append(a.out, mask.Anchor{Prefix: before + middle + after, Folder: name, Within: within, Whole: true})
			}
		}
	}
}

// packageFile adds what a package says of itself: to everybody where its name leads, to
// its own files where a "#" does.
func (a *anchors) packageFile(file string) {
	var p struct {
		Name    string
		Private bool
		Bin     json.RawMessage
		Types   string
		Main    json.RawMessage
		Module  json.RawMessage
		Exports json.RawMessage
		Imports map[string]json.RawMessage
	}
	if !a.decode(file, &p) {
		return
	}
	dir := path.Dir(file)
	for _, pattern := range slices.Sorted(maps.Keys(p.Imports)) {
		a.targets(pattern, p.Imports[pattern], dir, dir)
	}
	if p.Private && p.Bin == nil && p.Main == nil && p.Module == nil && p.Exports == nil && p.Types == "" {
		a.closed = append(a.closed, dir)
	}
	if p.Name == "" {
		return
	}
	a.packages[p.Name] = dir
	var exports map[string]json.RawMessage
	if json.Unmarshal(p.Exports, &exports) != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(exports)), isSubpath) {
		exports = map[string]json.RawMessage{".": p.Exports} // what one name stands for alone
	}
	for _, sub := range slices.Sorted(maps.Keys(exports)) {
		a.targets(path.Join(p.Name, sub), exports[sub], dir, ".")
	}
	for _, main := range []json.RawMessage{p.Module, p.Main} {
		a.targets(p.Name, main, dir, ".")
	}
}

func isSubpath(key string) bool { return strings.HasPrefix(key, ".") }

// built are folders of what is written by a compiler; the source lies in src beside them.
var built = strings.Fields("dist build lib out output es esm cjs dist-src")

// targets are all files that a pattern may stand for, whatever the condition, and behind
// each where its source may be.
func (a *anchors) targets(pattern string, said json.RawMessage, dir, within string) {
	all := leaves(said, 0)
	for _, target := range all {
		a.add(pattern, path.Join(dir, target), within)
	}
	for _, target := range all {
		for at := path.Clean(target); ; {
			head, rest, ok := strings.Cut(at, "/")
			if !ok || !slices.Contains(built, head) {
				break
			}
			a.add(pattern, path.Join(dir, "src", rest), within)
			at = rest
		}
	}
}

// leaves are the texts of a value of JSON, in lists and objects too.
func leaves(said json.RawMessage, depth int) []string {
	if depth > maxExtends {
		return nil
	}
	var text string
	if json.Unmarshal(said, &text) == nil {
		if text == "" {
			return nil
		}
		return []string{text}
	}
	var out []string
	var list []json.RawMessage
	if json.Unmarshal(said, &list) == nil {
		for _, one := range list {
			out = append(out, leaves(one, depth+1)...)
		}
		return out
	}
	var conditions map[string]json.RawMessage
	if json.Unmarshal(said, &conditions) == nil {
		for _, name := range slices.Sorted(maps.Keys(conditions)) {
			out = append(out, leaves(conditions[name], depth+1)...)
		}
	}
	return out
}
