package python

import "strings"

// iniValue is one key of an INI file: its value lines, and where it stands.
type iniValue struct {
	lines []iniLine
	line  int // 1-based
}

type iniLine struct {
	text string
	line int
}

// text joins the value's lines.
func (v iniValue) text() string {
	var out []string
	for _, l := range v.lines {
		out = append(out, l.text)
	}
	return strings.Join(out, "\n")
}

// iniFile is sections → keys, as Python's configparser reads tox.ini and setup.cfg.
type iniFile map[string]map[string]iniValue

// parseINI never fails: what is no section, key or continuation is left out.
func parseINI(data []byte) iniFile {
	out := iniFile{}
	var section map[string]iniValue
	key := ""
	for i, raw := range strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") {
		text := strings.TrimSpace(raw)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case raw[0] == ' ' || raw[0] == '\t':
			if section != nil && key != "" {
				v := section[key]
				v.lines = append(v.lines, iniLine{uncomment(text), i + 1})
				section[key] = v
			}
		case text[0] == '[' && strings.Contains(text, "]"):
			name := strings.TrimSpace(text[1:strings.LastIndexByte(text, ']')])
			if out[name] == nil {
				out[name] = map[string]iniValue{}
			}
			section, key = out[name], ""
		case section != nil:
			at := strings.IndexAny(text, "=:")
			if at < 0 {
				key = ""
				continue
			}
			key = strings.ToLower(strings.TrimSpace(text[:at]))
			v := iniValue{line: i + 1}
			if rest := strings.TrimSpace(text[at+1:]); rest != "" {
				v.lines = append(v.lines, iniLine{uncomment(rest), i + 1})
			}
			section[key] = v
		}
	}
	return out
}

// uncomment cuts " # …".
func uncomment(s string) string {
	if i := strings.Index(s, " #"); i >= 0 {
		return strings.TrimSpace(s[:i])
	}
	return s
}

func (f iniFile) get(section, key string) (iniValue, bool) {
	v, ok := f[section][key]
	return v, ok
}

// shellWords splits as Python's shlex does, which pytest and tox read their settings with: its
// ; | < and > are letters.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
