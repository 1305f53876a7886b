package verify

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJudge has clients of two lines each judge two tasks; the real ones are run where
// images are: make clients.

// install puts a shell script in the place of a client's program.
func install(t *testing.T, name, program, script string) Options {
	t.Helper()
	cache, path := t.TempDir(), t.TempDir()
	dir := clients()[name].dir(cache)
	if err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(dir, "bin", program), []byte("#!/bin/sh\n"+script), 0o755),
		os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644),
		os.WriteFile(filepath.Join(path, "docker"), []byte("#!/bin/sh\n[ \"$1\" != version ] || echo 28.5.1\n"), 0o755),
	); err != nil {
		t.Fatal(err)
	}
	return Options{Cache: cache, Env: []string{"PATH=" + path + ":" + os.Getenv("PATH")}}
}

var two = []Task{{ID: "a__b-1", Split: "test", Gold: []byte("g1"), Forged: []byte("f1")}, {ID: "a__b-2", Split: "test", Gold: []byte("g2"), Forged: []byte("f2")}}

// said is one line for each verdict.
func said(j Judged) []string {
	var out []string
	for _, v := range j.Verdicts {
		word := "no"
		switch {
		case v.Fault != "":
			word = "fault"
		case v.Resolved:
			word = "yes"
		}
		out = append(out, string(v.Case)+" "+v.ID+" "+word)
	}
	return out
}

var sound = []string{"gold a__b-1 yes", "gold a__b-2 yes", "nop a__b-1 no", "nop a__b-2 no", "forged a__b-1 no", "forged a__b-2 no"}

