package python

import (
	_ "embed" // the driver of the resolver
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed plugin/resolve.py
var resolveDriver []byte

const (
	resolveDir = sandbox.HomePath + "/resolve"
	// Beside the lock: steps of one environment have them both.
	builtWithPath = lockPath + ".built-with"
	lockOut       = resolveDir + "/lock.txt"
	noteOut       = resolveDir + "/note.json"
	cacheDir      = sandbox.HomePath + "/.cache/uv"
	dateOnly      = time.DateOnly
	// maxMetadata bounds the files that a dynamic manifest is given: resolving needs
	// what says the metadata, never fixtures or pictures.
	maxMetadata = 1 << 20
)

// attempt is one way of asking for a lock.
type attempt struct {
	Pinning schemas.Pinning `json:"pinning"`
	Date    string          `json:"date"`
	Argv    []string        `json:"argv"`
}

// Resolve asks uv for a lock of Requirements: first with the versions of the
// base's date, then lock file, then the nearest dates that resolve, then undated.
func (l Language) Resolve(p lang.Project, r schemas.Recipe) (*recipe.Step, error) {
	uvPath, err := uv(r)
	if err != nil {
		return nil, err
	}
	var in, constraints []string
	for _, line := range r.Requirements {
		c, ok := strings.CutPrefix(line, "-c ")
		switch {
		case ok:
			constraints = append(constraints, c)
		case !strings.HasPrefix(line, recipe.BuildConstraint):
			in = append(in, line)
		}
	}
	files := []sandbox.File{
		text(resolveDir+"/resolve.py", string(resolveDriver)),
		text(resolveDir+"/requirements.in", joined(in)),
		text(resolveDir+"/constraints.txt", joined(constraints)),
	}
	files = append(files, builtWith(r)...)
	locked := lockFileVersions(p.Solution)
	if len(locked) > 0 {
		files = append(files, text(resolveDir+"/locked.txt", joined(locked)))
	}
	plan, err := json.Marshal(map[string]any{
		"out": lockOut, "note": noteOut, "attempts": attempts(p, r, uvPath, len(locked) > 0),
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the resolver's plan: %w", err)
	}
	files = append(files, text(resolveDir+"/plan.json", string(plan)))
	files = append(files, metadata(p.Solution, r)...)
	env := uvEnv()
	for _, b := range r.Build { // the version that tags would have given
		for k, v := range b.Env {
			if _, own := activated()[k]; !own { // there is no environment yet
				env[k] = v
			}
		}
	}
	return &recipe.Step{
		Commands: []schemas.Command{{Argv: []string{interpreter(r), resolveDir + "/resolve.py", resolveDir + "/plan.json"}}},
		Files:    files,
		Caches:   map[string]string{"uv": cacheDir},
		Env:      env,
		Collect:  []string{lockOut, noteOut},
	}, nil
}

// uvEnv holds what every uv command of ours needs.
func uvEnv() map[string]string {
	return map[string]string{
		"UV_CACHE_DIR": cacheDir, "UV_LINK_MODE": "copy", "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1",
		"UV_NO_CONFIG": "1", // [tool.uv] of the tree names indexes and overrides of its authors
	}
}

// builtWith is the file of a recipe's build constraints; none where it has none.
func builtWith(r schemas.Recipe) []sandbox.File {
	var lines []string
	for _, line := range r.Requirements {
		if c, ok := strings.CutPrefix(line, recipe.BuildConstraint); ok {
			lines = append(lines, c)
		}
	}
	if lines == nil {
		return nil
	}
	return []sandbox.File{text(builtWithPath, joined(lines))}
}

// attempts in their order. A quarter's first day comes before the exact date:
// changes of one quarter then share an environment (equal locks, equal keys), and
// no version is newer than the base either way.
func attempts(p lang.Project, r schemas.Recipe, uvPath string, locked bool) []attempt {
	// [tool.uv.sources] of the tree names folders, which are among the requirements, and what
	// no registry has.
	base := []string{uvPath, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--generate-hashes", "--no-strip-extras", "--no-sources",
		"--python", interpreter(r), "--constraints", resolveDir + "/constraints.txt"}
	if len(builtWith(r)) > 0 {
		base = append(base, "--build-constraints", builtWithPath)
	}
	input := resolveDir + "/requirements.in"
	dated := func(kind schemas.Pinning, day time.Time, extra ...string) attempt {
		date := day.UTC().Format(dateOnly)
		argv := append(slices.Clone(base), "--exclude-newer", date)
		argv = append(argv, datesBefore(day, backends)...)
		if slices.Contains(r.Requirements, leastPytest) {
			argv = append(argv, datesBefore(day, ofPytest)...)
		}
		if r.Service != nil {
			argv = append(argv, lateDates(day)...)
		}
		return attempt{kind, date, append(append(argv, extra...), input)}
	}
	none := attempt{schemas.PinNone, "", append(slices.Clone(base), input)}
	if !p.PinToDate {
		return []attempt{none}
	}
	out := []attempt{dated(schemas.PinDate, quarter(p.Date)), dated(schemas.PinDate, p.Date.AddDate(0, 0, 1))}
	if t, err := time.Parse(dateOnly, r.PinDate); err == nil && r.Pinning == schemas.PinNearest {
		out = append([]attempt{dated(schemas.PinNearest, t)}, out...) // where it held before, or where a repair moved it
	}
	if locked {
		// The lock may be of the change itself, some days after base.
		out = append(out, dated(schemas.PinLock, p.Date.AddDate(0, 3, 0), "--constraints", resolveDir+"/locked.txt"))
	}
	for _, months := range []int{1, -3, 3, -6, 6, 12} {
		out = append(out, dated(schemas.PinNearest, p.Date.AddDate(0, months, 0)))
	}
	return append(out, none)
}

// quarter is the first day of the date's quarter.
func quarter(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), time.Month((int(t.Month())-1)/3*3+1), 1, 0, 0, 0, 0, time.UTC)
}

