package mask

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Unread counts the sources of one language that no mask reads.
type Unread struct {
	Files int `json:"files"`
	Lines int `json:"lines"` // of code, blank ones and comments left out
}

// Source is one of them.
type Source struct {
	Path     string `json:"path"`
	Language string `json:"language"`
	Lines    int    `json:"lines"`
}

// dialect is how a family of languages writes comments: up to the end of the line, and from
// one mark to another.
type dialect struct {
	line  []string
	block [][2]string
}

var (
	slashes  = dialect{[]string{"//"}, [][2]string{{"/*", "*/"}}}
	hashes   = dialect{[]string{"#"}, nil}
	percents = dialect{[]string{"%"}, nil}
	semis    = dialect{[]string{";"}, nil}
	lisps    = dialect{[]string{";"}, [][2]string{{"#|", "|#"}}}
	camels   = dialect{nil, [][2]string{{"(*", "*)"}}}
	assembly = dialect{[]string{"#", "//", ";", "@"}, [][2]string{{"/*", "*/"}}}
	markups  = dialect{[]string{"//"}, [][2]string{{"<!--", "-->"}, {"/*", "*/"}}}
)

// foreign is a language by the endings of its files.
type foreign struct {
	name    string // as Linguist has it
	endings string
	dialect
}

// foreigners are programming languages, and those from which a build makes code. Shells and
// the words of builds are not among them: what they write starts a project and is no part
// of it.
//
// NOTE: go-enry knows all of Linguist's, and compiles 15 ms and 16 MB of tables at every
// start of a program that links it, masks or not; how a language writes comments it does
// not know. An ending that several languages have has the most usual one.
var foreigners = []foreign{
	{"C", ".c .h", slashes}, {"C++", ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tcc .inl", slashes},
	{"Cython", ".pyx .pxd .pxi", hashes}, {"Cuda", ".cu .cuh", slashes}, {"Objective-C", ".m", slashes}, {"Objective-C++", ".mm", slashes},
	{"Fortran", ".f .for .f77 .f90 .f95 .f03 .f08", dialect{[]string{"!"}, nil}}, {"Assembly", ".s .asm .nasm", assembly},
	{"Protocol Buffer", ".proto", slashes}, {"Thrift", ".thrift", dialect{[]string{"//", "#"}, slashes.block}},
	{"Swift", ".swift", slashes}, {"Kotlin", ".kt .kts", slashes}, {"Scala", ".scala", slashes}, {"Groovy", ".groovy", slashes},
	{"Dart", ".dart", slashes}, {"Zig", ".zig", dialect{slashes.line, nil}}, {"D", ".d", dialect{slashes.line, [][2]string{{"/*", "*/"}, {"/+", "+/"}}}},
	{"Solidity", ".sol", slashes}, {"GLSL", ".glsl .vert .frag", slashes}, {"HLSL", ".hlsl", slashes}, {"Metal", ".metal", slashes}, {"WGSL", ".wgsl", slashes},
	{"Verilog", ".v", slashes}, {"SystemVerilog", ".sv .svh", slashes}, {"VHDL", ".vhd .vhdl", dialect{[]string{"--"}, nil}},
	{"Perl", ".pl .pm", hashes}, {"XS", ".xs", slashes}, {"R", ".r", hashes}, {"Julia", ".jl", dialect{[]string{"#"}, [][2]string{{"#=", "=#"}}}},
	{"Elixir", ".ex .exs", hashes}, {"Crystal", ".cr", hashes}, {"Nim", ".nim", dialect{[]string{"#"}, [][2]string{{"#[", "]#"}}}},
	{"Tcl", ".tcl", hashes}, {"CoffeeScript", ".coffee", hashes}, {"GDScript", ".gd", hashes},
	{"Erlang", ".erl .hrl", percents}, {"Haskell", ".hs", dialect{[]string{"--"}, [][2]string{{"{-", "-}"}}}}, {"Elm", ".elm", dialect{[]string{"--"}, [][2]string{{"{-", "-}"}}}},
	{"PureScript", ".purs", dialect{[]string{"--"}, [][2]string{{"{-", "-}"}}}}, {"Lua", ".lua", dialect{[]string{"--"}, [][2]string{{"--[[", "]]"}}}}, {"Ada", ".adb .ads", dialect{[]string{"--"}, nil}},
	{"OCaml", ".ml .mli", camels}, {"Standard ML", ".sml", camels}, {"F#", ".fs .fsi .fsx", dialect{[]string{"//"}, camels.block}},
	{"Pascal", ".pas", dialect{[]string{"//"}, [][2]string{{"{", "}"}, {"(*", "*)"}}}},
	{"Clojure", ".clj .cljs .cljc", semis}, {"Common Lisp", ".lisp .lsp", lisps}, {"Emacs Lisp", ".el", semis}, {"Scheme", ".scm .ss", lisps}, {"Racket", ".rkt", lisps},
	{"Visual Basic .NET", ".vb", dialect{[]string{"'"}, nil}},
	{"Vue", ".vue", markups}, {"Svelte", ".svelte", markups}, {"Astro", ".astro", markups},
	// A mask that is made without a language names its files too.
	{"Python", ".py .pyw", hashes}, {"Go", ".go", slashes}, {"Java", ".java", slashes}, {"C#", ".cs .csx", slashes}, {"Rust", ".rs", slashes},
	{"JavaScript", ".js .mjs .cjs .jsx", slashes}, {"TypeScript", ".ts .mts .cts .tsx", slashes}, {"Ruby", ".rb", dialect{[]string{"#"}, [][2]string{{"=begin", "=end"}}}}, {"PHP", ".php .phtml", dialect{[]string{"//", "#"}, slashes.block}},
}

var foreignBy = sync.OnceValue(func() map[string]*foreign {
	out := map[string]*foreign{}
	for i, f := range foreigners {
		for ending := range strings.FieldsSeq(f.endings) {
			out[ending] = &foreigners[i]
		}
	}
	return out
})

var (
	// pattern is what a source is named behind its ending when a build fills it in:
	// loops.c.src, config.h.in, algos.pxi.tp.
	pattern = strings.Fields(`.src .in .tp .tmpl .tpl .j2 .template`)
	// built are the names of programs that tell a build what to do.
	built = strings.Fields(`build.zig build.gradle.kts settings.gradle.kts Package.swift mix.exs Setup.hs project.clj configure.ac rebar.config.script
		Makefile.PL Build.PL build.sc setup.ml myocamlbuild.ml`)
	// tried are folders of tests, in any language.
	tried = strings.Fields(`test tests testdata test_data test-data testcases spec specs unittest unittests unit_tests e2e __tests__ t fuzz`)
	// triedName is the name of a test's file, in any language.
	triedName = lazyregexp.New(`^(test|Test)s?([_-].*)?$|[_-](test|spec)s?$|[a-z0-9](Test|Tests|Spec)$`)
)

// foreignOf is the language that a file which no mask reads is source code of: code that
// ships, and may hold what a starter is to leave out. It is nil for anything else: docs,
// data, tests, examples, builds.
func foreignOf(p string) *foreign {
	dir, name := path.Split(p)
	ending := strings.ToLower(path.Ext(name))
	if slices.Contains(pattern, ending) {
		name = strings.TrimSuffix(name, path.Ext(name))
		ending = strings.ToLower(path.Ext(name))
	}
	f := foreignBy()[ending]
	if f == nil || slices.Contains(built, name) || beside(dir+"_") || triedName.MatchString(strings.TrimSuffix(name, path.Ext(name))) {
		return nil
	}
	if slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return slices.Contains(tried, strings.ToLower(part)) }) {
		return nil
	}
	return f
}

