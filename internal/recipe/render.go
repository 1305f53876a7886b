package recipe

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Rendering is all that an exported environment needs. Paths of the context are
// relative to the dataset's folder.
type Rendering struct {
	ID     string
	Recipe schemas.Recipe
	// Setup is the language's answer for the recipe; its files lie under SetupDir.
	Setup    Step
	SetupDir string
	Archive  string // the base tree, blobs/<sha256>.tar.gz
	// Specification is the folder of a library's specification; "" where there is none.
	Specification string
	Date          string // RFC 3339; the neutral commit's date
	// Runs are the processes of one proof run; their inputs lie under InputDir,
	// relative to the run script.
	Runs     []TestRun
	InputDir string
	// Serve starts the service, and ends with it; nil where there is none. Its tests are no
	// part of the run script: they ask from beside.
	Serve *schemas.Command
}

// Dockerfile renders the environment and the sealed start tree. It is built with
// the dataset's folder as context: docker build -f tasks/<ID>/Dockerfile .
func Dockerfile(r Rendering) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, from recipe.json. Context: the dataset's folder.\n", r.ID)
	fmt.Fprintf(&b, "# docker build --build-arg BASE=IMAGE -f %s/%s/Dockerfile .\n", path.Dir(path.Dir(r.SetupDir)), r.ID)
	fmt.Fprintf(&b, "# IMAGE is in no registry: `benchmint env base --sandbox docker` makes it from Debian packages\n")
	fmt.Fprintf(&b, "# (git, compilers, uid %d, the directories below). These toolchains must be in it:\n", sandbox.UID)
	for _, tc := range append([]schemas.Toolchain{r.Recipe.Toolchain}, r.Recipe.Tools...) {
		fmt.Fprintf(&b, "#   %s/%s-%s  %s\n", sandbox.ToolchainPath, tc.Name, tc.Version, orUnknown(string(tc.Digest)))
	}
	fmt.Fprintf(&b, "# A machine behind a CA or proxy of its own adds --build-arg SSL_CERT_FILE=PATH (a path in IMAGE)\n# and --build-arg HTTPS_PROXY=URL; neither stays in the result.\n")
	fmt.Fprintf(&b, "ARG BASE\nFROM ${BASE}\nARG SSL_CERT_FILE\nSHELL [\"/bin/bash\", \"-c\"]\n")
	if pkgs := r.Recipe.SystemPackages; len(pkgs) > 0 {
		fmt.Fprintf(&b, "\nUSER root\nRUN apt-get update && apt-get install -y --no-install-recommends %s && rm -rf /var/lib/apt/lists/*\n", quoteAll(sorted(pkgs)))
	}
	fmt.Fprintf(&b, "\nUSER root\nRUN mkdir -p %[1]s %[2]s %[3]s %[6]s && chown %[4]d:%[5]d %[1]s %[2]s %[3]s %[6]s\nUSER %[4]d:%[5]d\nENV HOME=%[6]s\n",
		sandbox.EnvPath, sandbox.TreePath, sandbox.RunPath, sandbox.UID, sandbox.GID, sandbox.HomePath)
	writeSetup(&b, r)
	writeTree(&b, r)
	if r.Specification != "" {
		fmt.Fprintf(&b, "\n# The specification, outside of the tree.\nCOPY %s %s\n", r.Specification, schemas.SpecificationPath)
	}
	return []byte(b.String())
}

func writeSetup(b *strings.Builder, r Rendering) {
	if len(r.Setup.Commands) == 0 && len(r.Setup.Files) == 0 {
		return
	}
	fmt.Fprintf(b, "\n# The env layer: dependencies only (%s), never the project. The base looks no\n# names up; registries need it for these steps.\n", pinned(r.Recipe))
	fmt.Fprintf(b, "USER root\nRUN %s\nUSER %d:%d\n", lookUps("files dns"), sandbox.UID, sandbox.GID)
	for i, f := range r.Setup.Files {
		if !f.Delete {
			fmt.Fprintf(b, "COPY --chown=%d:%d %s %s\n", sandbox.UID, sandbox.GID, SetupName(r.SetupDir, i, f), f.Path)
		}
	}
	if made := made(r.Setup.Files); len(made) > 0 { // builders give directories that a COPY makes to root
		fmt.Fprintf(b, "USER root\nRUN chown -R %[1]d:%[2]d %[3]s\nUSER %[1]d:%[2]d\n", sandbox.UID, sandbox.GID, quoteAll(made))
	}
	// In the same layer: what a later one deletes can still be read.
	var forget string
	for _, dir := range slices.Sorted(maps.Values(r.Setup.Caches)) {
		forget += " && rm -rf " + Quote(dir)
	}
	for _, c := range r.Setup.Commands {
		fmt.Fprintf(b, "RUN %s%s\n", ShellLine(c, r.Setup.Env, r.Recipe.Variables), forget)
	}
	fmt.Fprintf(b, "USER root\nRUN %s\nUSER %d:%d\n", lookUps("files"), sandbox.UID, sandbox.GID)
}