// backends had no editable builds before these days (PEP 660): older commits get
// the first release that has them (design 7).
var backends = map[string]string{
	"setuptools": "2022-12-31", "flit-core": "2022-12-31", "poetry-core": "2022-12-31", "hatchling": "2022-12-31",
	"pdm-pep517": "2022-12-31", "pdm-backend": "2023-06-30", "editables": "2022-12-31", "wheel": "2022-12-31",
}

// ofPytest are the days of the least pytest that is asked for, and of what it needs: for an
// older commit no other package is newer than its base for it.
var ofPytest = map[string]string{
	"pytest": "2020-08-31", "iniconfig": "2020-08-31", "py": "2020-08-31", "pluggy": "2020-08-31", "importlib-metadata": "2020-08-31", "zipp": "2020-08-31",
}

// datesBefore are per-package limits for a date before the packages' own.
func datesBefore(day time.Time, packages map[string]string) []string {
	var out []string
	for _, name := range sortedKeys(packages) {
		if date := day.UTC().Format(dateOnly); date < packages[name] {
			out = append(out, "--exclude-newer-package", name+"="+packages[name])
		}
	}
	return out
}

// metadata are the files that say what the packages of the tree require: the manifests
// alone where these are static, else the tree without its large files.
func metadata(t lang.Tree, r schemas.Recipe) []sandbox.File {
	dirs := locals(r.Requirements)
	if len(dirs) == 0 {
		return nil
	}
	root, static := readManifest(t), true
	for _, dir := range dirs {
		static = static && root.at(dir).static()
	}
	var out []sandbox.File
	for _, p := range t.Paths() {
		if static && (path.Base(p) != "pyproject.toml" || !slices.Contains(dirs, folderOf(p))) {
			continue
		}
		data, err := t.Read(p)
		if err != nil || len(data) > maxMetadata {
			continue
		}
		out = append(out, sandbox.File{Path: path.Join(sandbox.TreePath, p), Mode: 0o644, Data: data})
	}
	return out
}

// static: PEP 621 with nothing dynamic, which uv reads without running code.
func (m *manifest) static() bool {
	return table(m.pyproject, "project") != nil && len(list(m.pyproject, "project", "dynamic")) == 0 && str(m.pyproject, "project", "version") != "" &&
		!strings.Contains(string(m.read("pyproject.toml")), " @ ") // a folder of the tree, which is read too
}

