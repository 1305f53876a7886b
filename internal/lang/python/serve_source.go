package python

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// source is one Python file of a program.
type source struct {
	path string
	text string
}

// The bounds of what is read of one program.
const (
	maxSource  = 512 << 10
	maxSources = 4000
)

// besides are folders that hold no part of a service.
var besides = lazyregexp.New(`(?i)^(?:tests?|testing|docs?|examples?|samples?|node_modules|venv|\.venv|env|site-packages|frontend|notebooks?|benchmarks?|\..+|__pycache__|build|dist|cookiecutter.*|\{\{.*)$`)

// program are the Python files of a service: tests, examples and copies of packages are not.
func program(t lang.Tree) []source {
	var out []source
	for _, p := range t.Paths() {
		base := path.Base(p)
		if !strings.HasSuffix(p, ".py") || strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") || base == "conftest.py" || base == "setup.py" ||
			slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(d string) bool { return d != "." && besides.MatchString(d) }) {
			continue
		}
		data, err := t.Read(p)
		if err != nil || len(data) > maxSource {
			continue
		}
		out = append(out, source{p, strings.ReplaceAll(string(data), "\r\n", "\n")})
		if len(out) == maxSources {
			break
		}
	}
	return out
}

// line is the number of the line of an offset.
func (f source) line(at int) string { return f.path + ":" + itoa(strings.Count(f.text[:at], "\n")+1) }

// matches reports whether any file matches, and where first.
func (s *serving) matches(re *lazyregexp.Regexp) (string, bool) {
	for _, f := range s.files {
		if at := re.FindStringIndex(f.text); at != nil {
			return f.line(at[0]), true
		}
	}
	return "", false
}

// asking is how code asks for a variable.
type asking struct {
	required bool   // it fails where the variable is not set
	field    bool   // a field of a settings class
	fallback string // the literal that it takes instead, where it is one
	typ      string // of a field
	source   string
}

// references are the variables that code asks for, by name.
type references map[string]asking

func (r references) has(name string) bool {
	_, ok := r[name]
	return ok
}

func (r references) add(name string, ref asking) {
	old, ok := r[name]
	if !ok {
		r[name] = ref
		return
	}
	old.required = old.required || ref.required
	if old.fallback == "" {
		old.fallback = ref.fallback
	}
	r[name] = old
}

var (
	environItem = lazyregexp.New(`(?:^|[^.\w])(?:os\.)?environ\[\s*["'](\w+)["']\s*\](\s*=[^=])?`)
	environGet  = lazyregexp.New(`\b(?:getenv|environ\.get)\(\s*["'](\w+)["']\s*(?:,\s*(?:default\s*=\s*)?(?:f?["']([^"'\n]*)["'])?([^)\n]*))?`)
	configCall  = lazyregexp.New(`\b(config|env(?:\.(?:str|int|bool|list|url|float|json|db|dj_db_url))?)\(\s*["']([A-Z][A-Z0-9_]*)["']([^)\n]*)`)
	configFrom  = lazyregexp.New(`(?m)^\s*(?:from|import)\s+(?:decouple|starlette\.config|environs|environ)\b|^from\s+\S+\s+import\s.*\benv\b`)
	quoted      = lazyregexp.New(`["']([^"'\n]*)["']`)
)

