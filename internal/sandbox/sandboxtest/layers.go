package sandboxtest

import (
	"bytes"
	order "cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

func commands(c ...schemas.Command) []schemas.Command { return c }

func mkdirs(dir string) error { return os.MkdirAll(dir, 0o755) }

func chmod(t *testing.T, file string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

func eachRunIsFresh(t *testing.T, b *box) {
	layer, _ := b.build(t, sandbox.Build{
		Files: []sandbox.File{{Path: "/testbed/kept", Mode: 0o644, Data: []byte("kept")}, {Path: "/opt/env/lib/kept", Mode: 0o644, Data: []byte("kept")}},
		Steps: commands(bash(`echo made >made; echo home >~/home`)),
	})
	const look = `cd /; find testbed opt/env home/tester tmp var/tmp dev/shm run/benchmint -type f | sort | xargs -r grep -H .`
	want := "home/tester/home:home\nopt/env/lib/kept:kept\ntestbed/kept:kept\ntestbed/made:made"
	for range 2 {
		if diff := cmp.Diff(want, b.script(t, layer, look)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		b.script(t, layer, `for d in /testbed /opt/env/lib ~ /tmp /var/tmp /dev/shm /run/benchmint; do echo x >$d/new; done
echo changed >>kept; rm made; rm -r /opt/env/lib; mkdir /opt/env/lib; mv ~/home ~/other`)
	}
}

func collectFiles(t *testing.T, b *box) {
	layer, _ := b.build(t, sandbox.Build{Files: []sandbox.File{
		{Path: "/testbed/old", Mode: 0o644, Data: []byte("old")}, {Path: "/testbed/gone", Mode: 0o644, Data: []byte("gone")},
		{Path: "/testbed/dir/hidden", Mode: 0o644, Data: []byte("hidden")},
	}})
	paths := []string{"/testbed/old", "/testbed/gone", "/testbed/dir/hidden", "/tmp/new", "/home/tester/big", "/opt/env/closed", "/testbed/none/x", "/testbed/fifo", "/testbed/old/x", "/tmp", "/run/benchmint/in"}
	res := b.run(t, sandbox.Run{
		Layer: layer, Collect: paths, CollectMax: 1000,
		Inputs:  []sandbox.File{{Path: "/run/benchmint/in", Mode: 0o600, Data: []byte("given")}},
		Command: bash(`rm gone; rm -r dir; mkdir dir; echo new >/tmp/new; head -c 5000 /dev/zero >~/big; echo c >/opt/env/closed; chmod 000 /opt/env/closed; mkfifo fifo; cat /run/benchmint/in; exit 1`),
	})
	if string(res.Output) != "given" || res.ExitCode != 1 {
		t.Errorf("exit %d, output %q", res.ExitCode, res.Output)
	}
	want := map[string]string{"/testbed/old": "old", "/tmp/new": "new\n", "/home/tester/big": strings.Repeat("\x00", 1000), "/opt/env/closed": "c\n", "/run/benchmint/in": "given"}
	if diff := cmp.Diff(want, texts(res.Files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"/home/tester/big": true}, res.Cut); diff != "" {
		t.Errorf("cut (-want +got):\n%s", diff)
	}
	// Whatever the end.
	res = b.run(t, sandbox.Run{
		Layer: b.base, Collect: []string{"/tmp/partial"}, Limits: limited(func(l *sandbox.Limits) { l.Timeout = time.Second }),
		Command: bash(`trap '' INT TERM; echo partial >/tmp/partial; while :; do sleep 1; done`),
	})
	wantEnd(t, res, sandbox.TimedOut)
	if got := string(res.Files["/tmp/partial"]); got != "partial\n" {
		t.Errorf("after a time-out: %q", got)
	}
}

func texts(files map[string][]byte) map[string]string {
	out := map[string]string{}
	for name, data := range files {
		out[name] = string(data)
	}
	return out
}

func collectFollowsNoLink(t *testing.T, b *box) {
	private := filepath.Join(b.home, "private")
	res := b.run(t, sandbox.Run{
		Layer: b.base, Collect: []string{"/testbed/report", "/testbed/dir/private", "/tmp/rel", "/testbed/proc", "/testbed/own"},
		Command: bash(`ln -s "$1" report; ln -s "$(dirname "$1")" dir; ln -s ../../../../../../..$1 /tmp/rel; ln -s /proc/self/environ proc; echo own >x; ln -s x own`, private),
	})
	if len(res.Files) > 0 {
		t.Errorf("read through links: %v", texts(res.Files))
	}
}

func filesArePut(t *testing.T, b *box) {
	at := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	file := func(path, data string, mode fs.FileMode) sandbox.File {
		return sandbox.File{Path: path, Data: []byte(data), Mode: mode, ModTime: at}
	}
	first, _ := b.build(t, sandbox.Build{Files: []sandbox.File{
		file("/testbed/a b/ü\n.txt", "text", 0o644), file("/testbed/run.sh", "#!/bin/sh\necho ran\n", 0o755), file("/testbed/link", "a b", fs.ModeSymlink|0o777),
		file("/testbed/tree/x/y", "y", 0o644), file("/testbed/tree/z", "z", 0o600), file("/testbed/becomes_dir", "f", 0o644),
		file("/testbed/becomes_file/x", "x", 0o644), file("/testbed/becomes_link/x", "x", 0o644), file("/testbed/was_link", "tree", fs.ModeSymlink|0o777),
		file("/testbed/empty", "", 0o644), file("/testbed/lone", "nowhere", fs.ModeSymlink|0o777), {Path: "/testbed/epoch", Mode: 0o644},
	}, Steps: commands(bash(`chmod 555 tree/x`))})
	del := func(path string) sandbox.File { return sandbox.File{Path: path, Delete: true} }
	second, _ := b.build(t, sandbox.Build{Parent: first, Files: []sandbox.File{
		del("/testbed/tree"), del("/testbed/lone"), del("/testbed/never/was"), del("/testbed/becomes_dir"), del("/testbed/becomes_file"), del("/testbed/becomes_link"), del("/testbed/was_link"),
		{Path: "/testbed/run.sh", Mode: 0o644, Data: []byte("changed"), ModTime: at.Add(time.Second)},
		file("/testbed/becomes_dir/in", "in", 0o644), file("/testbed/becomes_file", "now", 0o644), file("/testbed/becomes_link", "empty", fs.ModeSymlink|0o777),
		file("/testbed/was_link/real", "real", 0o644),
	}})
	const list = `find . -mindepth 1 ! -type d -printf '%p %y %m %T@ %U %l|' | tr -d '\n' | tr '|' '\n' | sed 's/\.0* / /' | sort; [ ! -d tree ] && [ -d becomes_dir ] && [ ! -L was_link ]; echo $?; cat run.sh link/* was_link/real`
	want := `./a b/ü.txt f 644 1580702706 USER 
./becomes_dir/in f 644 1580702706 USER 
./becomes_file f 644 1580702706 USER 
./becomes_link l 777 1580702706 USER empty
./empty f 644 1580702706 USER 
./epoch f 644 0 USER 
./link l 777 1580702706 USER a b
./run.sh f 644 1580702707 USER 
./was_link/real f 644 1580702706 USER 
0
changedtextreal`
	want = strings.ReplaceAll(want, "USER", strconv.Itoa(sandbox.UID))
	got := b.script(t, second, "export LC_ALL=C.UTF-8; "+list)
	if diff := cmp.Diff(sortedHead(want), sortedHead(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := b.script(t, first, `./run.sh; cat was_link/z`); got != "ran\nz" {
		t.Errorf("the parent changed: %q", got)
	}
}

// sortedHead makes two listings comparable whatever the locale sorts by.
func sortedHead(s string) []string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return lines
}

// putFollowsNoLink: a link that a step left in a layer must not make us write
// where the user could not.
func putFollowsNoLink(t *testing.T, b *box) {
	parent, _ := b.build(t, sandbox.Build{Steps: commands(bash(`ln -s "$1" out; ln -s /etc etc; ln -s /usr/bin bin; ln -s ../../../../../../.."$1" rel; mkdir real; echo x >real/x`, b.home))})
	for _, f := range []sandbox.File{
		{Path: "/testbed/out/private", Mode: 0o644, Data: []byte("overwritten")},
		{Path: "/testbed/rel/private", Mode: 0o644, Data: []byte("overwritten")},
		{Path: "/testbed/etc/passwd", Mode: 0o644, Data: []byte("root::0:0::/:/bin/sh\n")},
		{Path: "/testbed/bin/setpriv", Mode: 0o755, Data: []byte("#!/bin/sh\n")},
		{Path: "/testbed/out/private", Delete: true},
		{Path: "/testbed/etc/passwd", Delete: true},
	} {
		layer, _, err := b.tryBuild(t, sandbox.Build{Parent: parent, Files: []sandbox.File{f}})
		if err == nil {
			b.script(t, layer, `grep -q tester /etc/passwd && [ "$(id -u)" = "$1" ] && [ "$(id -un)" = tester ]`, strconv.Itoa(sandbox.UID))
		}
		if got, err := os.ReadFile(filepath.Join(b.home, "private")); err != nil || string(got) != secret {
			t.Fatalf("%s: a file of the host was changed: %q, %v", f.Path, got, err)
		}
	}
	// A link at the very place is replaced, not followed.
	layer, _ := b.build(t, sandbox.Build{Parent: parent, Files: []sandbox.File{{Path: "/testbed/etc", Mode: 0o644, Data: []byte("file")}}})
	if got := b.script(t, layer, `[ ! -L etc ] && cat etc`); got != "file" {
		t.Error(got)
	}
}

func pathsOutside(t *testing.T, b *box) {
	for _, path := range []string{"/etc/x", "testbed/x", "/testbed/../etc/x", "/testbed//x", "/testbed2/x", "/", "", "/testbed/x\x00y", "/proc/self/mem"} {
		if _, _, err := b.tryBuild(t, sandbox.Build{Files: []sandbox.File{{Path: path, Mode: 0o644}}}); err == nil {
			t.Errorf("a build put %q", path)
		}
		if _, err := b.Run(timeout(t), sandbox.Run{Layer: b.base, Command: bash(`true`), Inputs: []sandbox.File{{Path: path}}}); err == nil {
			t.Errorf("a run put %q", path)
		}
		if _, err := b.Run(timeout(t), sandbox.Run{Layer: b.base, Command: bash(`true`), Collect: []string{path}}); err == nil {
			t.Errorf("a run collected %q", path)
		}
	}
	for _, layer := range []sandbox.Layer{{}, {Key: "none", ID: "none"}, {Key: "x", ID: "../../../etc"}} {
		if _, err := b.Run(timeout(t), sandbox.Run{Layer: layer, Command: bash(`true`)}); err == nil {
			t.Errorf("a run on layer %v", layer)
		}
	}
	if _, err := b.Run(timeout(t), sandbox.Run{Layer: b.base}); err == nil {
		t.Error("a run without a command")
	}
}

func equalKeys(t *testing.T, b *box) {
	// Each real build fills first, and its fill leaves a line in the cache.
	cache := b.cache("count")
	build := sandbox.Build{
		Key: b.key(t), Caches: map[string]string{cache: "/home/tester/.cache/count"},
		Fill:    &sandbox.Fill{Steps: commands(bash(`echo line >>~/.cache/count/lines`))},
		Steps:   commands(bash(`date +%s%N >made; sleep 0.5`)),
		Collect: []string{"/testbed/made"},
	}
	var wg sync.WaitGroup
	layers, results := make([]sandbox.Layer, 4), make([]sandbox.Result, 4)
	for i := range layers {
		wg.Go(func() { layers[i], results[i], _ = b.tryBuild(t, build) })
	}
	wg.Wait()
	for i := range layers {
		if layers[i] != layers[0] || string(results[i].Files["/testbed/made"]) != string(results[0].Files["/testbed/made"]) || len(results[i].Files) != 1 {
			t.Errorf("build %d: %v %v, build 0: %v %v", i, layers[i], texts(results[i].Files), layers[0], texts(results[0].Files))
		}
	}
	if b.kind.Bare {
		return // nobody fills, and the one layer has said it
	}
	_, res := b.build(t, sandbox.Build{Caches: build.Caches, Steps: commands(bash(`wc -l <~/.cache/count/lines`))})
	if got := strings.TrimSpace(string(res.Output)); got != "1" {
		t.Errorf("built %s times", got)
	}
}

func nothingOfABuildIsLeft(t *testing.T, b *box) {
	layer, res := b.build(t, sandbox.Build{
		Network: sandbox.Registries,
		Files:   []sandbox.File{{Path: "/testbed/f", Mode: 0o644, Data: []byte("f")}},
		Inputs:  []sandbox.File{{Path: "/run/benchmint/plugin/x.py", Mode: 0o644, Data: []byte("INPUT_OF_OURS")}},
		Caches:  map[string]string{fmt.Sprintf("left-%d", os.Getpid()): "/home/tester/.cache/pip/http"},
		Env:     map[string]string{"BUILD_ONLY": "BUILD_VARIABLE"},
		Steps: commands(bash(`cat /run/benchmint/plugin/x.py "$SSL_CERT_FILE"; [ "$PIP_CERT" = "$SSL_CERT_FILE" ] || echo "no PIP_CERT"
echo DOWNLOADED >~/.cache/pip/http/wheel; echo IN_TMP | tee /tmp/x /var/tmp/x /dev/shm/x /run/benchmint/y >/dev/null; mkdir /tmp/d; touch /tmp/d/x; chmod 000 /tmp/d; (setsid sleep 50 &); touch ~/.cache/own`)),
	})
	for _, want := range []string{"INPUT_OF_OURS", caMarker} {
		if !strings.Contains(string(res.Output), want) || strings.Contains(string(res.Output), "no PIP_CERT") {
			t.Errorf("the build lacks %s: %s", want, res.Output)
		}
	}
	words := []string{"INPUT_OF_OURS", caMarker, "DOWNLOADED", "BUILD_VARIABLE", "IN_TMP", secret, "3128", b.world.registry, b.home}
	err := b.Files(timeout(t), layer, func(path string, info fs.FileInfo, open func() (io.ReadCloser, error)) error {
		content := slurp(t, open)
		for _, word := range words {
			if strings.Contains(path, word) || bytes.Contains(content, []byte(word)) {
				t.Errorf("%s in %s", word, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := b.script(t, layer, `find /run/benchmint /tmp /var/tmp /dev/shm -mindepth 1; find ~ -type f; env | grep -iE 'build|proxy|cert'; touch ~/.cache/pip/x`)
	if got != "/home/tester/.cache/own" {
		t.Errorf("left: %s", got)
	}
}

func slurp(t *testing.T, open func() (io.ReadCloser, error)) []byte {
	t.Helper()
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func failingStep(t *testing.T, b *box) {
	key := b.key(t)
	steps := commands(bash(`echo first; touch half`), bash(`echo "the reason" >&2; exit 3`), bash(`echo never`))
	_, res, err := b.tryBuild(t, sandbox.Build{Key: key, Steps: steps})
	failed := buildError(t, err)
	if failed.Result.ExitCode != 3 || failed.Result.End != sandbox.Exited || !strings.Contains(failed.Error(), "the reason") || failed.Step.Argv[2] != steps[1].Argv[2] {
		t.Errorf("%+v: %v", failed.Result, failed)
	}
	if got := string(res.Output); got != "first\nthe reason\n" {
		t.Errorf("log %q", got)
	}
	layer, _ := b.build(t, sandbox.Build{Key: key, Steps: commands(bash(`[ ! -e half ] && touch whole`))})
	b.script(t, layer, `[ -e whole ]`)
}

func buildLimits(t *testing.T, b *box) {
	m := b.marker()
	for name, c := range map[string]struct {
		step   schemas.Command
		limits sandbox.Limits
		want   sandbox.End
	}{
		"time":      {bash(`trap '' INT TERM; sleep "$1"`, m), limited(func(l *sandbox.Limits) { l.Timeout = time.Second }), sandbox.TimedOut},
		"memory":    {perl(hog), limited(func(l *sandbox.Limits) { l.Memory = 64 << 20 }), sandbox.Memory},
		"processes": {bash(`for i in $(seq 200); do sleep "$1" & done; wait`, m), limited(func(l *sandbox.Limits) { l.Processes = 40 }), sandbox.Processes},
		"disk":      {bash(`for i in $(seq 100); do head -c 3M /dev/zero >f$i || exit 1; done`), limited(func(l *sandbox.Limits) { l.Disk = 24 << 20 }), sandbox.Disk},
		"output":    {bash(`yes`), limited(func(l *sandbox.Limits) { l.Output = 1 << 16 }), sandbox.Output},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := b.tryBuild(t, sandbox.Build{Steps: commands(c.step), Limits: c.limits})
			if failed := buildError(t, err); failed.Result.End != c.want {
				t.Errorf("end %s, want %s: %s", failed.Result.End, c.want, failed.Result.Output[:min(300, len(failed.Result.Output))])
			}
		})
	}
	wantNoProcess(t, m)
	// What left is bounded by the whole build, not by each step.
	_, _, err := b.tryBuild(t, sandbox.Build{Steps: commands(bash(`sleep 0.7`), bash(`sleep 0.7`), bash(`sleep 0.7`), bash(`sleep 0.7`)), Limits: limited(func(l *sandbox.Limits) { l.Timeout = 2 * time.Second })})
	if failed := buildError(t, err); failed.Result.End != sandbox.TimedOut {
		t.Errorf("four steps: %s", failed.Result.End)
	}
}

func discardedBuild(t *testing.T, b *box) {
	layer, res := b.build(t, sandbox.Build{Discard: true, Steps: commands(bash(`echo lock >/tmp/lock; echo x >/opt/env/x`)), Collect: []string{"/tmp/lock", "/opt/env/x", "/opt/env/none"}})
	if diff := cmp.Diff(map[string]string{"/tmp/lock": "lock\n", "/opt/env/x": "x\n"}, texts(res.Files)); diff != "" || layer != (sandbox.Layer{}) {
		t.Errorf("layer %v; files (-want +got):\n%s", layer, diff)
	}
}

func everyLayerIsWalked(t *testing.T, b *box) {
	first, _ := b.build(t, sandbox.Build{
		Files: []sandbox.File{{Path: "/testbed/deleted", Mode: 0o644, Data: []byte("DELETED")}, {Path: "/testbed/replaced", Mode: 0o644, Data: []byte("BEFORE")}, {Path: "/testbed/d/in_dir", Mode: 0o644, Data: []byte("IN_DIR")}},
		Steps: commands(bash(`echo ENV >/opt/env/e; chmod 000 /opt/env/e; ln -s TARGET link`)),
	})
	second, _ := b.build(t, sandbox.Build{
		Parent: first, Files: []sandbox.File{{Path: "/testbed/deleted", Delete: true}, {Path: "/testbed/replaced", Mode: 0o644, Data: []byte("AFTER")}},
		Steps: commands(bash(`rm -r d; mkdir d; echo HOME >~/.h`)),
	})
	type found struct{ Path, Content string }
	var got []found
	last := ""
	err := b.Files(timeout(t), second, func(path string, info fs.FileInfo, open func() (io.ReadCloser, error)) error {
		if path < last {
			t.Errorf("%s after %s", path, last)
		}
		last = path
		if path != "/image-config.json" {
			got = append(got, found{path, strings.TrimSpace(string(slurp(t, open)))})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// A layer that is a copy of its parent repeats what it has from it.
	slices.SortFunc(got, func(a, b found) int {
		return order.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Content, b.Content))
	})
	got = slices.Compact(got)
	want := []found{
		{"/home/tester/.h", "HOME"}, {"/opt/env/e", "ENV"}, {"/testbed/d/in_dir", "IN_DIR"}, {"/testbed/deleted", "DELETED"},
		{"/testbed/link", "TARGET"}, {"/testbed/replaced", "AFTER"}, {"/testbed/replaced", "BEFORE"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stop := errors.New("stop")
	if err := b.Files(timeout(t), second, func(string, fs.FileInfo, func() (io.ReadCloser, error)) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want the visitor's", err)
	}
}

func removeLayer(t *testing.T, b *box) {
	key := b.key(t)
	build := sandbox.Build{Key: key, Parent: b.base, Limits: small, Steps: commands(bash(`date +%s%N >made`))}
	layer, _ := b.build(t, build)
	first := b.script(t, layer, `cat made`)
	for range 2 {
		if err := b.Remove(context.Background(), layer); err != nil {
			t.Errorf("Remove: %v", err)
		}
	}
	if _, err := b.Run(timeout(t), sandbox.Run{Layer: layer, Command: bash(`true`)}); err == nil {
		t.Error("a removed layer was run")
	}
	again, _ := b.build(t, build)
	if second := b.script(t, again, `cat made`); second == first {
		t.Error("the removed layer came back")
	}
}

// leases: a layer that several asked for stays until the last of them gives it
// back, in whatever process they are; one who never asked cannot take it away.
func leases(t *testing.T, b *box) {
	other := b.kind.Open(t, b.options)
	build := sandbox.Build{Key: b.key(t), Parent: b.base, Limits: small, Steps: commands(bash(`date +%s%N >made`)), Lease: true}
	take := func(s sandbox.Sandbox) sandbox.Layer {
		t.Helper()
		layer, _, err := s.Build(timeout(t), build)
		if err != nil {
			t.Fatal(err)
		}
		return layer
	}
	runs := func(s sandbox.Sandbox, layer sandbox.Layer) bool {
		res, err := s.Run(timeout(t), sandbox.Run{Layer: layer, Command: bash(`cat made`), Limits: small})
		return err == nil && res.ExitCode == 0
	}
	layer := take(b.Sandbox)
	take(b.Sandbox)
	take(other)
	for i, giver := range []sandbox.Sandbox{b.Sandbox, b.Sandbox, b.Sandbox} { // once more than it took
		if err := giver.Remove(timeout(t), layer); err != nil {
			t.Fatal(err)
		}
		if !runs(other, layer) {
			t.Fatalf("removal %d took a layer away that another process leases", i+1)
		}
	}
	if err := other.Remove(timeout(t), layer); err != nil {
		t.Fatal(err)
	}
	if runs(b.Sandbox, layer) {
		t.Error("nobody leases the layer, and it is still there")
	}

	build.Key, build.Steps = b.key(t), commands(bash(`exit 1`))
	if _, _, err := b.Build(timeout(t), build); err == nil {
		t.Fatal("the step failed, and the layer was built")
	}
	build.Steps = commands(bash(`touch made`))
	layer = take(other)
	if err := other.Remove(timeout(t), layer); err != nil {
		t.Fatal(err)
	}
	if runs(other, layer) {
		t.Error("a build that failed left a lease behind")
	}
}

// removalWaits: a layer that is removed under a run must not change what it sees.
func removalWaits(t *testing.T, b *box) {
	layer, _ := b.build(t, sandbox.Build{Steps: commands(bash(`mkdir many && touch many/{1..300}`))})
	done := make(chan int, 1)
	started := filepath.Join(t.TempDir(), "started")
	out, err := os.Create(started)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	go func() {
		res, err := b.Run(timeout(t), sandbox.Run{
			Layer: layer, Command: bash(`echo started; sleep 1; [ $(ls many | wc -l) = 300 ]`), Limits: small,
			Interactive: &sandbox.Terminal{In: strings.NewReader(""), Out: out, Err: out},
		})
		if err != nil {
			t.Error(err)
		}
		done <- res.ExitCode
	}()
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		if text, _ := os.ReadFile(started); len(text) > 0 {
			break
		}
	}
	// An engine may refuse instead of waiting: what is removed is asked for again.
	_ = b.Remove(timeout(t), layer)
	if code := <-done; code != 0 {
		t.Error("files vanished under a run")
	}
}

func interactive(t *testing.T, b *box) {
	var out, errs bytes.Buffer
	res, err := b.Run(timeout(t), sandbox.Run{
		Layer: b.base, Command: schemas.Command{Argv: []string{"/bin/bash"}}, Limits: small,
		Interactive: &sandbox.Terminal{In: strings.NewReader("echo out; echo err >&2; id -u; exit 4\n"), Out: &out, Err: &errs},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.ExitCode != 4 || out.String() != fmt.Sprintf("out\n%d\n", sandbox.UID) || errs.String() != "err\n" {
		t.Errorf("exit %d, out %q, err %q", res.ExitCode, out.String(), errs.String())
	}
}

// systemPackages: a package that nobody has is an error that names it, in both kinds.
func systemPackages(t *testing.T, b *box) {
	const name = "no-such-package-of-debian"
	_, err := b.Base(timeout(t), sandbox.Base{SystemPackages: []string{name}})
	if err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v, want one that names %s", err, name)
	}
	if _, err := b.Base(timeout(t), sandbox.Base{SystemPackages: []string{"-oDebug::x=1"}}); err == nil {
		t.Error("an option was taken for a package")
	}
}