// lockFileVersions are the versions of a lock file of the tree, as constraints.
// A name with several versions (by marker) is left to the resolver.
func lockFileVersions(t lang.Tree) []string {
	m := &manifest{tree: t}
	for _, file := range []string{"uv.lock", "poetry.lock", "pdm.lock"} {
		packages, _ := m.toml(file)["package"].([]any)
		versions := map[string][]string{}
		for _, p := range packages {
			name, _ := dig(p, "name").(string)
			version, _ := dig(p, "version").(string)
			kind, _ := dig(p, "source").(map[string]any)
			if name == "" || version == "" || kind["editable"] != nil || kind["virtual"] != nil || kind["git"] != nil {
				continue
			}
			versions[name] = append(versions[name], version)
		}
		var out []string
		for _, name := range sortedKeys(versions) {
			if len(versions[name]) == 1 {
				out = append(out, name+"=="+versions[name][0])
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// Locked puts the resolver's answer into the recipe, without the project itself:
// a dependency may require it (pytest requires pluggy), and the tree provides it.
func (l Language) Locked(r schemas.Recipe, files map[string][]byte) (schemas.Recipe, error) {
	lock, ok := files[lockOut]
	if !ok {
		return r, errors.New("the resolver left no lock")
	}
	var note struct{ Pinning, Date string }
	if err := json.Unmarshal(files[noteOut], &note); err != nil {
		return r, fmt.Errorf("reading the resolver's note: %w", err)
	}
	r.Lock = withoutProject(string(lock))
	r.Pinning, r.PinDate = schemas.Pinning(note.Pinning), note.Date
	if r.Lock == "" {
		return r, errors.New("the lock is empty")
	}
	uvPath, err := uv(r)
	if err != nil {
		return r, err
	}
	r.Setup = setupCommands(r, uvPath)
	return r, nil
}

var lockEntry = lazyregexp.New(`^[A-Za-z0-9]`)

// withoutProject keeps the entries name==version with their hashes.
func withoutProject(lock string) string {
	var b strings.Builder
	keep := false
	for _, line := range strings.Split(lock, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			spec, _, _ := strings.Cut(line, ";")
			keep = lockEntry.MatchString(line) && strings.Contains(spec, "==") && !strings.Contains(spec, " @ ")
		}
		if keep {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func setupCommands(r schemas.Recipe, uvPath string) []schemas.Command {
	install := []string{uvPath, "pip", "install", "--python", venvPython, "--require-hashes", "--no-deps"}
	if compiles(r.Toolchain.Version) {
		install = append(install, "--compile-bytecode")
	}
	if len(builtWith(r)) > 0 {
		install = append(install, "--build-constraints", builtWithPath)
	}
	return []schemas.Command{
		{Argv: []string{uvPath, "venv", "--python", interpreter(r), venvPath}, Dir: sandbox.EnvPath},
		{Argv: append(install, "-r", lockPath), Dir: sandbox.EnvPath},
	}
}

// compiles reports whether uv can compile packages for a Python: the script that it gives
// the interpreter for that needs 3.7.
func compiles(version string) bool { return semver.Compare("v"+version, "v3.7") >= 0 }

// Setup makes a virtual environment from the lock. The date is a variable and not
// a word of the commands, so that equal locks have equal keys whatever the date.
func (l Language) Setup(r schemas.Recipe) (recipe.Step, error) {
	if r.Lock == "" {
		return recipe.Step{}, errors.New("the recipe has no lock")
	}
	uvPath, err := uv(r)
	if err != nil {
		return recipe.Step{}, err
	}
	env := uvEnv()
	if r.PinDate != "" {
		// What source distributions are built with. The lock itself may hold back ends
		// that are newer than its date, and must stay installable.
		env["UV_EXCLUDE_NEWER"] = r.PinDate
		for _, date := range backends {
			env["UV_EXCLUDE_NEWER"] = max(env["UV_EXCLUDE_NEWER"], date)
		}
	}
	return recipe.Step{
		Commands: setupCommands(r, uvPath),
		Files:    append(builtWith(r), text(lockPath, r.Lock)),
		Caches:   map[string]string{"uv": cacheDir},
		Fill:     fillWheels(r, uvPath),
		Env:      env,
	}, nil
}

// fillEach asks for the entries of a file ($0) together, and where that fails (one has
// no wheel here) for each by itself.
const fillEach = `"$@" -r "$0" || while read -r line; do printf '%s\n' "$line" >"$0.one"; "$@" -r "$0.one"; done <"$0"; exit 0`

// fillWheels puts the wheels of a lock into the shared cache, by name, version and digest:
// uv unpacks what has one of the digests, and runs nothing. Source distributions are built
// by the steps, which do not write to it.
func fillWheels(r schemas.Recipe, uvPath string) *sandbox.Fill {
	const list = resolveDir + "/wheels.txt"
	env := uvEnv()
	env["UV_LINK_MODE"] = "symlink" // what is installed goes at once
	return &sandbox.Fill{
		Files: []sandbox.File{text(list, joined(entries(r.Lock)))}, Env: env,
		Steps: []schemas.Command{{Argv: []string{"sh", "-c", fillEach, list, uvPath, "pip", "install", "--quiet", "--no-build", "--no-deps",
			"--require-hashes", "--python", interpreter(r), "--target", resolveDir + "/target"}}},
	}
}

var (
	exactVersion = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9._, -]*\])?==[A-Za-z0-9.!+_-]+)(?:\s|;|\\|$)`)
	lockedHash   = lazyregexp.New(`--hash=(sha256:[0-9a-f]{64})\b`)
)

// entries are the names, versions and digests of a lock, one a line, and nothing else of
// it: code of the project may have written it.
func entries(lock string) []string {
	var out []string
	for _, line := range strings.Split(strings.ReplaceAll(lock, "\\\n", " "), "\n") {
		name := exactVersion.FindStringSubmatch(line)
		hashes := lockedHash.FindAllStringSubmatch(line, -1)
		if name == nil || len(hashes) == 0 {
			continue
		}
		for _, h := range hashes {
			name[1] += " --hash=" + h[1]
		}
		out = append(out, name[1])
	}
	return out
}

func text(path, content string) sandbox.File {
	return sandbox.File{Path: path, Mode: 0o644, Data: []byte(content)}
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
