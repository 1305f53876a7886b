package workflow

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// shellLines joins continued lines and leaves blank ones and comments out.
func shellLines(lines []Word) []Word {
	var out []Word
	open := false
	for _, l := range lines {
		text, continued := strings.CutSuffix(l.Value, "\\")
		if !open && strings.HasPrefix(strings.TrimSpace(text), "#") {
			continue // a shell does not continue comments
		}
		if open {
			out[len(out)-1].Value += " " + text
		} else {
			out = append(out, Word{text, l.Source})
		}
		open = continued
	}
	kept := out[:0]
	for _, l := range out {
		if l.Value = strings.TrimSpace(l.Value); l.Value != "" {
			kept = append(kept, l)
		}
	}
	return kept
}

var (
	// changes finds the commands that change the folder of those behind them.
	changes = lazyregexp.New(`(?:^|&&|;|\()\s*(?:cd|pushd|popd)\b`)
	// commands are what a line holds between the signs that end a command.
	commands  = lazyregexp.New(`\s*(?:&&|;)\s*`)
	workspace = lazyregexp.New(`\$\{\{\s*github\.workspace\s*\}\}|\$\{?GITHUB_WORKSPACE\}?`)
)

// placed gives lines the folders that they run in, from dir on. A line that changes its
// folder is taken apart; the change of a subshell ends with it.
func placed(lines []Word, dir string) []Line {
	var out []Line
	var outer []string // of the subshells, and of pushd
	for _, l := range lines {
		if !changes.MatchString(l.Value) {
			out = append(out, Line{l, dir})
			continue
		}
		for _, c := range commands.Split(l.Value, -1) {
			for strings.HasPrefix(c, "(") {
				outer, c = append(outer, dir), strings.TrimSpace(c[1:])
			}
			closed := 0
			for len(c) > 0 && closed < len(outer) && c[len(c)-1] == ')' {
				closed, c = closed+1, strings.TrimSpace(c[:len(c)-1])
			}
			switch name, to, _ := strings.Cut(c, " "); {
			case name == "popd":
				closed++
			case name == "cd" || name == "pushd":
				if name == "pushd" {
					outer = append(outer, dir)
				}
				dir = folder(dir, to)
			case c != "":
				out = append(out, Line{Word{c, l.Source}, dir})
			}
			for ; closed > 0 && len(outer) > 0; closed-- {
				dir, outer = outer[len(outer)-1], outer[:len(outer)-1]
			}
		}
	}
	return out
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

var (
	aptInstall = lazyregexp.New(`\bapt(?:-get)?\s+(?:-\S+\s+)*install\b([^;&|]*)`)
	localeGen  = lazyregexp.New(`\blocale-gen\b([^;&|]*)`)
	debian     = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)
)

// aptWords are the packages that a line installs.
func aptWords(line Word) []Word {
	var out []Word
	for _, m := range aptInstall.FindAllStringSubmatch(line.Value, -1) {
		words := arguments(m[1])
		for i := 0; i < len(words); i++ {
			switch w := strings.Trim(words[i], `"'`); {
			case w == "-t" || w == "-o" || w == "-c":
				i++ // a release, an option or a file
			case debian.MatchString(w):
				out = append(out, Word{w, line.Source})
			}
		}
	}
	return out
}

// localeWords are the locales that a line makes.
func localeWords(line Word) []Word {
	var out []Word
	for _, m := range localeGen.FindAllStringSubmatch(line.Value, -1) {
		var some bool
		for _, w := range arguments(m[1]) {
			if w = strings.Trim(w, `"'`); w != "" && !strings.HasPrefix(w, "-") {
				out, some = append(out, Word{w, line.Source}), true
			}
		}
		if !some {
			out = append(out, Word{"", line.Source}) // those of /etc/locale.gen
		}
	}
	return out
}

// arguments are the words of a command up to a comment.
func arguments(text string) []string {
	words := strings.Fields(text)
	for i, w := range words {
		if strings.HasPrefix(w, "#") {
			return words[:i]
		}
	}
	return words
}