// lines are those of code: not blank, and no comment alone. A comment that begins behind
// code counts as code as far as it goes.
func (d dialect) lines(source []byte) int {
	count, until := 0, ""
	for line := range bytes.Lines(source) {
		line = bytes.TrimSpace(line)
		for len(line) > 0 {
			if until == "" {
				if line, until = d.opens(line); until == "" {
					break
				}
			}
			at := bytes.Index(line, []byte(until))
			if at < 0 {
				line = nil
				break
			}
			line, until = bytes.TrimSpace(line[at+len(until):]), ""
		}
		if len(line) > 0 && !slices.ContainsFunc(d.line, func(mark string) bool { return bytes.HasPrefix(line, []byte(mark)) }) {
			count++
		}
	}
	return count
}

// opens gives what is behind the mark with which a line opens a comment, and what ends that;
// the line and "" where it opens none.
func (d dialect) opens(line []byte) (rest []byte, until string) {
	for _, b := range d.block {
		if rest, ok := bytes.CutPrefix(line, []byte(b[0])); ok {
			return rest, b[1]
		}
	}
	return line, ""
}

// foreign writes a source of a language that no mask reads, as it is, and says so.
func (r *run) foreign(ctx context.Context, e *entry, f *foreign, w *written) {
	w.record.Language = f.name
	if why := wholeByPath("", e.path); why.is() {
		w.whole(why)
	} else if e.size > r.MaxFile {
		w.whole(tooLarge(r.MaxFile))
	}
	if w.record.Kind != "" {
		r.copy(ctx, e, w)
		return
	}
	source, err := r.load(e)
	if err != nil {
		w.record.Failed = plain(err)
		return
	}
	why := unreadable("", source)
	if !why.is() {
		why = wholeBySource("", source)
	}
	if !why.is() {
		why = Whole{Kind: NotRead, Reason: f.name + " is not masked"}
		w.record.Lines = f.lines(source)
		w.lines = w.record.Lines
	}
	w.whole(why)
	r.apply(e, w, change{hash: digest(source)}, source)
}
