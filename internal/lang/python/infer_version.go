package python

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
)

// pretend is a version that is handed over because the sealed tree has no tags.
type pretend struct {
	variables map[string]string // of the tool that makes versions from tags
	version   string
	tool      string
	source    string // path:line that names the tool
	note      string // what cannot be handed over
}

// versionTools are the tools that take versions from tags: how a manifest names
// them, and their own variable.
var versionTools = []struct {
	name string
	mark *lazyregexp.Regexp // in build requirements
	set  func(dist, version string) map[string]string
	form func(version tagVersion, distance int) string
}{
	{"poetry-dynamic-versioning", lazyregexp.New(`(?i)poetry[-_]dynamic[-_]versioning`),
		only("POETRY_DYNAMIC_VERSIONING_BYPASS"), dunamai},
	{"uv-dynamic-versioning", lazyregexp.New(`(?i)uv[-_]dynamic[-_]versioning`),
		only("UV_DYNAMIC_VERSIONING_BYPASS"), dunamai},
	{"pbr", lazyregexp.New(`(?i)^pbr\b`), only("PBR_VERSION"), nextDev},
	{"setuptools-scm", lazyregexp.New(`(?i)setuptools[-_]scm|hatch[-_]vcs|flit[-_]scm|vcs[-_]versioning`), scm, nextDev},
	{"pdm-backend", lazyregexp.New(`(?i)^pdm[-_](backend|pep517)`), only("PDM_BUILD_SCM_VERSION"), nextDev},
}

func only(name string) func(string, string) map[string]string {
	return func(_, version string) map[string]string { return map[string]string{name: version} }
}

// scm sets the variable of the one distribution; the general one is for tools on
// top of setuptools-scm that do not say for which distribution they ask.
func scm(dist, version string) map[string]string {
	out := map[string]string{"SETUPTOOLS_SCM_PRETEND_VERSION": version}
	if dist != "" {
		name := strings.ToUpper(strings.ReplaceAll(normalise(dist), "-", "_"))
		out["SETUPTOOLS_SCM_PRETEND_VERSION_FOR_"+name] = version
	}
	return out
}

// pretendVersion finds the tool and computes what it would have computed.
func (m *manifest) pretendVersion(v tree.Version) (pretend, bool) {
	requires := list(m.pyproject, "build-system", "requires")
	requires = append(requires, pyStrings(m.setupPy, "setup_requires")...)
	if strings.Contains(m.setupPy, "use_scm_version") {
		requires = append(requires, "setuptools_scm")
	}
	if sr, ok := m.setupCfg.get("options", "setup_requires"); ok {
		requires = append(requires, strings.Split(sr.text(), "\n")...)
	}
	if strings.Contains(m.setupPy, "pbr=True") || strings.Contains(m.setupPy, "pbr = True") {
		requires = append(requires, "pbr")
	}
	for _, tool := range versionTools {
		for _, r := range requires {
			if !tool.mark.MatchString(strings.TrimSpace(r)) || !m.usesTags(tool.name) {
				continue
			}
			version := m.computed(tool.form, v)
			file := m.first("pyproject.toml", "setup.py", "setup.cfg")
			return pretend{tool.set(m.name, version), version, tool.name, m.where(file, r), ""}, true
		}
	}
	return m.untold()
}

// usesTags: some back ends are listed for other reasons than the version.
func (m *manifest) usesTags(tool string) bool {
	switch tool {
	case "pdm-backend":
		return str(m.pyproject, "tool", "pdm", "version", "source") == "scm" || dig(m.pyproject, "tool", "pdm", "version", "use_scm") == true
	case "poetry-dynamic-versioning":
		return dig(m.pyproject, "tool", "poetry-dynamic-versioning", "enable") != false
	}
	return true
}

// untold are tools without a variable: the version is what they make of a tree
// without tags, and the recipe says so.
func (m *manifest) untold() (pretend, bool) {
	switch {
	case m.setupCfg["versioneer"] != nil || dig(m.pyproject, "tool", "versioneer") != nil || strings.Contains(m.setupPy, "versioneer"):
		return pretend{tool: "versioneer", source: m.first("versioneer.py", "setup.cfg", "setup.py", "pyproject.toml"),
			note: "versioneer has no variable for a version: without tags it builds as 0+untagged"}, true
	case dig(m.pyproject, "tool", "versioningit") != nil:
		return pretend{tool: "versioningit", source: m.where("pyproject.toml", "versioningit"),
			note: "versioningit has no variable for a version: without tags its default-version is built"}, true
	}
	return pretend{}, false
}

