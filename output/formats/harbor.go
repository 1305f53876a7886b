package formats

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/output"
)

// Harbor is a folder for each task as Harbor runs it (schema 1.4), and as Inspect does by
// its reader of Harbor's tasks. What an agent has made leaves its container as a patch,
// and is judged in another one, which no process of the agent has ever been in.
type Harbor struct{}

var _ Format = Harbor{}

// Name implements Format.
func (Harbor) Name() string { return "harbor" }

// harborName is what Harbor takes for one half of a task's name. It leaves tasks with
// another one out of a dataset without a word.
var harborName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Fits implements Format.
func (Harbor) Fits(t Task) error {
	if err := patches(t); err != nil {
		return err
	}
	if !harborName.MatchString(t.InstanceID) || strings.Contains(t.InstanceID, "..") {
		return fmt.Errorf("a task of Harbor cannot have the name %q", t.InstanceID)
	}
	// Harbor names images for it: it cuts, makes a dash of a dot, and adds "__", which Docker refuses.
	if cut := t.InstanceID[:min(len(t.InstanceID), 32)]; strings.HasSuffix(strings.TrimRight(cut, "_-"), ".") {
		return fmt.Errorf("Harbor names images after the first 32 characters, and Docker takes no name from %q, which ends in a dot", cut)
	}
	if err := lines(t.FailToPass, t.PassToPass); err != nil {
		return err
	}
	_, err := harborTests(t)
	return err
}

// Inspect is Harbor's format for Inspect, whose tests run in the container of the agent.
type Inspect struct{ Harbor }

// Fits implements Format.
func (i Inspect) Fits(t Task) error {
	if t.Recipe.Service != nil {
		return errors.New("Inspect runs the tests where the agent was, and what asks a service is in another image")
	}
	return i.Harbor.Fits(t)
}

// Open implements Format.
func (Harbor) Open(dir string, d *output.Dataset) (Sink, error) {
	org := strings.Trim(component(d.Manifest.Name), "._-")
	if org == "" {
		org = "benchmint"
	}
	return &harbor{dir: dir, org: org, list: harborDataset{
		Version: "1.0", Dataset: harborAbout{Name: org + "/" + org, Description: "Tasks of " + d.Manifest.Name + ", written by benchmint.", Keywords: []string{"benchmint"}},
	}}, nil
}

type harbor struct {
	dir, org string
	list     harborDataset
}

// harborDataset is dataset.toml.
type harborDataset struct {
	Version string         `toml:"schema_version"`
	Dataset harborAbout    `toml:"dataset"`
	Tasks   []harborDigest `toml:"tasks"`
}

type harborAbout struct {
	Name        string   `toml:"name"`
	Description string   `toml:"description"`
	Keywords    []string `toml:"keywords"`
}

type harborDigest struct {
	Name   string `toml:"name"`
	Digest string `toml:"digest"`
}

// harborTask is task.toml. Keys without a table come first, or they would belong to one.
type harborTask struct {
	Version     string            `toml:"schema_version"`
	Task        harborIdentity    `toml:"task"`
	Metadata    map[string]string `toml:"metadata"`
	Agent       harborAgent       `toml:"agent"`
	Verifier    harborVerifier    `toml:"verifier"`
	Environment harborEnvironment `toml:"environment"`
}

type harborIdentity struct {
	Name        string   `toml:"name"`
	Description string   `toml:"description"`
	Keywords    []string `toml:"keywords"`
}

type harborAgent struct {
	Timeout float64 `toml:"timeout_sec"`
}

type harborVerifier struct {
	Timeout float64         `toml:"timeout_sec"`
	User    string          `toml:"user"`
	Mode    string          `toml:"environment_mode"`
	Collect []harborCollect `toml:"collect"`
}

type harborCollect struct {
	Command string  `toml:"command"`
	User    string  `toml:"user"`
	Timeout float64 `toml:"timeout_sec"`
}

type harborEnvironment struct {
	Image   string  `toml:"docker_image"`
	Workdir string  `toml:"workdir"`
	Build   float64 `toml:"build_timeout_sec"`
	Memory  int64   `toml:"memory_mb"`
}

const (
	harborSchema  = "1.4"
	harborPatch   = "/logs/artifacts/model.patch" // what crosses to the verifier
	harborRewards = "/logs/verifier"
	datasetFile   = "dataset.toml"
)