func TestSWEBench(t *testing.T) {
	t.Parallel()
	// eval ROWS -p FILE --run-id benchmint -j 1 --report-dir DIR
	const report = `[ "$3" = -p ] && c=$(sed -n 's/.*"model_name_or_path":"\([a-z]*\)".*/\1/p' "$4" | head -n 1) || exit 1
`
	for _, tt := range []struct {
		name, script string
		want         []string
		err          string
	}{
		{"sound", `case $c in gold) r='"resolved_ids":["a__b-1","a__b-2"]';; *) r='"unresolved_ids":["a__b-1","a__b-2"]';; esac
echo "{$r}" >"$9/$c.benchmint.json"`, sound, ""},
		{"resolves_what_is_forged", `echo '{"resolved_ids":["a__b-1","a__b-2"]}' >"$9/$c.benchmint.json"`, []string{
			"gold a__b-1 yes", "gold a__b-2 yes", "nop a__b-1 yes", "nop a__b-2 yes", "forged a__b-1 yes", "forged a__b-2 yes",
		}, ""},
		{"a_fault_is_no_verdict", `echo '{"resolved_ids":["a__b-1"],"error_ids":["a__b-2"]}' >"$9/$c.benchmint.json"`, []string{
			"gold a__b-1 yes", "gold a__b-2 fault", "nop a__b-1 yes", "nop a__b-2 fault", "forged a__b-1 yes", "forged a__b-2 fault",
		}, ""},
		{"no_report", `echo "no images" >&2`, nil, "no images"},
		{"an_image_goes_while_the_client_lists_them", `if [ ! -e "$2.seen" ]; then : >"$2.seen"
echo 'return [self.get(r["Id"]) for r in resp]'; echo 'docker.errors.ImageNotFound: 404'; exit 1; fi
case $c in gold) r='"resolved_ids":["a__b-1","a__b-2"]';; *) r='"unresolved_ids":["a__b-1","a__b-2"]';; esac
echo "{$r}" >"$9/$c.benchmint.json"`, sound, ""},
		{"an_image_is_not_there", `echo 'docker.errors.ImageNotFound: 404'; exit 1`, nil, "ImageNotFound"},
		{"fails", `echo "no engine" >&2; exit 1`, nil, "no engine"},
		{"sees_the_patches", `grep -q '"g2"\|"f2"\|benchmint_nop' "$4" && echo "{\"resolved_ids\":[\"$(basename "$2")\"],\"unresolved_ids\":[\"a__b-1\",\"a__b-2\"]}" >"$9/$c.benchmint.json"`, []string{
			"gold a__b-1 no", "gold a__b-2 no", "nop a__b-1 no", "nop a__b-2 no", "forged a__b-1 no", "forged a__b-2 no",
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			script := strings.ReplaceAll(report+tt.script, "$9", "${10}") // eval is the first argument
			j, err := Judge(t.Context(), SWEBenchName, t.TempDir(), two, install(t, SWEBenchName, "swebench", script))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v, want %q", err, tt.err)
				}
				return
			}
			if d := cmp.Diff(tt.want, said(j)); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}

func TestHarbor(t *testing.T) {
	t.Parallel()
	// run -p DIR -a AGENT -o WORK --job-name job …
	const result = `say() { mkdir -p "$7/job/$1__x" && echo "{\"task_name\":\"org/$1\",$2}" >"$7/job/$1__x/result.json"; }
reward() { say "$1" "\"verifier_result\":{\"rewards\":{\"reward\":$2}}"; }
`
	for _, tt := range []struct {
		name, script string
		want         []string
	}{
		{"sound", `r=0; [ "$5" = oracle ] && [ -e "$3/a__b-1/solution/gold.patch" ] && r=1; reward a__b-1 $r; reward a__b-2 $r`, sound},
		{"left_out", `reward a__b-1 0`, []string{"gold a__b-1 no", "gold a__b-2 fault", "nop a__b-1 no", "nop a__b-2 fault", "forged a__b-1 no", "forged a__b-2 fault"}},
		{"exception", `reward a__b-1 0; say a__b-2 '"exception_info":{"exception_type":"RuntimeError","exception_message":"no"}'`, []string{
			"gold a__b-1 no", "gold a__b-2 fault", "nop a__b-1 no", "nop a__b-2 fault", "forged a__b-1 no", "forged a__b-2 fault",
		}},
		{"forgers_forge", `s="$3/a__b-2/solution"; r=0; [ "$(cat "$s/forged.patch" 2>&1)" = f2 ] && grep -q reward.json "$s/solve.sh" && [ ! -e "$s/gold.patch" ] && r=1; reward a__b-1 0; reward a__b-2 $r`, []string{
			"gold a__b-1 no", "gold a__b-2 no", "nop a__b-1 no", "nop a__b-2 no", "forged a__b-1 no", "forged a__b-2 yes",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, x := range two {
				solution := filepath.Join(dir, x.ID, "solution")
				if err := errors.Join(os.MkdirAll(solution, 0o755), os.WriteFile(filepath.Join(solution, "gold.patch"), x.Gold, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			// What is said to the shell's functions is the script's own.
			script := strings.NewReplacer(`"$7/`, `"$work/`).Replace("work=$7\n" + result + tt.script)
			j, err := Judge(t.Context(), HarborName, dir, two, install(t, HarborName, "harbor", script))
			if i := slices.IndexFunc(j.Verdicts, func(v Verdict) bool { return v.Fault != "" }); i >= 0 && !slices.Contains([]string{"RuntimeError: no", "Harbor did not run it"}, j.Verdicts[i].Fault) {
				t.Errorf("fault %q", j.Verdicts[i].Fault)
			}
			if d := cmp.Diff(tt.want, said(j)); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	// SCRIPT DIR CASE JOBS LOGS ANSWERS
	const say = `say() { echo "{\"id\":\"org/$1\",$2}" >"$answers/$1.json"; }
r=0; [ "$3" != gold ] || r=1
`
	sound := slices.DeleteFunc(slices.Clone(sound), func(s string) bool { return strings.HasPrefix(s, "forged") })
	for _, tt := range []struct {
		name, script string
		want         []string
	}{
		{"sound", `grep -q inspect_harbor "$1" && say a__b-1 '"reward":'$r; say a__b-2 '"reward":'$r`, sound},
		{"left_out", `say a__b-1 '"reward":0'`, []string{"gold a__b-1 no", "gold a__b-2 fault", "nop a__b-1 no", "nop a__b-2 fault"}},
		{"fault", `say a__b-1 '"reward":1,"fault":"no container"'; say a__b-2 '"x":1'`, []string{"gold a__b-1 fault", "gold a__b-2 fault", "nop a__b-1 fault", "nop a__b-2 fault"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, err := Judge(t.Context(), InspectName, t.TempDir(), two, install(t, InspectName, "python", "answers=$6\n"+say+tt.script))
			if d := cmp.Diff(tt.want, said(j)); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}

// An engine that Inspect does not take is said, with the version: Inspect ends without a word.
func TestOldEngine(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{"20.10.24+dfsg1": true, "24.0.5": true, "": true, "24.0.6": false, "28.5.1": false} {
		o := install(t, InspectName, "python", "")
		path, _, _ := strings.Cut(strings.TrimPrefix(o.Env[0], "PATH="), ":")
		if err := os.WriteFile(filepath.Join(path, "docker"), []byte("#!/bin/sh\n[ \"$1\" != version ] || echo '"+version+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		err := Ready(t.Context(), InspectName, o)
		if old != errors.Is(err, ErrNoTool) || old && !strings.Contains(err.Error(), "24.0.6 or newer, and \""+version+"\" answers") || !old && err != nil {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// Without compose nothing is got and nothing is begun, and the end says what gets it.
func TestNoCompose(t *testing.T) {
	t.Parallel()
	o := install(t, HarborName, "harbor", "exit 1")
	path, _, _ := strings.Cut(strings.TrimPrefix(o.Env[0], "PATH="), ":")
	if err := os.WriteFile(filepath.Join(path, "docker"), []byte("#!/bin/sh\necho \"'compose' is not a docker command\" >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Ready(t.Context(), HarborName, o); !errors.Is(err, ErrNoTool) || !strings.Contains(err.Error(), "docker-compose-plugin") || !strings.Contains(err.Error(), "not a docker command") {
		t.Errorf("%v", err)
	}
	if err := Ready(t.Context(), HarborName, Options{Cache: o.Cache, Env: []string{"PATH=" + t.TempDir()}}); !errors.Is(err, ErrNoTool) {
		t.Errorf("%v", err)
	}
}

// The interpreters of pyenv are found, and its shims are not.
func TestInterpreters(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bin := filepath.Join(root, "versions", "3.12.1", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	got := interpreters([]string{"PYENV_ROOT=" + root, "PATH=/bin:" + filepath.Join(root, "shims")})
	if want := "PATH=/bin:" + bin; !slices.Contains(got, want) {
		t.Errorf("%q, want %s", got, want)
	}
	if plain := []string{"PYENV_ROOT=" + filepath.Join(root, "none"), "PATH=/bin"}; !slices.Equal(interpreters(plain), plain) {
		t.Errorf("without pyenv: %q", interpreters(plain))
	}
}
