package python

import (
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
)

// distOf are distributions whose import has another name.
var distOf = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"attr": "attrs", "bs4": "beautifulsoup4", "cairosvg": "cairosvg", "crypto": "pycryptodome", "cv2": "opencv-python", "dateutil": "python-dateutil",
		"docx": "python-docx", "dotenv": "python-dotenv", "flask_sqlalchemy": "flask-sqlalchemy", "git": "gitpython", "google": "protobuf",
		"grpc": "grpcio", "jose": "python-jose", "jwt": "pyjwt", "levenshtein": "levenshtein", "magic": "python-magic", "mock": "mock",
		"mysqldb": "mysqlclient", "openssl": "pyopenssl", "pil": "pillow", "pkg_resources": "setuptools", "psycopg2": "psycopg2-binary",
		"pytest_mock": "pytest-mock", "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn", "slugify": "python-slugify",
		"snappy": "python-snappy", "socks": "pysocks", "usb": "pyusb", "win32api": "pywin32", "yaml": "pyyaml", "zmq": "pyzmq", "zstandard": "zstandard",
		"brotli": "brotli", "markdown": "markdown", "memcache": "python-memcached", "ldap": "python-ldap", "lxml": "lxml", "websocket": "websocket-client",
		"async_timeout": "async-timeout", "ruamel": "ruamel-yaml", "xdist": "pytest-xdist", "pythonjsonlogger": "python-json-logger",
		"concurrent_log_handler": "concurrent-log-handler", "_pytest": "pytest", "py": "pytest", "opentelemetry": "opentelemetry-api",
	}
})

// Distribution is the distribution that an import most likely comes from.
func Distribution(module string) string {
	if d := distOf()[strings.ToLower(module)]; d != "" {
		return d
	}
	return normalise(module)
}

// importLine finds imports at any indentation; a line of a docstring that looks
// like one only asks for what some list of the project names anyway.
var importLine = lazyregexp.New(`(?m)^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([^\n#;]+))|importorskip\(\s*['"]([A-Za-z_]\w*)`)