func (s *harbor) config(t Task, head string) harborTask {
	const minute = 60
	x := t.Benchmint
	task := harborTask{
		Version: harborSchema,
		Task:    harborIdentity{Name: s.org + "/" + t.InstanceID, Description: "A change to " + t.Repo + ".", Keywords: []string{"benchmint", x.Language, string(x.Kind)}},
		// base_commit_hash is where Inspect puts the tree back to before it judges.
		Metadata: map[string]string{
			"instance_id": t.InstanceID, "repo": t.Repo, "base_commit": t.BaseCommit, "base_commit_hash": head,
			"language": x.Language, "kind": string(x.Kind), "licence": x.Licence, "created_at": t.CreatedAt,
			"must_not_reach": strings.Join(hosts.OfSolutions(), " "), // Harbor denies no host by name; whoever runs it can
		},
		Agent: harborAgent{Timeout: 60 * minute},
		Verifier: harborVerifier{
			Timeout: sandbox.DefaultTimeout.Seconds() + 5*minute, User: "root", Mode: "separate",
			Collect: []harborCollect{{Command: collect(head), User: "root", Timeout: 5 * minute}},
		},
		Environment: harborEnvironment{Image: Image(t.Row), Workdir: sandbox.TreePath, Build: 10 * minute, Memory: sandbox.DefaultMemory >> 20},
	}
	if x.Suite != nil {
		task.Metadata["tests_written_by"] = x.Suite.Provider
	}
	return task
}

// collect makes a patch of what an agent has made, committed or not. What the tree ignores
// is left out, as in the patches that other programs grade. It runs as root, so of the agent's
// repository it reads the objects and what is ignored, and nothing that names a program:
// configuration, attributes and hooks are those of a new one. Submodules, which have their own, stay.
func collect(head string) string {
	return fmt.Sprintf(`mkdir -p %[1]s && : >%[4]s && cd %[2]s && export GIT_DIR="$(mktemp -d)" GIT_WORK_TREE=%[2]s GIT_ALTERNATE_OBJECT_DIRECTORIES=%[2]s/.git/objects GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 && `+
		`git init -q --template= && git read-tree %[3]s && git ls-files -sz | sed -zn 's/^160000 [^\t]*\t//p' | git update-index -z --skip-worktree --stdin && `+
		`git -c core.excludesFile=%[2]s/.git/info/exclude add -A && git diff --cached --binary --no-color --no-ext-diff --no-textconv --no-renames %[3]s >%[4]s`,
		path.Dir(harborPatch), sandbox.TreePath, head, harborPatch)
}

// Add implements Sink.
func (s *harbor) Add(t Task) error {
	head, err := seal.Head(t.Base, t.Date)
	if err != nil {
		return err
	}
	config, err := toml.Marshal(s.config(t, head))
	if err != nil {
		return err
	}
	tests, err := harborTests(t)
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"task.toml":              config,
		"instruction.md":         []byte("The repository is in " + sandbox.TreePath + ".\n\n" + strings.TrimRight(t.ProblemStatement, "\n") + "\n"),
		"environment/Dockerfile": []byte("FROM " + Image(t.Row) + "\n"),
		"solution/solve.sh":      fmt.Appendf(nil, "#!/bin/bash\ncd %s && git apply --whitespace=nowarn /solution/gold.patch\n", sandbox.TreePath),
		"solution/gold.patch":    t.Gold,
		"tests/Dockerfile":       []byte("FROM " + JudgeImage(t.Row) + "\nCOPY . /tests/\n"),
	}
	for name, data := range tests {
		files["tests/"+name] = data
	}
	for name, data := range files {
		if err := s.write(t.InstanceID+"/"+name, data); err != nil {
			return err
		}
	}
	s.list.Tasks = append(s.list.Tasks, harborDigest{Name: s.org + "/" + t.InstanceID, Digest: harborDigestOf(files)})
	return nil
}

func (s *harbor) write(name string, data []byte) error {
	full := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		mode = 0o755
	}
	return os.WriteFile(full, data, mode)
}

