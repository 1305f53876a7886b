package settings

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// composeService is what matters of one service of a compose file.
type composeService struct {
	name, image, command string
	built                bool
	line, commandLine    int
	env                  []composeEnv
	envFiles             []string
}

type composeEnv struct {
	name, value string
	line        int
}

var (
	yamlKey  = lazyregexp.New(`^(\s*)([\w.-]+)\s*:\s*(.*)$`)
	yamlItem = lazyregexp.New(`^(\s*)-\s+(.*)$`)
)

// composeServices reads a compose file by its lines: no anchor is followed, and what is
// written in another form is not seen.
func composeServices(text string) []composeService {
	var out []composeService
	inServices, service, base := false, -1, -1 // indents of a service's name and of its keys
	section := ""
	for i, raw := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line := strings.TrimRight(raw, " \t")
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if indent == 0 {
			inServices, service, base = strings.HasPrefix(line, "services:"), -1, -1
			continue
		}
		if !inServices {
			continue
		}
		key := yamlKey.FindStringSubmatch(line)
		if service < 0 {
			service = indent
		}
		if indent <= service {
			base, section = -1, ""
			if key != nil {
				out = append(out, composeService{name: key[2], line: i})
			}
			continue
		}
		if len(out) == 0 {
			continue
		}
		if base < 0 {
			base = indent
		}
		c := &out[len(out)-1]
		if indent == base && key != nil {
			section = key[2]
			c.key(section, key[3], i)
			continue
		}
		c.nested(section, line, key, i)
	}
	return out
}

func (c *composeService) key(name, value string, line int) {
	switch name {
	case "image":
		c.image, c.line = unquote(value), line
	case "build":
		c.built = true
	case "command", "entrypoint":
		if v := unquoteCommand(value); v != "" {
			c.command, c.commandLine = v, line
		}
	case "env_file":
		if v := unquote(value); v != "" {
			c.envFiles = append(c.envFiles, v)
		}
	}
}

// nested takes a line below a key of a service.
func (c *composeService) nested(section, line string, key []string, i int) {
	item := yamlItem.FindStringSubmatch(line)
	switch section {
	case "environment":
		switch {
		case item != nil:
			if name, value, ok := strings.Cut(unquoteWhole(item[2]), "="); ok {
				c.env = append(c.env, composeEnv{strings.TrimSpace(name), unquote(value), i})
			}
		case key != nil:
			c.env = append(c.env, composeEnv{key[2], unquote(key[3]), i})
		}
	case "env_file":
		if item != nil {
			c.envFiles = append(c.envFiles, unquote(item[2]))
		}
	case "command":
		text := strings.TrimSpace(line)
		if item != nil {
			text = unquote(item[2])
		}
		c.command, c.commandLine = strings.TrimSpace(c.command+" "+text), i
	}
}

// unquoteWhole takes the quotes off a whole item: "NAME=value".
func unquoteWhole(v string) string {
	v = strings.TrimSpace(v)
	if n := len(v); n > 1 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		return v[1 : n-1]
	}
	return v
}

func unquoteCommand(v string) string {
	v = strings.TrimSpace(v)
	if v == ">" || v == "|" || v == ">-" || v == "|-" {
		return ""
	}
	return words(unquoteWhole(v))
}
