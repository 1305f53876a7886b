package golang

import (
	"go/version"
	"maps"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Before Go 1.20 package testing does not mark its own lines, and test2json takes only those
// that begin a line: of a test that prints without a line end it loses the result, and all
// subtests with it. So the events of such a Go are not used. Their output, put together, is the
// program's text to the byte, and is read here a second time, whole: what comes later tells
// whether words at the end of a line are package testing's or a test's own.

// unmarked reports whether a Go's test programs do not mark their lines.
func unmarked(r schemas.Recipe) bool {
	return version.IsValid("go"+r.Toolchain.Version) && !atLeast(r, "1.20")
}

// framing is a line of package testing, behind what a test left without a line end. No name
// holds a blank: package testing writes it as an underscore.
var framing = lazyregexp.New(`(?:=== (RUN  |PAUSE|CONT ) |--- (PASS|FAIL|SKIP): )(\S+)( \(\d+\.\d\ds\))?\n$`)

// logged is how a line of a test's log begins; it ends with a line end of its own.
var logged = lazyregexp.New(`^ +[^ :]+\.go:\d+: `)

// frame is what package testing said at the end of a line.
type frame struct {
	action string // run, pause, cont, pass, fail, skip
	name   string
	before string // what stands before it in its line
	indent int    // of a result: four blanks for each test above
	// alone: nothing but the indent stands before it.
	alone bool
	// swallowed: the test's beginning was printed into a pipe that the test put in the
	// place of standard output (before Go 1.14).
	swallowed bool
}

func (f *frame) result() bool { return f.action == "pass" || f.action == "fail" || f.action == "skip" }

// frameOf reads the end of a line; nil where it is a line of a test alone.
func frameOf(line string) *frame {
	at := framing.FindStringSubmatchIndex(line)
	if at == nil {
		return nil
	}
	word := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return line[at[2*i]:at[2*i+1]]
	}
	f := &frame{name: word(3), before: line[:at[0]], action: strings.ToLower(strings.TrimSpace(word(1) + word(2)))}
	blanks := strings.Trim(f.before, " ") == ""
	f.alone = f.before == "" || f.result() && blanks
	if f.alone {
		f.indent = len(f.before) / 4
	}
	if f.result() != (word(4) != "") || strings.HasSuffix(f.before, "\x16") { // the script of apart says it again
		return nil
	}
	return f
}

// frames are the lines' frames that are package testing's. One that stands behind other text
// counts only where it fits: a result where its test runs and says nothing of its end later, a
// beginning where its end is told. Of a test's own words nothing but the rest of this remains,
// and the guard judges that as it judges every line.
func frames(lines []string, swallows bool) []*frame {
	found := make([]*frame, len(lines))
	type running struct {
		last   int // the line of its result so far, -1 for none
		paused bool
	}
	open := map[string]*running{}
	begun := map[string]bool{} // ever
	logs := false              // before Go 1.14 a test's log follows its result
	for i, line := range lines {
		f := frameOf(line)
		logs = logs && strings.HasPrefix(line, "    ")
		if f == nil || !f.alone && (logs || logged.MatchString(f.before)) {
			continue
		}
		logs = swallows && f.result()
		found[i] = f
		top, _, nested := strings.Cut(f.name, "/")
		test, runs := open[f.name]
		switch {
		case f.action == "run":
			if _, above := open[top]; !f.alone && (nested && !above || runs && test.last < 0) {
				found[i] = nil
				continue
			}
			if !nested { // all that is not paused ended before
				maps.DeleteFunc(open, func(_ string, t *running) bool { return t.last >= 0 && !t.paused })
			}
			open[f.name], begun[f.name] = &running{last: -1}, true
		case !f.result():
			if runs {
				test.paused = f.action == "pause"
			} else if !f.alone {
				found[i] = nil
			}
		case !f.alone && (nested || !runs || test.paused):
			found[i] = nil // the results of subtests follow that of their test at once
		case runs:
			if test.last >= 0 && !found[test.last].alone {
				found[test.last] = nil
			}
			test.last = i
		}
	}
	ends := map[string]bool{} // by name: a result follows
	for i := len(lines) - 1; i >= 0; i-- {
		switch f := found[i]; {
		case f == nil:
		case f.result():
			ends[f.name] = true
			f.swallowed = !begun[f.name] && (f.indent > 0 || swallows)
		case f.action == "run":
			if !f.alone && !ends[f.name] {
				found[i] = nil
			}
			ends[f.name] = false
		}
	}
	return found
}

// readText gives the events of a program's text, as test2json does.
func readText(text string, swallows bool, emit func(event)) {
	lines := strings.SplitAfter(text, "\n")
	var results []event // that are told and not ended: each is of a subtest of the one before
	var current string
	end := func(depth int) {
		for current = ""; len(results) > depth; results = results[:len(results)-1] {
			emit(results[len(results)-1])
		}
	}
	say := func(out string) {
		if out != "" {
			emit(event{Action: "output", Test: current, Output: out})
		}
	}
	for i, f := range frames(lines, swallows) {
		line := lines[i]
		if f == nil {
			if word := strings.TrimRight(line, "\r\n"); word == "PASS" || word == "FAIL" || strings.HasPrefix(word, "FAIL\t") {
				end(0)
			}
			if indent := (len(line) - len(strings.TrimLeft(line, " "))) / 4; indent > 0 && indent <= len(results) {
				current = results[indent-1].Test // a log follows the result that it is of
			}
			say(line)
			continue
		}
		e := event{Action: f.action, Test: f.name}
		switch {
		case f.result() && f.indent > len(results):
			say(line) // deeper than any test
		case f.result():
			if !f.alone {
				say(f.before)
				line = line[len(f.before):]
			}
			end(f.indent)
			if f.swallowed && (f.indent == 0 || strings.HasPrefix(f.name, results[f.indent-1].Test+"/")) {
				emit(event{Action: "run", Test: f.name})
			}
			current, results = f.name, append(results, e)
			say(line)
		default:
			say(f.before)
			end(0)
			emit(e)
			current = f.name
			say(line[len(f.before):])
		}
	}
	end(0)
}