// made are the directories that putting files in place makes.
func made(files []sandbox.File) []string {
	var out []string
	for _, f := range files {
		for _, there := range []string{sandbox.EnvPath, sandbox.HomePath, sandbox.RunPath, "/tmp"} {
			if rest, ok := strings.CutPrefix(f.Path, there+"/"); ok && strings.Contains(rest, "/") {
				first, _, _ := strings.Cut(rest, "/")
				out = append(out, path.Join(there, first))
			}
		}
	}
	return sorted(out)
}

func lookUps(how string) string {
	return "sed -i 's/^hosts:.*/hosts: " + how + "/' /etc/nsswitch.conf"
}

func writeTree(b *strings.Builder, r Rendering) {
	fmt.Fprintf(b, "\n# The start tree B, sealed: one neutral commit, no history.\n")
	// Builders give what they unpack to root, whatever --chown says.
	fmt.Fprintf(b, "ADD %[1]s %[2]s/\nUSER root\nRUN chown -R %[3]d:%[4]d %[2]s\nUSER %[3]d:%[4]d\n", r.Archive, sandbox.TreePath, sandbox.UID, sandbox.GID)
	fmt.Fprintf(b, "WORKDIR %s\n", sandbox.TreePath)
	fmt.Fprintf(b, "RUN git init -q -b main . && rm -rf .git/hooks && printf '* -text -filter -ident -working-tree-encoding\\n' > .git/info/attributes"+
		" && git add -A -f . && GIT_AUTHOR_DATE=%[1]s GIT_COMMITTER_DATE=%[1]s git -c user.name=benchmint -c user.email=benchmint@localhost commit -q --allow-empty -m 'Start of the task' && rm -rf .git/logs\n", r.Date)
	if add := addHosts(r.Recipe); add != "" {
		fmt.Fprintf(b, "# The service looks for these hosts where it runs: docker build%s\n", add)
	}
	for _, c := range r.Recipe.Build {
		fmt.Fprintf(b, "RUN %s\n", ShellLine(c, nil, r.Recipe.Variables))
	}
	fmt.Fprintf(b, "STOPSIGNAL SIGKILL\n")
}

// addHosts are the options of docker by which the names of a recipe's service lead to loopback.
func addHosts(r schemas.Recipe) string {
	var b strings.Builder
	for _, name := range r.Names() {
		b.WriteString(" --add-host " + Quote(name+":127.0.0.1"))
	}
	return b.String()
}

// Shared is a Dockerfile whose base tree comes out of an archive of several, which the image does
// not hold: a stage of its own unpacks it. from and to are Rendering.Archive before and after;
// folder is the tree's in the archive, and in the one before it where that is of several as well.
func Shared(dockerfile []byte, from, to, folder string) ([]byte, error) {
	text := string(dockerfile)
	took := fmt.Sprintf("\nCOPY --from=trees /trees/%s/ %s/\n", folder, sandbox.TreePath)
	stage := func(archive string) string {
		return fmt.Sprintf("\nFROM ${BASE} AS trees\nUSER root\nADD %s /trees/\nFROM ${BASE}\n", archive)
	}
	if strings.Contains(text, took) {
		return replaceOne(text, stage(from), stage(to))
	}
	b, err := replaceOne(text, fmt.Sprintf("\nADD %s %s/\n", from, sandbox.TreePath), took)
	if err != nil {
		return nil, err
	}
	return replaceOne(string(b), "\nFROM ${BASE}\n", stage(to))
}

func replaceOne(text, from, to string) ([]byte, error) {
	if strings.Count(text, from) != 1 {
		return nil, fmt.Errorf("the Dockerfile does not have the line %q once", strings.TrimSpace(from))
	}
	return []byte(strings.Replace(text, from, to, 1)), nil
}

// SetupName is where file i of the setup lies in the context.
func SetupName(dir string, i int, f sandbox.File) string {
	return path.Join(dir, fmt.Sprintf("%02d-%s", i, path.Base(f.Path)))
}

func pinned(r schemas.Recipe) string {
	if r.PinDate != "" {
		return fmt.Sprintf("pinning %s %s", r.Pinning, r.PinDate)
	}
	return fmt.Sprintf("pinning %s", r.Pinning)
}