// computed is the version at base. Without a tag there is only the distance.
func (m *manifest) computed(form func(tagVersion, int) string, v tree.Version) string {
	tag, ok := parseTag(v.Tag)
	if !ok {
		if f := str(m.pyproject, "tool", "setuptools_scm", "fallback_version"); f != "" {
			return f
		}
		return fmt.Sprintf("0.1.dev%d", v.Distance)
	}
	if v.Distance == 0 {
		return tag.String()
	}
	scheme := ""
	for _, at := range [][]string{{"tool", "setuptools_scm", "version_scheme"}, {"tool", "hatch", "version", "raw-options", "version_scheme"}} {
		if s := str(m.pyproject, at...); s != "" {
			scheme = s
		}
	}
	if bump, ok := dig(m.pyproject, "tool", "poetry-dynamic-versioning", "bump").(bool); ok && bump {
		return nextDev(tag, v.Distance)
	}
	switch scheme {
	case "post-release":
		return fmt.Sprintf("%s.post%d", tag, v.Distance)
	case "no-guess-dev":
		return fmt.Sprintf("%s.post1.dev%d", tag, v.Distance)
	case "python-simplified-semver", "release-branch-semver":
		return fmt.Sprintf("%s.dev%d", tag.minor(), v.Distance)
	case "only-version":
		return tag.String()
	}
	return form(tag, v.Distance)
}

// tagVersion is a PEP 440 version as tags write it.
type tagVersion struct {
	release []int
	pre     string // a, b, rc or ""
	preN    int
	post    int // -1: none
	dev     bool
}

var tagShape = lazyregexp.New(`(?i)^(?:[a-z][\w.-]*?[-_/])?v?(\d+(?:\.\d+)*)(?:[-_.]?(a|alpha|b|beta|rc|c|pre)[-_.]?(\d*))?(?:[-_.]?post[-_.]?(\d*))?(?:[-_.]?dev\d*)?(?:\+.*)?$`)

func parseTag(tag string) (tagVersion, bool) {
	x := tagShape.FindStringSubmatch(strings.TrimPrefix(tag, "refs/tags/"))
	if x == nil {
		return tagVersion{}, false
	}
	v := tagVersion{post: -1}
	for _, p := range strings.Split(x[1], ".") {
		n, err := strconv.Atoi(p)
		if err != nil {
			return tagVersion{}, false
		}
		v.release = append(v.release, n)
	}
	v.dev = strings.Contains(x[0], "dev")
	v.pre = map[string]string{"": "", "a": "a", "alpha": "a", "b": "b", "beta": "b", "rc": "rc", "c": "rc", "pre": "rc"}[strings.ToLower(x[2])]
	v.preN, _ = strconv.Atoi(x[3]) // "rc" alone is rc0
	if x[4] != "" {
		v.post, _ = strconv.Atoi(x[4])
	}
	return v, true
}

func (v tagVersion) String() string {
	var parts []string
	for _, n := range v.release {
		parts = append(parts, strconv.Itoa(n))
	}
	s := strings.Join(parts, ".")
	if v.pre != "" {
		s += v.pre + strconv.Itoa(v.preN)
	}
	if v.post >= 0 {
		s += ".post" + strconv.Itoa(v.post)
	}
	return s
}

// next is the version that the last number leads to.
func (v tagVersion) next() tagVersion {
	out := tagVersion{release: append([]int{}, v.release...), pre: v.pre, preN: v.preN, post: v.post}
	switch {
	case v.dev: // 1.0.dev0 leads to 1.0
	case v.post >= 0:
		out.post++
	case v.pre != "":
		out.preN++
	default:
		out.release[len(out.release)-1]++
	}
	return out
}

// minor is the next minor release.
func (v tagVersion) minor() tagVersion {
	out := tagVersion{release: []int{v.release[0], 0, 0}, post: -1}
	if len(v.release) > 1 {
		out.release[1] = v.release[1]
	}
	out.release[1]++
	return out
}

// nextDev is setuptools-scm's guess-next-dev, which pbr and pdm share.
func nextDev(v tagVersion, distance int) string {
	return fmt.Sprintf("%s.dev%d", v.next(), distance)
}

// dunamai is the default form of the dynamic versioning plugins.
func dunamai(v tagVersion, distance int) string {
	v.post = distance
	return v.String() + ".dev0"
}
