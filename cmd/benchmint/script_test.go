package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/push/pushtest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// setup gives every script a home and a cache of its own: nothing is left on the
// machine, and nothing of it decides a result. Caches that fills make and copies of
// toolchains are those of all tests.
func setup(env *testscript.Env) error {
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
	cache := filepath.Join(env.WorkDir, "cache", "benchmint")
	if err := errors.Join(environmenttest.ShareCaches(filepath.Join(cache, "sandbox")), environmenttest.ShareToolchains(cache)); err != nil {
		return err
	}
	env.Setenv("NO_COLOR", "1")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, name := range passed {
		if v := os.Getenv(name); v != "" {
			env.Setenv(name, v)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("PYENV_ROOT") == "" {
		env.Setenv("PYENV_ROOT", filepath.Join(home, ".pyenv")) // interpreters are the machine's
	}
	if cache, err := os.UserCacheDir(); err == nil {
		env.Setenv("CLIENTS", filepath.Join(cache, "benchmint", "clients")) // real clients, which are large
	}
	data, err := filepath.Abs("testdata")
	env.Setenv("DATA", data)
	bin, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
	env.Setenv("BIN", bin) // of benchmint itself, for scripts that take the rest of PATH away
	return err
}

// passed are the variables by which a machine names its registries and proxies.
var passed = []string{
	"PYENV_ROOT", "GOPROXY", "GOSUMDB", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "SSL_CERT_FILE",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// condition tells scripts which sandbox works here, by opening it as a run does, and
// who they are.
func condition(name string) (bool, error) {
	if name == "root" { // who reads every file
		return os.Getuid() == 0, nil
	}
	if name == "pythons" { // two that a script may choose from
		return len(pythons()) > 1, nil
	}
	if name != config.Bwrap && name != config.Docker {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	dir, err := os.MkdirTemp("", "benchmint-condition-")
	if err != nil {
		return false, err
	}
	defer func() { _ = removeAll(dir) }() // a temporary folder
	w := newWorld()
	w.cache = dir
	_, closer, err := w.openSandbox(context.Background(), name, config.Default())
	if err != nil {
		return false, nil
	}
	return true, closer()
}

// built is a history of testdata that a test takes through bubblewrap; where that cannot be, the test is skipped.
func built(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds an environment")
	}
	if ok, err := condition("bwrap"); err != nil || !ok {
		t.Skipf("SKIP: no bubblewrap here: %v", err)
	}
	history, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return string(history)
}

// commands are those of ours that scripts may use.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"code": code, "repo": repo, "lock": lock, "step": step, "interrupt": interrupt, "path": path, "pyenv": pyenv, "forget": forget, "disk": disk, "model": model, "asked": askedTimes, "github": gitHub, "pypi": pyPI, "hub": datasetHub, "plant": plant, "leaked": leaked, "steps": steps,
}

// planted is the n-th of fifty credentials: one of eighteen forms that are one word, or a
// private key of several lines (package secrets tests the others). It is made here, so that
// no file of ours holds one.
func planted(n int) string {
	keys := []int{9, 15, 32} // of several lines, where there is room for them: a message, a diff, a pull request
	r := rand.New(rand.NewPCG(25, uint64(n)))
	random := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const letters, hex = lower + upper + digits, "abcdef" + digits
	forms := []func() string{
		func() string { return "ghp_" + random(letters, 36) },
		func() string { return "github_pat_" + random(letters, 82) },
		func() string { return "sk-proj-" + random(letters, 60) },
		func() string { return "AKIA" + random(upper+"234567", 16) },
		func() string { return "gho_" + random(letters, 36) },
		func() string { return "glpat-" + random(letters, 20) },
		func() string {
			return "xoxb-" + random(digits, 12) + "-" + random(digits, 12) + "-" + random(letters, 24)
		},
		func() string { return "sk_live_" + random(letters, 24) },
		func() string { return "AIza" + random(letters, 35) },
		func() string { return "npm_" + random(lower+digits, 36) },
		func() string { return "pypi-AgEIcHlwaS5vcmc" + random(letters, 80) },
		func() string { return "SG." + random(letters, 22) + "." + random(letters, 43) },
		func() string { return "hf_" + random(lower, 34) },
		func() string { return "eyJhbGciOiJIUzI1NiJ9.eyJ" + random(letters, 40) + "." + random(letters, 43) },
		func() string { return "dop_v1_" + random(hex, 64) },
		func() string { return "shpat_" + random(hex, 32) },
		func() string { return "lin_api_" + random(lower+digits, 40) },
		func() string { return "glsa_" + random(letters, 32) + "_" + random(hex, 8) },
	}
	if slices.Contains(keys, n) {
		const kind = "RSA PRIVATE KEY-----" // apart, as a search for credentials finds the whole
		lines := []string{"-----BEGIN " + kind}
		for range 12 {
			lines = append(lines, random(letters+"+/", 64))
		}
		return strings.Join(append(lines, "-----END "+kind), "\n")
	}
	return forms[n%len(forms)]()
}

const plantedSecrets = 50

// plant FILE… puts the n-th credential in the place of SECRETnn, and into $SECRETnn.
func plant(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: plant file…")
	}
	for n := 1; n <= plantedSecrets; n++ {
		ts.Setenv(fmt.Sprintf("SECRET%02d", n), planted(n))
	}
	places := 0
	for _, file := range args {
		text := ts.ReadFile(file)
		for n := 1; n <= plantedSecrets; n++ {
			word := fmt.Sprintf("SECRET%02d", n)
			if strings.Contains(text, word) {
				places++
			}
			secret := planted(n)
			if filepath.Ext(file) == ".json" {
				secret = strings.ReplaceAll(secret, "\n", `\n`)
			}
			text = strings.ReplaceAll(text, word, secret)
		}
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
	ts.Logf("%d credentials in files", places)
}

// leaked DIR… wants that no file below holds one of the credentials, nor standard output and
// error of the command before.
func leaked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: leaked dir…")
	}
	look := func(where, text string) {
		for n := 1; n <= plantedSecrets; n++ {
			for line := range strings.SplitSeq(planted(n), "\n") {
				if !strings.HasPrefix(line, "-----") && strings.Contains(text, line) {
					ts.Fatalf("%s holds SECRET%02d", where, n)
				}
			}
		}
	}
	look("standard output", ts.ReadFile("stdout"))
	look("standard error", ts.ReadFile("stderr"))
	for _, dir := range args {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			look(path, string(b))
			return err
		}))
	}
}

