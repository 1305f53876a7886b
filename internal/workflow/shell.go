package workflow

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Line is a simple command of a shell step.
type Line struct {
	Word          // as it is written, without what it reads and writes
	Args []string // its words, without quotes; what only a run can tell stays as it is written
	// Dir is the folder that it runs in, from the tree's root: "" is the root, and any
	// folder that cannot be known.
	Dir string
}

// Commands are the simple commands of a shell script in the order in which they are written,
// those of functions and of substitutions among them. lines are the script's; it begins in dir.
// A script that Bash could not read, or a large one, is split at the signs that end a command.
func Commands(lines []Word, dir string) []Line {
	var script strings.Builder
	for _, l := range lines {
		script.WriteString(l.Value + "\n")
	}
	// An expression of GitHub is no word of a shell, but has a word's place.
	text := script.String()
	masked := expression.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("x", len(s)) })
	r := shellReader{text: text, lines: lines, dir: dir}
	if len(text) <= maxFile {
		if file, err := syntax.NewParser().Parse(strings.NewReader(masked), ""); err == nil {
			syntax.Walk(file, r.visit)
			return r.out
		}
	}
	for _, l := range lines {
		for _, part := range commandEnd.Split(l.Value, -1) {
			if words := strings.Fields(part); len(words) > 0 && words[0][0] != '#' {
				r.out = append(r.out, Line{Word{strings.TrimSpace(part), l.Source}, words, dir})
			}
		}
	}
	return r.out
}

var (
	commandEnd = lazyregexp.New(`[;&|]+`)
	workspace  = lazyregexp.New(`\$\{\{\s*github\.workspace\s*\}\}|\$\{?GITHUB_WORKSPACE\}?`)
)

// shellReader goes through a script.
type shellReader struct {
	text  string
	lines []Word
	dir   string
	outer []string // folders that popd leads back to
	depth int      // of subshells and substitutions
	out   []Line
}

func (r *shellReader) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Subshell:
		return r.subshell(n.Stmts)
	case *syntax.CmdSubst:
		return r.subshell(n.Stmts)
	case *syntax.ProcSubst:
		return r.subshell(n.Stmts)
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			r.call(n)
		}
	}
	return true
}

// subshell goes through what changes no folder of what follows. It goes down only so far: the
// words of a command hold those of all substitutions in it.
func (r *shellReader) subshell(of []*syntax.Stmt) bool {
	const deepest = 64
	if dir, outer := r.dir, r.outer; r.depth < deepest {
		r.depth++
		for _, s := range of {
			syntax.Walk(s, r.visit)
		}
		r.dir, r.outer, r.depth = dir, outer, r.depth-1
	}
	return false
}

func (r *shellReader) call(n *syntax.CallExpr) {
	var args []string
	for _, a := range n.Assigns {
		args = append(args, a.Name.Value+"="+r.word(a.Value))
	}
	for _, w := range n.Args {
		args = append(args, r.word(w))
	}
	switch to := strings.Join(args[1:], " "); args[0] {
	case "popd":
		if last := len(r.outer) - 1; last >= 0 {
			r.dir, r.outer = r.outer[last], r.outer[:last:last]
		}
	case "cd":
		r.dir = folder(r.dir, to)
	case "pushd":
		r.outer = append(r.outer, r.dir)
		r.dir = folder(r.dir, to)
	default:
		text := strings.ReplaceAll(r.written(n), "\\\n", " ")
		r.out = append(r.out, Line{Word{text, r.lines[n.Pos().Line()-1].Source}, args, r.dir})
	}
}

func (r *shellReader) written(n syntax.Node) string { return r.text[n.Pos().Offset():n.End().Offset()] }

var (
	escaped       = lazyregexp.New(`\\(?:\n|((?s:.)))`)
	escapedQuoted = lazyregexp.New("\\\\(?:\n|([$`\"\\\\]))")
)

// word is a word without its quotes.
func (r *shellReader) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(escaped.ReplaceAllString(r.written(p), "$1"))
		case *syntax.SglQuoted:
			b.WriteString(strings.TrimSuffix(strings.TrimLeft(r.written(p), "$")[1:], "'"))
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				if _, lit := in.(*syntax.Lit); lit {
					b.WriteString(escapedQuoted.ReplaceAllString(r.written(in), "$1"))
				} else {
					b.WriteString(r.written(in))
				}
			}
		default:
			b.WriteString(r.written(p))
		}
	}
	return b.String()
}

// folder is where a change to a folder leads from dir, both from the tree's root. One that
// leads out of the tree, or that only a run can tell, changes nothing.
func folder(dir, to string) string {
	to = strings.Trim(strings.TrimSpace(to), `"'`)
	if at := workspace.FindStringIndex(to); at != nil && at[0] == 0 {
		dir, to = "", strings.TrimLeft(to[at[1]:], "/")
	}
	if strings.ContainsAny(to, "$`~*\x00") || strings.HasPrefix(to, "/") || strings.HasPrefix(to, "-") {
		return dir
	}
	to = path.Join(dir, to)
	if to == "." {
		return ""
	}
	if to == ".." || strings.HasPrefix(to, "../") {
		return dir
	}
	return to
}

var debian = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)

// packages are those that a command installs by apt.
func (l Line) packages() (out []Word) {
	words := after("install", after("apt", l.Args))
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-t" || w == "-o" || w == "-c":
			i++ // a release, an option or a file
		case debian.MatchString(w):
			out = append(out, Word{w, l.Source})
		}
	}
	return out
}

// locales are those that a command makes; one without value are those of /etc/locale.gen.
func (l Line) locales() (out []Word) {
	words := after("locale-gen", l.Args)
	for _, w := range words {
		if w != "" && !strings.HasPrefix(w, "-") {
			out = append(out, Word{w, l.Source})
		}
	}
	if words != nil && out == nil {
		out = append(out, Word{"", l.Source})
	}
	return out
}

// after are the words behind a name, nil where it is not there.
func after(name string, words []string) []string {
	at := slices.IndexFunc(words, func(w string) bool { return strings.TrimSuffix(path.Base(w), "-get") == name })
	if at < 0 {
		return nil
	}
	return words[at+1:]
}
