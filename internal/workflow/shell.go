package workflow

import (
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