// RunScript renders the build and test commands of one proof run as they are
// executed in the tree, after any patches that it is given.
func RunScript(r Rendering) []byte {
	if r.Recipe.Deployed() {
		return deployScript(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n# %s: apply the patches named as arguments, build, %s.\n", r.ID, r.does())
	if r.Serve == nil {
		fmt.Fprintf(&b, "# It exits with the runner's code; the verdict is read from the report, not from it.\n")
	}
	fmt.Fprintf(&b, "set -u\nhere=$(cd \"$(dirname \"$0\")\" && pwd) || exit 2\nargs=()\nfor p in \"$@\"; do args+=(\"$(realpath \"$p\")\"); done\ncd %s || exit 2\n", sandbox.TreePath)
	fmt.Fprintf(&b, "for p in \"${args[@]+\"${args[@]}\"}\"; do git apply --whitespace=nowarn \"$p\" || exit 3; done\n")
	for _, name := range r.Recipe.Names() {
		fmt.Fprintf(&b, "getent hosts %[1]s >/dev/null || echo 127.0.0.1 %[1]s 2>/dev/null >>/etc/hosts || { echo 'start the container with%[2]s' >&2; exit 2; }\n", Quote(name), addHosts(r.Recipe))
	}
	for _, c := range r.Recipe.Build {
		fmt.Fprintf(&b, "%s || exit 4\n", ShellLine(c, nil, r.Recipe.Variables))
	}
	if r.Serve != nil {
		fmt.Fprintf(&b, "# The service: tests_benchmint asks it from elsewhere (SERVICE_URL).\n%s\n", ShellLine(*r.Serve, nil, r.Recipe.Variables))
		return []byte(b.String())
	}
	if len(r.Runs) == 0 { // the language adds nothing to the recipe's own commands
		for _, c := range r.Recipe.Test {
			fmt.Fprintf(&b, "%s; rc=$?\n", ShellLine(c, nil, r.Recipe.Variables))
		}
	}
	for i, run := range r.Runs {
		for j, f := range run.Inputs {
			fmt.Fprintf(&b, "mkdir -p %s && cp \"$here\"/%s %s || exit 2\n", Quote(path.Dir(f.Path)), Quote(InputName(r.InputDir, i, j, f)), Quote(f.Path))
		}
		fmt.Fprintf(&b, "%s; rc=$?\n", ShellLine(run.Command, nil, r.Recipe.Variables))
		if run.Report != "" {
			fmt.Fprintf(&b, "echo 'report: '%s\n", Quote(run.Report))
		}
	}
	fmt.Fprintf(&b, "exit \"${rc:-0}\"\n")
	return []byte(b.String())
}

// deployScript builds and starts the service of a tree by its own Dockerfile, where Docker is.
func deployScript(r Rendering) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n# %s: in a copy of the base tree, where Docker is: apply the patches named as arguments,\n# build the Dockerfile, serve on port %d. tests_benchmint asks it from elsewhere (SERVICE_URL).\n", r.ID, r.Recipe.Service.Port)
	fmt.Fprintf(&b, "# The image that it begins with, %s, is that of Dockerfile here without the tree.\nset -eu\n", r.Recipe.Service.Image)
	fmt.Fprintf(&b, "for p in \"$@\"; do git apply --whitespace=nowarn \"$p\" || exit 3; done\n")
	fmt.Fprintf(&b, "docker build --quiet --tag %s . || exit 4\n", Quote(strings.ToLower(r.ID)))
	fmt.Fprintf(&b, "exec docker run --rm --publish 127.0.0.1:%[1]d:%[1]d %[2]s\n", r.Recipe.Service.Port, Quote(strings.ToLower(r.ID)))
	return []byte(b.String())
}

func (r Rendering) does() string {
	if r.Serve != nil {
		return "serve on port " + strconv.Itoa(r.Recipe.Service.Port)
	}
	return "run the whole suite once"
}

// InputName is where input j of run i lies beside the run script.
func InputName(dir string, i, j int, f sandbox.File) string {
	return path.Join(dir, fmt.Sprintf("%02d-%02d-%s", i, j, path.Base(f.Path)))
}

// ShellLine is a command as a shell would be given it: its own variables win
// over the later sets.
func ShellLine(c schemas.Command, envs ...map[string]string) string {
	env := map[string]string{}
	for _, set := range slices.Backward(envs) {
		maps.Copy(env, set)
	}
	maps.Copy(env, c.Env)
	var words []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		words = append(words, name+"="+Quote(env[name]))
	}
	if len(words) > 0 {
		words = append([]string{"env"}, words...)
	}
	line := strings.Join(append(words, quoteAll(c.Argv)), " ")
	if c.Dir != "" && c.Dir != "." {
		return "(cd " + Quote(c.Dir) + " && " + line + ")"
	}
	return line
}

func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = Quote(w)
	}
	return strings.Join(out, " ")
}

const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

// Quote makes one word for a POSIX shell, as Python's shlex.quote does. A line
// feed is written as $'\n' so that a Dockerfile's RUN stays one line.
func Quote(s string) string {
	if s != "" && strings.Trim(s, safe) == "" {
		return s
	}
	if strings.ContainsAny(s, "\n\r") {
		r := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`)
		return `$'` + r.Replace(s) + `'`
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func orUnknown(s string) string {
	if s == "" {
		return "digest unknown"
	}
	return s
}