// imports are the top-level modules that Python source asks for.
func imports(source []byte) []string {
	set := map[string]bool{}
	for _, x := range importLine.FindAllSubmatch(source, -1) {
		for _, name := range []string{string(x[1]), string(x[3])} {
			if name != "" {
				set[name] = true
			}
		}
		for _, part := range strings.Split(string(x[2]), ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			name, _, _ = strings.Cut(name, ".")
			if name != "" {
				set[name] = true
			}
		}
	}
	var out []string
	for n := range set {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// outside are the imports of files that neither the standard library nor the tree gives.
func (m *manifest) outside(files []string) map[string]string {
	own := m.ownModules()
	out := map[string]string{}
	for _, f := range files {
		if path.Ext(f) != ".py" {
			continue
		}
		for _, name := range imports(m.read(f)) {
			if !slices.Contains(stdlib, name) && !own[name] && !m.tree.Has(path.Join(path.Dir(f), name+".py")) && !m.tree.Has(path.Join(path.Dir(f), name, "__init__.py")) {
				if _, ok := out[name]; !ok {
					out[name] = f
				}
			}
		}
	}
	return out
}

// ownModules are the names that the tree itself answers to.
func (m *manifest) ownModules() map[string]bool {
	out := map[string]bool{}
	for _, p := range m.tree.Paths() {
		parts := strings.Split(p, "/")
		if parts[0] == "src" || parts[0] == "lib" || parts[0] == "python" {
			parts = parts[1:]
		}
		switch {
		case len(parts) == 0:
		case len(parts) == 1 && strings.HasSuffix(p, ".py"):
			out[strings.TrimSuffix(parts[0], ".py")] = true
		case len(parts) > 1 && strings.HasSuffix(p, ".py"):
			out[parts[0]] = true
		}
	}
	out["conftest"] = true
	return out
}

// missing adds what the changed tests (and their conftest files) import and no
// requirement gives: the extra or group of the project that names it. An import
// that no list of the project names is left: it may be transitive, or guarded.
func (m *manifest) missing(have []requirement, tests []string) []requirement {
	given := map[string]bool{}
	for _, r := range m.expand(have) {
		given[distName(r.line)] = true
	}
	var out []requirement
	wanted := m.outside(withConftests(m.tree, tests))
	names := make([]string, 0, len(wanted))
	for n := range wanted {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, name := range names {
		if dist := Distribution(name); !given[dist] {
			out = append(out, m.find(dist, wanted[name])...)
		}
	}
	return out
}

// seeded adds setuptools and pip where the tree uses them when it runs: CI's
// environments hold them without saying so.
func (m *manifest) seeded(have []requirement) []requirement {
	given := map[string]bool{}
	for _, r := range have {
		given[distName(r.line)] = true
	}
	var out []requirement
	for _, p := range m.tree.Paths() {
		if path.Ext(p) != ".py" || path.Base(p) == "setup.py" || strings.HasPrefix(p, "docs/") {
			continue
		}
		data := m.read(p)
		for dist, use := range seeds {
			if !given[dist] && use.Match(data) {
				given[dist] = true
				out = append(out, requirement{dist, p})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].line < out[j].line })
	return out
}

var seeds = map[string]*lazyregexp.Regexp{
	"setuptools": lazyregexp.New(`(?m)^\s*(?:import|from)\s+(?:pkg_resources|setuptools|distutils)\b`),
	"pip":        lazyregexp.New(`["']-m["'],\s*["']pip["']`),
}

// find looks a distribution up in the project's extras, then in its groups and
// requirement files. From lists that serve other work only the one line is taken.
func (m *manifest) find(dist, wantedBy string) []requirement {
	extras := m.extras()
	for _, name := range sortedKeys(extras) {
		for _, r := range extras[name] {
			if distName(r.line) != dist {
				continue
			}
			if workflow.OtherWork(name) || name == "dev" || name == "all" {
				return []requirement{{r.line, r.source + " for " + wantedBy}}
			}
			return []requirement{{ofTree(m.dir, name), r.source + " for " + wantedBy}}
		}
	}
	groups := m.groups()
	var all []requirement
	for _, name := range sortedKeys(groups) {
		all = append(all, groups[name]...)
	}
	all = append(all, m.poetryGroup("")...)
	for _, p := range m.tree.Paths() {
		if requirementsFile.MatchString(p) {
			all = append(all, m.readRequirements(p, false)...)
		}
	}
	for _, r := range all {
		if distName(r.line) == dist {
			return []requirement{{r.line, r.source + " for " + wantedBy}}
		}
	}
	return nil
}

var requirementsFile = lazyregexp.New(`^(?:(?:requirements|reqs|ci|tests?|dev)/)?[\w.-]*(?:requirements|reqs|test|dev)[\w.-]*\.(?:txt|pip|in)$`)

// expand gives the requirements of the project and behind extras too, as far as they can
// be read without running code.
func (m *manifest) expand(in []requirement) []requirement {
	extras := m.extras()
	out := append(append([]requirement{}, in...), m.direct()...)
	seen := map[string]bool{}
	var add func(rs []requirement)
	add = func(rs []requirement) {
		for _, r := range rs {
			if !isLocal(r.line) {
				continue
			}
			extras := extras
			if dir := localDir(r.line); dir != m.dir {
				extras = m.at(dir).extras()
			}
			for _, e := range localExtras(r.line) {
				e = normalise(e)
				if key := ofTree(localDir(r.line), e); !seen[key] {
					seen[key] = true
					out = append(out, extras[e]...)
					add(extras[e])
				}
			}
		}
	}
	add(in)
	return out
}

// withConftests adds the conftest files that pytest loads for the given files.
func withConftests(t interface{ Has(string) bool }, files []string) []string {
	set := map[string]bool{}
	for _, f := range files {
		set[f] = true
		for d := path.Dir(f); ; d = path.Dir(d) {
			if c := path.Join(d, "conftest.py"); t.Has(c) {
				set[c] = true
			}
			if d == "." || d == "/" {
				break
			}
		}
	}
	var out []string
	for f := range set {
		out = append(out, f)
	}
	sort.Strings(out)
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
