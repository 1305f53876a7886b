package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

func output(end sandbox.End, code int, plan string, lines ...string) lang.Output {
	return lang.Output{
		Run:    recipe.TestRun{Inputs: []sandbox.File{{Path: planPath, Data: []byte(plan)}}},
		Result: sandbox.Result{End: end, ExitCode: code, Output: []byte(strings.Join(lines, "\n") + "\n")},
	}
}

func ev(action, test, out string) string {
	s := `{"Time":"2024-01-01T00:00:00Z","Action":"` + action + `","Package":"p"`
	if test != "" {
		s += `,"Test":"` + test + `"`
	}
	if out != "" {
		s += `,"Output":"` + out + `"`
	}
	return s + "}"
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		out   lang.Output
		ended bool
		want  map[string][]string
	}{
		{"killed_from_outside", output(sandbox.TimedOut, -1, "p\nq\n", ev("start", "", ""), ev("run", "TestA", ""), ev("pass", "TestA", ""), ev("run", "TestB", "")), false,
			map[string][]string{"p": {"aborted running TestB", "TestA passed", "TestB failed"}}},
		{"killed_before_all", output(sandbox.TimedOut, -1, "p\n", "go: downloading"), false, map[string][]string{}},
		{"module_does_not_load", output(sandbox.Exited, 1, "p\nq\n", "go: errors parsing go.mod:", "go.mod:3: unknown directive: x"), true,
			map[string][]string{"p": {"not_loaded"}, "q": {"not_loaded"}}},
		{"nothing_to_test", output(sandbox.Exited, 0, "", "no packages to test"), true, map[string][]string{}},
		{"half_a_line_at_the_end", output(sandbox.Output, -1, "p\n", ev("run", "TestA", ""), `{"Time":"2024-01-01T00:00:00Z","Action":"pa`), false,
			map[string][]string{"p": {"aborted running TestA", "TestA failed"}}},
		{"text_before_an_event", output(sandbox.Exited, 0, "p\n", "noise "+ev("run", "TestA", ""), ev("pass", "TestA", ""), ev("output", "", `PASS\n`), ev("pass", "", "")), true,
			map[string][]string{"p": {"finished", "TestA passed"}}},
		{"end_without_a_beginning", output(sandbox.Exited, 1, "p\n", ev("run", "TestA", ""), ev("pass", "TestForged", ""), ev("fail", "TestA", ""), ev("output", "", `FAIL\n`), ev("fail", "", "")), true,
			map[string][]string{"p": {"finished", "TestA failed"}}},
		{"fail_below_a_pass", output(sandbox.Exited, 0, "p\n", ev("run", "TestA", ""), ev("run", "TestA/x", ""), ev("fail", "TestA/x", ""), ev("pass", "TestA", ""), ev("output", "", `PASS\n`), ev("pass", "", "")), true,
			map[string][]string{"p": {"finished", "TestA passed"}}},
		{"address_in_a_name", output(sandbox.Exited, 0, "p\n", ev("run", "TestA", ""), ev("run", "TestA/(*p.T)(0x5a1f20)", ""), ev("pass", "TestA/(*p.T)(0x5a1f20)", ""), ev("run", "TestA/at_0xc000480060", ""), ev("fail", "TestA/at_0xc000480060", ""),
			ev("run", "TestA/0xdeadbeef", ""), ev("pass", "TestA/0xdeadbeef", ""), ev("fail", "TestA", ""), ev("output", "", `FAIL\n`), ev("fail", "", "")), true,
			map[string][]string{"p": {"finished", "TestA failed", "TestA/0xdeadbeef passed of TestA"}}},
		{"inner_run_of_a_passing_program", output(sandbox.Exited, 0, "p\n", ev("run", "TestA", ""), ev("run", "inner name", ""), ev("fail", "inner name", ""), ev("pass", "TestA", ""), ev("output", "", `PASS\n`), ev("pass", "", "")), true,
			map[string][]string{"p": {"finished", "TestA passed"}}},
		{"left_with_0_in_the_middle", output(sandbox.Exited, 0, "p\n",
			ev("run", "TestA", ""), ev("output", "TestA", `--- PASS: TestA (0.00s)\n`), ev("pass", "TestA", ""),
			ev("run", "TestB", ""), ev("output", "TestB", `ok  \tp\t0.003s\n`), ev("pass", "TestB", "")), false,
			map[string][]string{"p": {"aborted running TestB", "TestA passed", "TestB failed"}}},
		{"panic_beside_parallel_tests", output(sandbox.Exited, 1, "p\n",
			ev("run", "TestA", ""), ev("pause", "TestA", ""), ev("run", "TestB", ""), ev("pause", "TestB", ""), ev("run", "TestC", ""), ev("pause", "TestC", ""),
			ev("cont", "TestA", ""), ev("cont", "TestB", ""), ev("output", "TestB", `--- FAIL: TestB (0.00s)\n`), ev("output", "TestB", `panic: b [recovered]\n`), ev("fail", "TestB", ""), ev("fail", "", "")), true,
			map[string][]string{"p": {"aborted running TestB", "TestB failed"}}},
		{"slash_in_a_name", output(sandbox.Exited, 0, "p\n", ev("run", "TestA", ""), ev("run", "TestA/a/b", ""), ev("run", "TestA/a/b/c", ""),
			ev("pass", "TestA/a/b/c", ""), ev("pass", "TestA/a/b", ""), ev("pass", "TestA", ""), ev("output", "", `PASS\n`), ev("pass", "", "")), true,
			map[string][]string{"p": {"finished", "TestA passed", "TestA/a/b passed of TestA", "TestA/a/b/c passed of TestA/a/b"}}},
		{"exit_zero_in_old_go", output(sandbox.Exited, 0, "p\n", ev("run", "TestA", ""), ev("output", "", `ok  \tp\t0.1s\n`), ev("pass", "", "")), true,
			map[string][]string{"p": {"aborted running TestA", "TestA failed"}}},
		{"build_events", output(sandbox.Exited, 1, "p\n", `{"ImportPath":"p [p.test]","Action":"build-output","Output":"# p [p.test]\n"}`, `{"ImportPath":"p [p.test]","Action":"build-output","Output":"./x.go:1: undefined: Y\n"}`,
			`{"ImportPath":"p [p.test]","Action":"build-fail"}`, ev("start", "", ""), ev("output", "", `FAIL\tp [build failed]\n`), `{"Time":"2024-01-01T00:00:00Z","Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}`), true,
			map[string][]string{"p": {"not_loaded"}}},
	} {
		report := Language{}.Parse(schemas.Recipe{}, []lang.Output{c.out})
		if report.Ended != c.ended {
			t.Errorf("%s: ended is %v", c.name, report.Ended)
		}
		if diff := cmp.Diff(c.want, sketch(report)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestParseOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	fine := output(sandbox.Exited, 0, "p\n", ev("run", "TestA", ""), ev("pass", "TestA", ""), ev("output", "", `PASS\n`), ev("pass", "", ""))
	cut := output(sandbox.Memory, -1, "q\n")
	if r := (Language{}).Parse(schemas.Recipe{}, []lang.Output{fine, cut}); r.Ended || len(r.Tests) != 1 {
		t.Errorf("one of two processes was killed: %+v", r)
	}
	if r := (Language{}).Parse(schemas.Recipe{}, nil); !r.Ended || len(r.Units) > 0 {
		t.Errorf("nothing to run: %+v", r)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100_000)
	r := Language{}.Parse(schemas.Recipe{}, []lang.Output{output(sandbox.Exited, 1, "p\n", ev("run", "TestA", ""), ev("output", "TestA", long), ev("fail", "TestA", ""), ev("output", "", `FAIL\n`), ev("fail", "", ""))})
	if n := len(r.Tests[0].Message); n == 0 || n > maxMessage {
		t.Errorf("a message of %d bytes", n)
	}
}

// TestTraces: what a test printed, its beginning and its end; of a long output the message begins with the assertion.
func TestTraces(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat(`    a_test.go:3: step\n`, 10_000)
	for name, c := range map[string]struct {
		said          []string
		message, ends string // the message's beginning, and the trace's end
	}{
		"assertion": {[]string{`=== RUN   TestA\n`, `    a_test.go:7: --- got 1\n`, `--- FAIL: TestA (0.00s)\n`}, "a_test.go:7: --- got 1", "    a_test.go:7: --- got 1\n--- FAIL: TestA (0.00s)"},
		"talkative": {[]string{talk, `    a_test.go:7: got 1\n`, `--- FAIL: TestA (0.00s)\n`}, "a_test.go:7: got 1", "    a_test.go:7: got 1\n--- FAIL: TestA (0.00s)"},
		"panic":     {[]string{talk, `panic: no [recovered]\n`, `goroutine 7 [running]:\n`, `p.TestA(0x1)\n\t/tree/a_test.go:9 +0x2\n`}, "panic: no [recovered]\ngoroutine 7", "\ngoroutine 7 [running]:\np.TestA(0x1)\n\t/tree/a_test.go:9 +0x2"},
	} {
		events := []string{ev("run", "TestA", "")}
		for _, s := range c.said {
			events = append(events, ev("output", "TestA", s))
		}
		r := Language{}.Parse(schemas.Recipe{}, []lang.Output{output(sandbox.Exited, 1, "p\n", append(events, ev("fail", "TestA", ""), ev("output", "", `FAIL\n`), ev("fail", "", ""))...)})
		got := r.Tests[0]
		if !strings.HasPrefix(got.Message, c.message) || len(got.Message) > maxMessage {
			t.Errorf("%s: the message is %.60q", name, got.Message)
		}
		if !strings.HasSuffix(got.Trace, c.ends) || strings.Contains(got.Trace, "=== RUN") || len(got.Trace) > testlog.MaxTrace+40 {
			t.Errorf("%s: the trace has %d bytes and ends with %q", name, len(got.Trace), got.Trace[max(0, len(got.Trace)-80):])
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(ev("run", "TestA", "")+"\n"+ev("output", "TestA", `panic: x\n`)+"\n"+ev("fail", "TestA", "")+"\n"), 1)
	f.Add([]byte("# p\nx.go:1: bad\nFAIL\tp [build failed]\n"), 1)
	f.Add([]byte(ev("run", "TestA/b/c", "")+ev("pass", "TestA", "")), 0)
	f.Fuzz(func(t *testing.T, data []byte, code int) {
		o := lang.Output{Result: sandbox.Result{End: sandbox.Exited, ExitCode: code, Output: data}}
		r := Language{}.Parse(schemas.Recipe{}, []lang.Output{o})
		units := map[string]testlog.Unit{}
		for _, u := range r.Units {
			if _, twice := units[u.Name]; twice || len(u.Message) > maxMessage {
				t.Fatalf("unit %q twice, or its message too long", u.Name)
			}
			units[u.Name] = u
		}
		for _, x := range r.Tests {
			u, ok := units[x.Unit]
			if !ok || u.State == testlog.NotLoaded || x.Status == "" || !strings.HasPrefix(x.ID, x.Unit+idSeparator) {
				t.Fatalf("test %+v in unit %+v", x, u)
			}
		}
	})
}
