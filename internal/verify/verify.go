// Package verify opens a dataset with the programs that people open it with, and
// compares what they see with what the files hold.
//
// It never writes into the dataset, asks no hub but for Published, and judges nothing by a
// reader of ours: where the real client cannot be had it says so.
package verify

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/schemas"
)

// The formats that a dataset is written in, and the configuration with lists that a folder
// of rows alone has beside them.
const (
	Parquet = "parquet"
	JSONL   = "jsonl"
	Lists   = "lists"
)

// Formats are those of a dataset, in order.
var Formats = []string{Parquet, JSONL}

// Names of the clients.
const (
	HuggingFaceName = "huggingface"
	SWEBenchName    = "swebench"
	HarborName      = "harbor"
	InspectName     = "inspect"
	Commit0Name     = "commit0"
)

// ErrNoClient is a client that this machine does not have and cannot get now.
var ErrNoClient = errors.New("the client cannot be had")

//go:embed load.py
var load []byte

//go:embed starters.py
var starters []byte

// Options say where the client is and what it may see.
type Options struct {
	Cache string   // clients are kept in it, in a virtual environment each
	Env   []string // of uv and of the client: PATH, proxies, registries
	Say   func(form string, args ...any)
	Jobs  int // tasks at one time; 0 is one
	// UV is the file of the uv that makes the client's environment; nil takes that in PATH.
	UV func(context.Context) (string, error)
}

func (o Options) say(form string, args ...any) {
	if o.Say != nil {
		o.Say(form, args...)
	}
}

// Result is what the client saw.
type Result struct {
	Client  string   `json:"client"` // its name and version, and of what it stands on
	Rows    int      `json:"rows"`   // of the JSONL, as Python's json reads it
	Formats []Format `json:"formats"`
}

// Format is one format through the client.
type Format struct {
	Format string `json:"format"`
	Rows   int    `json:"rows"`
	// Difference is the first one to the JSONL, or what the client said; "" is equal.
	Difference string `json:"difference"`
	// Silent reports that the difference is a hub that did not answer.
	Silent  bool              `json:"silent,omitempty"`
	Columns map[string]string `json:"columns"` // name → type
}

// Equal reports whether every format gives every row as it is.
func (r Result) Equal() bool {
	for _, f := range r.Formats {
		if f.Difference != "" {
			return false
		}
	}
	return true
}

// HuggingFace loads a dataset's folder with the datasets library, the formats that
// are named or all. ErrNoClient. A dataset without rows is one that no reader of it
// opens (there is no split to give): it comes back without formats.
func HuggingFace(ctx context.Context, dir, split string, formats []string, o Options) (Result, error) {
	return huggingFace(ctx, local(dir, split, formats...), nil, o)
}

// Configurations loads every format, and every configuration by its name: rows are the IDs of the
// rows that each holds. The client is started once. ErrNoClient.
func Configurations(ctx context.Context, dir, split string, rows map[string][]string, o Options) (Result, error) {
	return configurations(ctx, local(dir, split), rows, o)
}

// Hub is a revision of a repository on a hub.
type Hub struct {
	Repo, Revision string
	Env            []string // of the client: its endpoint, and a token where one is needed
}

// Published is Configurations of what a hub has: the client fetches it, and the rows are compared
// with those of the folder. ErrNoClient.
func Published(ctx context.Context, dir, split string, rows map[string][]string, hub Hub, o Options) (Result, error) {
	l := local(dir, split)
	l.repo, l.revision, l.env = hub.Repo, hub.Revision, hub.Env
	return configurations(ctx, l, rows, o)
}

func configurations(ctx context.Context, l loading, rows map[string][]string, o Options) (Result, error) {
	b, err := json.Marshal(rows)
	if err != nil {
		return Result{}, err
	}
	return huggingFace(ctx, l, b, o)
}

// loading is what is loaded, and from where.
type loading struct {
	dir, split     string
	formats        []string
	repo, revision string   // "" is the folder itself
	env            []string // of the client
}

func local(dir, split string, formats ...string) loading {
	return loading{dir: dir, split: split, formats: formats, env: offline}
}

func huggingFace(ctx context.Context, l loading, rows []byte, o Options) (out Result, err error) {
	if l.dir, err = filepath.Abs(l.dir); err != nil || empty(l.dir, l.split) {
		return out, err
	}
	if len(l.formats) == 0 {
		l.formats = Formats
	}
	args := append([]string{l.dir, l.split, cmp.Or(l.repo, l.dir), l.revision}, l.formats...)
	return opened(ctx, HuggingFaceName, load, rows, func(string) []string { return args }, l.env, o)
}

// Commit0 opens a folder of Commit0's rows with the published harness's own code: rows, set-up
// scripts, repositories and test IDs. ErrNoClient.
func Commit0(ctx context.Context, dir, split string, o Options) (Result, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Result{}, err
	}
	if empty(dir, split) {
		return Result{}, nil
	}
	return opened(ctx, Commit0Name, starters, nil, func(home string) []string { return []string{dir, split, home} }, offline, o)
}

// empty reports whether a folder's rows are there, and none.
func empty(dir, split string) bool {
	for _, rows := range []string{filepath.Join(dir, "data", split+".jsonl"), filepath.Join(dir, split+".jsonl")} {
		if info, err := os.Stat(rows); err == nil && info.Size() == 0 {
			return true
		}
	}
	return false
}

