package changelog

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	mdDefinition   = lazyregexp.New(`^ {0,3}\[([^\]^][^\]]*)\]:\s*<?(\S+?)>?(?:\s+["'(].*)?$`)
	restDefinition = lazyregexp.New("^\\s*\\.\\. _(`[^`]+`|(?:[^:`\\\\]|\\\\.)+):\\s*(\\S*)\\s*$")
	directive      = lazyregexp.New(`^(\s*)\.\. (?:([A-Za-z_-]+(?::[A-Za-z_-]+)?)::\s*(.*))?(.*)$`)
)

// ignore marks the lines that are not text: comments, front matter, directives and link
// definitions. It records the link definitions.
func (s *scanner) ignore() {
	s.buryFrontMatter()
	comment, fence := false, ""
	for i := 0; i < len(s.lines); i++ {
		line := s.lines[i]
		if !comment && isFence(line) {
			m := fenceShape.FindStringSubmatch(line)
			switch {
			case fence == "":
				fence = m[1][:3]
			case strings.HasPrefix(m[1], fence):
				fence = ""
			}
			continue
		}
		if fence != "" || s.ignored[i] {
			continue
		}
		if comment || strings.HasPrefix(strings.TrimSpace(line), "<!--") {
			s.ignored[i] = true
			comment = !strings.Contains(line, "-->")
			continue
		}
		first := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(first, "[") && !strings.HasPrefix(first, "..") {
			continue
		}
		if m := mdDefinition.FindStringSubmatch(line); m != nil {
			s.links[strings.ToLower(m[1])] = m[2]
			s.ignored[i] = true
		} else if m := restDefinition.FindStringSubmatch(line); m != nil {
			s.links[strings.ToLower(strings.Trim(strings.ReplaceAll(m[1], "\\", ""), "`"))] = m[2]
			s.ignored[i] = true
		} else if m := directive.FindStringSubmatch(line); m != nil {
			i = s.ignoreDirective(i, m)
		} else if line == ".." {
			i = s.buryBelow(i, 0)
		}
	}
}

// noted are directives whose text is a note.
var noted = strings.Fields("versionadded versionchanged deprecated versionremoved")

// ignoreDirective drops a directive with the text indented below it. Inside an entry it
// keeps the text.
func (s *scanner) ignoreDirective(i int, m []string) int {
	indent := len(m[1])
	switch {
	case slices.Contains(noted, m[2]):
		number, text, _ := strings.Cut(m[3], " ")
		s.lines[i] = "- " + strings.TrimSpace(text)
		if strings.TrimSpace(text) == "" {
			s.lines[i] = ""
			for j := i + 1; j < len(s.lines); j++ {
				if s.lines[j] != "" {
					s.lines[j] = m[1] + "- " + strings.TrimSpace(s.lines[j])
					break
				}
			}
		}
		_ = number // the heading above has the version
		return i
	case indent > 0 && m[2] != "":
		s.ignored[i] = true
		return i
	}
	return s.buryBelow(i, indent)
}

func (s *scanner) buryBelow(i, indent int) int {
	s.ignored[i] = true
	for i+1 < len(s.lines) && (s.lines[i+1] == "" || indentOf(s.lines[i+1]) > indent) {
		i++
		s.ignored[i] = s.lines[i] != ""
	}
	return i
}

func (s *scanner) buryFrontMatter() {
	if len(s.lines) == 0 || s.lines[0] != "---" {
		return
	}
	for i := 1; i < len(s.lines); i++ {
		if s.lines[i] == "---" {
			for j := 0; j <= i; j++ {
				s.ignored[j] = true
			}
			return
		}
	}
}