// harborDigestOf is Harbor's digest of a task.
func harborDigestOf(files map[string][]byte) string {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		one := sha256.Sum256(files[name])
		fmt.Fprintf(all, "%s\x00%s\n", name, hex.EncodeToString(one[:]))
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil))
}

// Close implements Sink.
func (s *harbor) Close() error {
	b, err := toml.Marshal(s.list)
	if err != nil {
		return err
	}
	return write(s.dir, datasetFile, b)
}

// lines is nil where each name is one line of a file, and of the converters' answers.
func lines(lists ...[]string) error {
	for _, id := range slices.Concat(lists...) {
		if parsed(id) != id {
			return fmt.Errorf("the name of the test %q is not one line of words with single blanks", id)
		}
	}
	return nil
}

// harborTests are the files of tests/, which are /tests in the verifier's container.
func harborTests(t Task) (map[string][]byte, error) {
	head, err := seal.Head(t.Base, t.Date)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	s := &script{head: head, put: func(b *bytes.Buffer, name string, data []byte) {
		files[name] = data
		fmt.Fprintf(b, "cp /tests/%[1]s \"$work\"/%[1]s || exit 2\n", recipe.Quote(name))
	}}
	s.say("#!/bin/bash\n# %s, for Harbor: judges the patch that an agent has made. Without a reward something of\n# the machine went wrong, which is no verdict.", t.InstanceID)
	if t.Recipe.Service != nil {
		s.say("chmod 700 /tests || exit 2 # the service must not read it")
	}
	s.say("rewards=%s", harborRewards)
	s.say(`mkdir -p "$rewards" && rm -rf "$rewards"/reward* || exit 2
mode=$(stat -c %%a "$rewards") && chmod 700 "$rewards" || exit 2
ended() { chmod "$mode" "$rewards"; }
trap ended EXIT
reward() {
  printf '{"patch": "%%s", "FAIL_TO_PASS": [%%d, %%d], "PASS_TO_PASS": [%%d, %%d]}\n' "$2" "$3" "$4" "$5" "$6" >"$rewards/reward-details.json"
  printf '{"reward": %%d}\n' "$1" >"$rewards/reward.json"
}
count() { # of the tests of a file, those that passed
  local n=0 id
  while IFS= read -r id; do
    if grep -qxF -e "PASSED $id" "$work/results"; then n=$((n + 1)); fi
  done <"$1"
  echo "$n"
}`)
	s.begin()
	s.say("\n# The start, whatever else this container was; then the patch.")
	s.say("git checkout -q -f %s && git clean -q -f -d || exit 2", head)
	s.say("[ -e %s ] || exit 2", harborPatch)
	s.say(`if [ -s %[1]s ] && ! git apply --whitespace=nowarn %[1]s; then
  reward 0 'does not apply' 0 %[2]d 0 %[3]d
  exit
fi`, harborPatch, len(t.FailToPass), len(t.PassToPass))
	results, err := s.run(t)
	if err != nil {
		return nil, err
	}
	s.say("\n# What the tests left running writes no more.")
	s.say("if [ \"$(id -u)\" = 0 ] && [ \"${owner%%%%:*}\" != 0 ]; then pkill -KILL -U \"${owner%%%%:*}\"; fi")
	s.say("%s >\"$work/results\"", results)
	s.say("cat \"$work/results\"; echo \"exit $rc\"; tail -c 1000000 \"$work/log\" | sed 's/^/| /'")
	s.say("f2p=$(count /tests/FAIL_TO_PASS) p2p=$(count /tests/PASS_TO_PASS)")
	s.say("won=0; [ \"$f2p\" != %d ] || [ \"$p2p\" != %d ] || won=1", len(t.FailToPass), len(t.PassToPass))
	s.say("reward \"$won\" applied \"$f2p\" %d \"$p2p\" %d", len(t.FailToPass), len(t.PassToPass))
	files["FAIL_TO_PASS"], files["PASS_TO_PASS"] = listed(t.FailToPass), listed(t.PassToPass)
	if _, there := files["test.sh"]; there {
		return nil, errors.New("the task has a file test.sh of its own")
	}
	files["test.sh"] = s.Bytes()
	return files, nil
}

// listed is a line for each name.
func listed(names []string) []byte {
	var b bytes.Buffer
	for _, n := range names {
		b.WriteString(n + "\n")
	}
	return b.Bytes()
}