// offline keeps Hugging Face's libraries from every hub.
var offline = []string{"HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1"}

// opened is what Run's program says that it saw.
func opened(ctx context.Context, client string, program, input []byte, args func(home string) []string, env []string, o Options) (out Result, err error) {
	answer, err := Run(ctx, client, Program{program, input, args, env}, o)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, fmt.Errorf("reading the client's answer %.200q: %w", answer, err)
	}
	return out, nil
}

// Program is a Python program of ours that a client's libraries run.
type Program struct {
	Text, Input []byte // Input is its standard input
	Args        func(home string) []string
	Env         []string // after that of the options
}

// Run runs one in a home of its own, and gives what it prints. It ends with this process.
// ErrNoClient.
func Run(ctx context.Context, client string, p Program, o Options) ([]byte, error) {
	bin, err := clients()[client].get(ctx, o)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "benchmint-verify-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	script := filepath.Join(home, "open.py")
	if err := os.WriteFile(script, p.Text, 0o600); err != nil {
		return nil, err
	}
	env := slices.Concat(o.Env, []string{"HF_HOME=" + home, "HF_HUB_DISABLE_TELEMETRY=1", "PYTHONPATH="}, p.Env)
	answer, err := runWith(ctx, p.Input, env, filepath.Join(bin, "python"), append([]string{script}, p.Args(home)...)...)
	if err != nil {
		return nil, fmt.Errorf("opening with %s: %w", client, err)
	}
	return answer, nil
}

// program is one client as a package index has it.
type program struct {
	name, pins string
	python     string // at least
}

//go:embed datasets.txt
var datasetsPins string

//go:embed swebench.txt
var swebenchPins string

//go:embed harbor.txt
var harborPins string

//go:embed inspect.txt
var inspectPins string

//go:embed commit0.txt
var commit0Pins string

// clients are all of them by name.
func clients() map[string]program {
	return map[string]program{
		HuggingFaceName: {"datasets", datasetsPins, "3.10"},
		SWEBenchName:    {"swebench", swebenchPins, "3.10"},
		HarborName:      {"harbor", harborPins, "3.12"},
		InspectName:     {"inspect", inspectPins, "3.12"},
		Commit0Name:     {"commit0", commit0Pins, "3.10"},
	}
}

func (p program) dir(cache string) string {
	return filepath.Join(cache, "clients", p.name+"-"+schemas.DigestBytes([]byte(p.pins)).Short())
}

func (p program) versions() string { return strings.Join(strings.Fields(p.pins), ", ") }

// get is the folder of programs of the virtual environment with a client, made where it
// is missing. Its name follows the versions that it holds.
func (p program) get(ctx context.Context, o Options) (bin string, err error) {
	dir := p.dir(o.Cache)
	complete := filepath.Join(dir, "complete")
	bin = filepath.Join(dir, "bin")
	if _, err := os.Stat(complete); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(complete); err == nil { // another process was quicker
		return bin, nil
	}
	o.say("getting %s from the package registry into %s, once", p.versions(), dir)
	// What an end has left half done is made again.
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	env, uv := interpreters(o.Env), "uv"
	if o.UV != nil {
		if uv, err = o.UV(ctx); err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoClient, err)
		}
	}
	for _, step := range []struct {
		get  string
		argv []string
	}{
		{"install Python " + p.python + " or newer (apt-get install python3, or uv python install " + p.python + ")",
			[]string{"venv", "--quiet", "--no-python-downloads", "--python", ">=" + p.python, dir}},
		{"run again where a Python package index answers",
			[]string{"pip", "install", "--quiet", "--python", filepath.Join(bin, "python"), "--requirement", "-"}},
	} {
		if _, err := runWith(ctx, []byte(p.pins), env, uv, step.argv...); err != nil {
			return "", fmt.Errorf("%w: %w; %s", ErrNoClient, err, step.get)
		}
	}
	return bin, os.WriteFile(complete, nil, 0o644)
}

// interpreters is an environment in which uv finds all of pyenv's interpreters: its shims
// fail but for the version that is switched on, and uv gives up at the first that does.
func interpreters(env []string) []string {
	out := slices.Clone(env)
	value := func(name string) string {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		return ""
	}
	root := value("PYENV_ROOT")
	if root == "" {
		root = filepath.Join(value("HOME"), ".pyenv")
	}
	found, err := filepath.Glob(filepath.Join(root, "versions", "3.*", "bin"))
	if err != nil || len(found) == 0 {
		return out
	}
	dirs := slices.DeleteFunc(filepath.SplitList(value("PATH")), func(d string) bool { return d == filepath.Join(root, "shims") })
	return append(out, "PATH="+strings.Join(append(dirs, found...), string(filepath.ListSeparator)))
}

func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", name, err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which unlocks
}

func run(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	return runWith(ctx, nil, env, name, args...)
}

// runWith gives standard output; an error ends with what was complained about.
func runWith(ctx context.Context, input []byte, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(input)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // one that outlives us would go on with a hub
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		text := strings.TrimSpace(complaint.String())
		const most = 2000
		return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, text[max(0, len(text)-most):])
	}
	return out, nil
}