// referencesOf are the variables that the code asks the environment for.
func referencesOf(files []source) references {
	out := references{}
	for _, f := range files {
		for _, x := range environItem.FindAllStringSubmatchIndex(f.text, -1) {
			if x[4] < 0 { // no assignment
				out.add(f.text[x[2]:x[3]], asking{required: true, source: f.line(x[0])})
			}
		}
		for _, x := range environGet.FindAllStringSubmatchIndex(f.text, -1) {
			ref := asking{source: f.line(x[0])}
			if x[4] >= 0 {
				ref.fallback = f.text[x[4]:x[5]]
			}
			out.add(f.text[x[2]:x[3]], ref)
		}
		djangoAsks(f, out)
		if configFrom.MatchString(f.text) {
			for _, x := range configCall.FindAllStringSubmatchIndex(f.text, -1) {
				rest := f.text[x[6]:x[7]]
				ref := asking{required: !strings.Contains(rest, "default") && !strings.Contains(f.text[x[2]:x[3]], "env") || !strings.Contains(rest, ","), source: f.line(x[0])}
				if q := quoted.FindStringSubmatch(rest); q != nil {
					ref.fallback = q[1]
				}
				if strings.Contains(rest, "default") {
					ref.required = false
				}
				out.add(f.text[x[4]:x[5]], ref)
			}
		}
	}
	settingsFields(files, out)
	return out
}

var (
	classHead   = lazyregexp.New(`(?m)^class\s+(\w+)\s*\(([^)]*)\)\s*:`)
	classField  = lazyregexp.New(`^([A-Za-z]\w*)\s*:\s*([^=#\n]+?)\s*(?:=\s*(.*))?$`)
	envPrefix   = lazyregexp.New(`env_prefix\s*=\s*["'](\w*)["']`)
	envAlias    = lazyregexp.New(`\b(?:env|validation_alias|alias)\s*=\s*["'](\w+)["']`)
	decorated   = lazyregexp.New(`^@`)
	requiredBy  = lazyregexp.New(`^(?:Field\(\s*(?:\.\.\.|\w+\s*=)|\.\.\.)`)
	classConfig = lazyregexp.New(`^class\s+Config\b`)
)

// settingsFields are the fields of classes that pydantic fills from the environment.
func settingsFields(files []source, out references) {
	bases := map[string]bool{"BaseSettings": true}
	for range 4 { // classes of classes, as deep as projects nest them
		for _, f := range files {
			for _, x := range classHead.FindAllStringSubmatch(f.text, -1) {
				for _, base := range strings.Split(x[2], ",") {
					base = strings.TrimSpace(base)
					if i := strings.LastIndex(base, "."); i >= 0 {
						base = base[i+1:]
					}
					if bases[base] {
						bases[x[1]] = true
					}
				}
			}
		}
	}
	for _, f := range files {
		for _, x := range classHead.FindAllStringSubmatchIndex(f.text, -1) {
			if name := f.text[x[2]:x[3]]; bases[name] && !strings.Contains(strings.ToLower(name), "test") {
				fieldsOf(f, x[1], out)
			}
		}
	}
}

// fieldsOf reads the annotated names of one class body, which begins at an offset.
func fieldsOf(f source, from int, out references) {
	end := functionEnd(f.text, from)
	body := f.text[from:end]
	prefix := ""
	if x := envPrefix.FindStringSubmatch(body); x != nil {
		prefix = x[1]
	}
	indent, at := -1, from
	for _, line := range strings.SplitAfter(body, "\n") {
		start := at
		at += len(line)
		text := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		if text == "" || text[0] == '#' {
			continue
		}
		if indent < 0 {
			indent = depth
		}
		if depth != indent || decorated.MatchString(text) || classConfig.MatchString(text) || strings.HasPrefix(text, "class ") || strings.HasPrefix(text, "def ") {
			continue
		}
		x := classField.FindStringSubmatch(text)
		if x == nil || x[1] == "model_config" || strings.HasPrefix(x[2], "ClassVar") {
			continue
		}
		name, value := prefix+x[1], x[3]
		if a := envAlias.FindStringSubmatch(value); a != nil {
			name = a[1]
		}
		optional := strings.Contains(x[2], "Optional") || strings.Contains(x[2], "None")
		ref := asking{field: true, typ: x[2], source: f.line(start)}
		ref.required = value == "" && !optional || requiredBy.MatchString(value) && !strings.Contains(value, "default")
		if q := quoted.FindStringSubmatch(value); q != nil && !envAlias.MatchString(value) {
			ref.fallback = q[1]
		}
		out.add(strings.ToUpper(name), ref)
	}
}
