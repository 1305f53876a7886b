package golang

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// asking is how code asks for one variable.
type asking struct {
	fallback string
	required bool
	source   string
}

var (
	tagName     = lazyregexp.New("\\b(?:env|envconfig)\\s*:\\s*\"([A-Z][A-Za-z0-9_]*)([^\"]*)\"([^`\\n]*)")
	mapTag      = lazyregexp.New("\\bmapstructure\\s*:\\s*\"([A-Z][A-Z0-9_]*)\"")
	automatic   = lazyregexp.New(`\.AutomaticEnv\(\)|\.BindEnv\(|\.MustBindEnv\(`)
	tagDefault  = lazyregexp.New(`\b(?:envDefault|env-default|default)\s*:\s*"([^"]*)"`)
	tagRequired = lazyregexp.New(`\brequired\b|\bnotEmpty\b|env-required:"true"`)
	processWith = lazyregexp.New(`\benvconfig\.(?:Must)?Process\(\s*"(\w*)"`)
	viperPrefix = lazyregexp.New(`\.SetEnvPrefix\(\s*"(\w+)"`)
	upperName   = lazyregexp.New(`^[A-Z][A-Z0-9_]+$`)
	envLike     = lazyregexp.New(`(?i)env`)
	dottedKey   = lazyregexp.New(`^[a-z]\w*(?:\.\w+)+$`)
	fromEnv     = lazyregexp.New(`\b(?:\w*Env|env\.Provider(?:WithValue)?)\(`)
)

// asked are the variables that the program asks for.
func (s *serving) asked() map[string]asking {
	out := map[string]asking{}
	files := s.code.of(s.main.reaches)
	prefix, viper, reads := "", "", false
	loads := slices.ContainsFunc(files, func(f *goFile) bool { return fromEnv.MatchString(f.text) })
	for _, f := range files {
		reads = reads || automatic.MatchString(f.text)
		if x := processWith.FindStringSubmatch(f.text); x != nil && x[1] != "" {
			prefix = strings.ToUpper(x[1]) + "_"
		}
		if x := viperPrefix.FindStringSubmatch(f.text); x != nil {
			viper = strings.ToUpper(x[1]) + "_"
		}
	}
	add := func(name string, a asking) {
		old, ok := out[name]
		if !ok {
			out[name] = a
			return
		}
		old.required = old.required || a.required
		if old.fallback == "" {
			old.fallback = a.fallback
		}
		out[name] = old
	}
	for _, f := range files {
		for _, x := range tagName.FindAllStringSubmatchIndex(f.text, -1) {
			name, options, rest := f.text[x[2]:x[3]], f.text[x[4]:x[5]], f.text[x[6]:x[7]]
			a := asking{required: tagRequired.MatchString(options) || tagRequired.MatchString(rest), source: f.lineAt(x[0])}
			if d := tagDefault.FindStringSubmatch(lineOf(f.text, x[0])); d != nil {
				a.fallback, a.required = d[1], false
			}
			if strings.HasPrefix(f.text[x[0]:], "envconfig") && prefix != "" {
				name = prefix + name
			}
			add(name, a)
		}
		for _, x := range mapTag.FindAllStringSubmatchIndex(f.text, -1) {
			add(f.text[x[2]:x[3]], asking{source: f.lineAt(x[0])})
		}
		if loads {
			f.defaults(add)
		}
		f.calls(func(key string) (string, bool) { return viper + viperKey.Replace(strings.ToUpper(key)), reads }, add)
	}
	return out
}

var viperKey = strings.NewReplacer(".", "_", "-", "_")

func lineOf(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return line
}

// calls finds os.Getenv, helpers with env in their name, and viper's keys.
func (f *goFile) calls(viper func(key string) (string, bool), add func(string, asking)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		first, ok := stringOf(call.Args[0])
		if !ok || first == "" {
			return true
		}
		name, on := calleeOf(call)
		a := asking{source: f.line(call.Pos())}
		if len(call.Args) > 1 {
			a.fallback = literalOf(call.Args[1])
		}
		switch {
		case on == "viper" && (strings.HasPrefix(name, "Get") || name == "SetDefault" || name == "BindEnv" || name == "IsSet" || name == "MustBindEnv"):
			if name == "BindEnv" {
				a.fallback = ""
			}
			if name, reads := viper(first); reads {
				add(name, a)
			}
		case upperName.MatchString(first) && (envLike.MatchString(name) || on == "env" || on == "os"):
			if strings.HasPrefix(name, "Set") || strings.HasPrefix(name, "Unset") {
				return true
			}
			a.required = strings.Contains(name, "Must") || strings.Contains(strings.ToLower(name), "require")
			add(first, a)
		}
		return true
	})
}

// calleeOf is the name of a called function, and of what it is called on.
func calleeOf(call *ast.CallExpr) (name, on string) {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name, ""
	case *ast.SelectorExpr:
		if x, ok := fn.X.(*ast.Ident); ok {
			return fn.Sel.Name, x.Name
		}
		return fn.Sel.Name, ""
	}
	return "", ""
}

// literalOf is the text of a string or number, "" of anything else.
func literalOf(e ast.Expr) string {
	if s, ok := stringOf(e); ok {
		return s
	}
	if lit, ok := e.(*ast.BasicLit); ok {
		return lit.Value
	}
	return ""
}

// fewestKeys is how many keys with dots a map of defaults has.
const fewestKeys = 3

// defaults finds the maps of settings by keys with dots, which libraries of configuration fill
// from variables of the same name: server.port is SERVER_PORT.
func (f *goFile) defaults(add func(string, asking)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if _, ok := lit.Type.(*ast.MapType); !ok {
			return true
		}
		found := map[string]asking{}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if key, ok := stringOf(kv.Key); ok && dottedKey.MatchString(key) {
				found[viperKey.Replace(strings.ToUpper(key))] = asking{fallback: literalOf(kv.Value), source: f.line(kv.Pos())}
			}
		}
		if len(found) < fewestKeys {
			return true
		}
		for name, a := range found {
			add(name, a)
		}
		return false
	})
}