// gitHubs are those of scripts, by their URL.
var gitHubs sync.Map

// gitHub FILE starts a GitHub until the script ends, with its API in $GITHUB_API_URL and its
// git in $GITHUB_SERVER_URL: FILE has repositories, or pull requests by repository and
// number, as JSON, and faults that come first. Git is served from git/OWNER/NAME.git. A second time it changes
// what the same GitHub says.
func gitHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: github file.json")
	}
	var in struct {
		Repositories githubtest.Repositories         `json:"repositories"`
		Pulls        map[string]map[int]schemas.Pull `json:"pulls"`
		Faults       []githubtest.Fault              `json:"faults"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &in))
	all := in.Repositories
	if all == nil {
		all = githubtest.Repositories{}
	}
	for name, pulls := range in.Pulls {
		all.Add(name, pulls)
	}
	if s, ok := gitHubs.Load(ts.Getenv("GITHUB_API_URL")); ok {
		s.(*githubtest.Server).Replace(all, in.Faults...)
		return
	}
	s := githubtest.Start(all, in.Faults...)
	gitHubs.Store(s.URL(), s)
	s.ServeGit(ts.MkAbs("git"))
	ts.Defer(func() {
		s.Close()
		for _, bad := range s.Bad() {
			ts.Logf("not as GitHub describes itself: %s", bad)
		}
	})
	ts.Setenv("GITHUB_API_URL", s.URL())
	ts.Setenv("GITHUB_SERVER_URL", s.URL())
}

// pyPI FILE starts a package index until the script ends, and names it in $UV_DEFAULT_INDEX: FILE has by
// name what its JSON API says of a project, or the status that it answers with.
func pyPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pypi file.json")
	}
	var projects map[string]map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &projects))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/pypi/"), "/json")
		info, ok := projects[name]
		if status, _ := info["status"].(float64); status > 0 {
			w.WriteHeader(int(status))
		} else if !ok {
			http.NotFound(w, r)
		} else if err := json.NewEncoder(w).Encode(map[string]any{"info": info}); err != nil {
			panic(http.ErrAbortHandler)
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv("UV_DEFAULT_INDEX", s.URL+"/simple")
}

// hubs are those of scripts, by their URL.
var hubs sync.Map

// hub [FILE] starts a hub for datasets until the script ends, with its address in $HF_ENDPOINT and a
// token that may write in $HUB_TOKEN; FILE has faults as JSON. A second time it has these faults.
func datasetHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: hub [faults.json]")
	}
	var faults []pushtest.Fault
	if len(args) == 1 {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &faults))
	}
	if h, ok := hubs.Load(ts.Getenv("HF_ENDPOINT")); ok {
		h.(*pushtest.Hub).Break(faults...)
		return
	}
	h := pushtest.Start(faults...)
	hubs.Store(h.URL(), h)
	ts.Defer(h.Close)
	ts.Setenv("HF_ENDPOINT", h.URL())
	ts.Setenv("HUB_TOKEN", pushtest.Token)
}

// endpoints are the model endpoints of scripts, by their base.
var endpoints sync.Map

// model FILE starts a model endpoint until the script ends, with its base in $MODEL. FILE
// has what it says as JSON: the first entry whose words stand in the question or the
// material gives its next answer, and keeps its last one.
func model(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model file.json")
	}
	type entry struct {
		Words []string        `json:"words"`
		Says  []llmtest.Reply `json:"says"`
	}
	var script []*entry
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &script))
	var mu sync.Mutex
	s := llmtest.Start(func(a llmtest.Asked) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range script {
			if slices.ContainsFunc(e.Words, func(w string) bool { return !strings.Contains(a.System+a.User, w) }) {
				continue
			}
			r := e.Says[0]
			if len(e.Says) > 1 {
				e.Says = e.Says[1:]
			}
			return r
		}
		if a.Probe() {
			return llmtest.Reply{Text: `{"here": true}`}
		}
		return llmtest.Reply{Status: 400, Body: `{"error":{"message":"the script has no answer"}}`}
	})
	ts.Defer(s.Close)
	ts.Setenv("MODEL", s.Base())
	endpoints.Store(s.Base(), s)
}

// asked N wants that the endpoint of $MODEL was asked so often, but for probes.
func askedTimes(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	s, ok := endpoints.Load(ts.Getenv("MODEL"))
	if !ok || neg {
		ts.Fatalf("no model was started")
	}
	all := slices.DeleteFunc(s.(*llmtest.Server).Asked(), llmtest.Asked.Probe)
	if got := len(all); got != want {
		ts.Fatalf("asked %d times, want %d", got, want)
	}
}

// pythons are the folders of this machine's interpreters, the oldest first.
func pythons() []string {
	root := os.Getenv("PYENV_ROOT")
	if home, err := os.UserHomeDir(); err == nil && root == "" {
		root = filepath.Join(home, ".pyenv")
	}
	var out []string
	for minor := 8; minor < 30; minor++ { // older ones are no more on most indexes
		found, _ := filepath.Glob(filepath.Join(root, "versions", fmt.Sprintf("3.%d.*", minor)))
		out = append(out, found...)
	}
	return out
}

// pyenv DIR N puts the first N interpreters of this machine into DIR, oldest first, all
// of them for -1, in place of pyenv's own; MINOR is the newest minor that there is.
func pyenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pyenv dir n")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	all := pythons()
	minor := func(dir string) string { return strings.Join(strings.Split(filepath.Base(dir), ".")[:2], ".") }
	ts.Setenv("MINOR", minor(all[len(all)-1]))
	ts.Setenv("PYENV_ROOT", ts.MkAbs("no-pyenv"))
	if n < 0 {
		n = len(all)
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	for _, from := range all[:n] {
		program := "python" + minor(from)
		if err := os.Symlink(filepath.Join(from, "bin", program), filepath.Join(dir, program)); !errors.Is(err, fs.ErrExist) {
			ts.Check(err)
		}
	}
}

// forget STORE NAME takes a note out of a store, as one of an older program has none.
func forget(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: forget store name")
	}
	db, err := sql.Open("sqlite3", filepath.Join(ts.MkAbs(args[0]), "steps.db"))
	ts.Check(err)
	_, err = db.Exec("DELETE FROM fixed WHERE name = ?", args[1])
	ts.Check(errors.Join(err, db.Close()))
}

// path DIR PROGRAM… makes DIR the whole PATH: a machine that has these programs and no
// others. One with a question mark in front is left out where it is not there.
func path(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: path dir program…")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	for _, program := range args[1:] {
		program, optional := strings.CutPrefix(program, "?")
		for _, from := range filepath.SplitList(ts.Getenv("PATH")) {
			file := filepath.Join(from, program)
			if info, err := os.Stat(file); err == nil && !info.IsDir() {
				ts.Check(os.Symlink(file, filepath.Join(dir, program)))
				optional = true
				break
			}
		}
		if !optional {
			ts.Fatalf("%s is not in PATH", program)
		}
	}
	ts.Setenv("PATH", dir)
}

// code N PROGRAM ARG… runs a program and wants exactly this exit code; stdout and
// stderr can be looked at afterwards.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [arg…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// disk DIR N mounts a small file system of N MiB, or gives the one that is there this
// size; +N leaves N MiB free in it.
func disk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: disk dir [+]mib")
	}
	dir := ts.MkAbs(args[0])
	number, left := strings.CutPrefix(args[1], "+")
	size, err := strconv.Atoi(number)
	ts.Check(err)
	var st unix.Statfs_t
	const isTmpfs, mib = 0x01021994, 1 << 20
	var flags uintptr
	if unix.Statfs(dir, &st) == nil && st.Type == isTmpfs {
		flags = unix.MS_REMOUNT
	} else {
		ts.Check(os.MkdirAll(dir, 0o755))
		ts.Defer(func() { ts.Check(unix.Unmount(dir, unix.MNT_DETACH)) })
	}
	if left {
		size += int(int64(st.Blocks-st.Bfree) * st.Bsize / mib)
	}
	ts.Check(unix.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%dm", size)))
}

// repo DIR FILE builds a repository from a history in gitrepotest's form.
func repo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: repo dir history")
	}
	_, err := gitrepotest.Build(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[1])))
	ts.Check(err)
}

// lock DIR holds a store as another run would, until the script ends.
func lock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lock store")
	}
	s, err := store.Open(context.Background(), ts.MkAbs(args[0]), store.Options{})
	ts.Check(err)
	ts.Check(s.Lock())
	ts.Defer(func() { ts.Check(s.Close()) })
}

// step STORE FILE puts a step into a store, past the rules of the table; ${name} in
// it is the digest of a file of the script, which is kept as a blob.
func step(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: step store file.json")
	}
	dir := ts.MkAbs(args[0])
	s, err := store.Open(context.Background(), dir, store.Options{})
	ts.Check(err)
	var in schemas.Step
	if err := json.Unmarshal([]byte(os.Expand(ts.ReadFile(args[1]), func(text string) string {
		d, err := s.Blobs.Put([]byte(ts.ReadFile(text)))
		ts.Check(err)
		return string(d)
	})), &in); err != nil {
		ts.Fatalf("%v", fmt.Errorf("%s: %w", args[1], err))
	}
	old, ok, err := s.Step(in.Stage, in.Key)
	ts.Check(err)
	ts.Check(s.Close())
	db, err := sql.Open("sqlite3", filepath.Join(dir, "steps.db"))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	do := func(query string, args ...any) {
		_, err := db.Exec(query, args...)
		ts.Check(err)
	}
	if ok {
		do("UPDATE tally SET n = n - 1, ms = ms - ? WHERE stage = ? AND state = ? AND reason = ?", old.MS, old.Stage, old.State, old.Reason)
	}
	do(`INSERT INTO step (stage, key, state, reason, detail, evidence, made_by, digest, ms, epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
		ON CONFLICT (stage, key) DO UPDATE SET state = excluded.state, reason = excluded.reason, detail = excluded.detail,
		evidence = excluded.evidence, made_by = excluded.made_by, ms = excluded.ms, epoch = 1`,
		in.Stage, in.Key, in.State, in.Reason, in.Detail, in.Evidence, in.Fingerprint, in.Input, in.MS)
	do("INSERT INTO tally VALUES (?, ?, ?, 0, 1, 0, ?) ON CONFLICT DO UPDATE SET n = n + 1, ms = ms + excluded.ms", in.Stage, in.State, in.Reason, in.MS)
	for _, o := range in.Outputs { // of one stage into the next
		do(`INSERT INTO step (stage, key, parent, made_epoch, state, whole, record) SELECT ?, ?, id, 1, 'ready', ?, ? FROM step WHERE stage = ? AND key = ?`,
			stages.Order[slices.Index(stages.Order, in.Stage)+1], o.Key, o.Digest, string(o.Record), in.Stage, in.Key)
	}
}

// steps WORKFLOW FILE writes the run: steps of a GitHub workflow as one script, each in a shell of
// its own as GitHub's runner starts it.
func steps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: steps workflow file")
	}
	var w struct {
		Jobs map[string]struct {
			Steps []struct {
				Name, Run string
			}
		}
	}
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &w))
	var b strings.Builder
	b.WriteString("set -e\n")
	for _, job := range w.Jobs {
		for _, s := range job.Steps {
			if s.Run != "" {
				fmt.Fprintf(&b, "echo '== %s'\nbash --noprofile --norc -eo pipefail /dev/fd/3 3<<'END OF STEP'\n%s\nEND OF STEP\n", s.Name, s.Run)
			}
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

// interrupt STORE STAGE/KEY PROGRAM ARG… starts a program, waits until it is done
// with a step, interrupts it once, and wants exit code 130. What it said is in out.txt. A dot in
// the place of the step waits for the file that stands in the place of the store.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt store stage/key program [arg…]")
	}
	dir, step := ts.MkAbs(args[0]), args[1]
	args = args[1:]
	out, err := os.Create(ts.MkAbs("out.txt"))
	ts.Check(err)
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), out, out
	for _, name := range append([]string{"HOME", "XDG_CACHE_HOME", "PATH", "TMPDIR", "NO_COLOR", "BENCHMINT_FILTERS_LABELS", "BENCHMINT_FILTERS_MODIFIES_ONLY", "BENCHMINT_FILTERS_THIN", "BENCHMINT_PROOF_RUNS", "BENCHMINT_PROOF_HUNKS", "BENCHMINT_RELEASE_DATES"}, passed...) {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(cmd.Start())
	waitFor(ts, dir+" "+step, func() bool {
		if step == "." {
			_, err := os.Stat(dir)
			return err == nil
		}
		return isDone(ts, dir, step)
	})
	// As timeout(1) does: to the program, and once more to its group.
	ts.Check(cmd.Process.Signal(os.Interrupt))
	ts.Check(cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		ts.Fatalf("interrupted, it ended with %v; it said:\n%s", err, ts.ReadFile("out.txt"))
	}
	ts.Check(out.Close())
}

// waitFor waits until something is so.
func waitFor(ts *testscript.TestScript, what string, so func() bool) {
	const patience = 3 * time.Minute // machines are shared
	for start := time.Now(); time.Since(start) < patience; time.Sleep(50 * time.Millisecond) {
		if so() {
			return
		}
	}
	ts.Fatalf("%s did not come", what)
}

func isDone(ts *testscript.TestScript, dir, step string) bool {
	if !store.Exists(dir) {
		return false
	}
	s, err := store.Open(context.Background(), dir, store.Options{})
	ts.Check(err)
	defer func() { ts.Check(s.Close()) }()
	stage, key, _ := strings.Cut(step, "/")
	got, _, err := s.Step(stage, key)
	ts.Check(err)
	return got.State == schemas.StepDone
}
