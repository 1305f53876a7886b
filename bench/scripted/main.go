// Command scripted plays a model to bench/solver, so that the way through the stages can be tried before a
// model costs money, and so that the settings of the solver show in the scores:
//
//	go run ./bench/scripted DATASET go run ./bench/solver -dataset DATASET -model ordered-60 -to FOLDER
//
// While the command after the first DATASET runs, it answers OpenAI's chat API on this machine; the command
// gets the address by OPENAI_BASE_URL. The name of the model says what is played, behind it how many of a
// hundred functions it can write, which are always the same ones:
//
//	share-N    writes these
//	ordered-N  writes one of these once no function that it calls is without its body in what the question
//	           shows of imported modules
//	reader-N   writes one of these where the question quotes all that the specification says of it
//
// In a question about tests, as many of the other functions are written that the tests are said to lack. What
// is written is the solution's; a function that has a body already keeps it.
//
// It never runs what it answers, and refuses what is not a library of the dataset.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/bench/internal/play"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

func main() { play.Main("scripted", run) }

func run(dataset string, argv []string) error {
	d, err := output.Read(dataset)
	if err != nil {
		return err
	}
	var all script
	for _, row := range d.Rows {
		if row.Benchmint.Library == nil {
			continue
		}
		base, _, goal, err := d.States(row.Row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		patch, err := row.GoldPatch()
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		specification, err := d.Specification(row.Row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		l, err := newLibrary(row.ProblemStatement, base, goal, patch, string(specification[schemas.SpecificationText]))
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		all = append(all, l)
	}
	return play.Command(all.answer, argv)
}

// The models that can be played.
const (
	share   = "share"
	ordered = "ordered"
	reader  = "reader"
)

var model = lazyregexp.New(`^(` + share + `|` + ordered + `|` + reader + `)-(100|\d?\d)$`)

// script is what is known of the libraries of a dataset.
type script []library

type library struct {
	statement string
	files     map[string]source
	// passages are all that the specification says of a function, by its name.
	passages map[string][]string
}

// source is a file of the starter, and what the solution has in place of its lines.
type source struct {
	lines  []string // of the starter, with their ends
	bodies []body
}

// body is what comes in place of lines [from, to), counted from 0.
type body struct {
	function string // as the mark of the mask names it
	from, to int
	text     string
}

var (
	newFile = lazyregexp.New(`(?m)^\+\+\+ b/(.*)$`)
	hunk    = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+`)
	masked  = lazyregexp.New(`"masked: ([^"\n]+)"`)
	heading = lazyregexp.New("(?m)^#{2,} `([^`\n]+)`$")
	title   = lazyregexp.New(`(?m)^#+ `)
)

// newLibrary reads the bodies from the patch of the solution.
func newLibrary(statement string, base, goal *tree.Tree, patch []byte, specification string) (library, error) {
	l := library{statement: statement, files: map[string]source{}, passages: passages(specification)}
	for _, part := range bytes.Split(bytes.TrimSuffix(patch, []byte("\n")), []byte("\ndiff --git ")) {
		name := newFile.FindSubmatch(part)
		if name == nil {
			continue
		}
		path := string(name[1])
		start, err := base.Read(path)
		if err != nil {
			return l, err
		}
		s := source{lines: slices.Collect(strings.Lines(string(start))), bodies: bodies(string(part) + "\n")}
		want, err := goal.Read(path)
		if err != nil {
			return l, err
		}
		if s.with(func(string) bool { return true }) != string(want) {
			return l, fmt.Errorf("%s: the bodies do not make the solution", path)
		}
		l.files[path] = s
	}
	return l, nil
}

// bodies are the changes of one file's diff. One without a mark belongs to the function before it.
func bodies(diff string) []body {
	var out []body
	now, changing := 0, false // the line of the starter, from 0
	inHunk := false
	for line := range strings.Lines(diff) {
		if m := hunk.FindStringSubmatch(line); m != nil {
			now, _ = strconv.Atoi(m[1]) // digits
			if m[2] != "0" {
				now--
			}
			inHunk, changing = true, false
			continue
		}
		if !inHunk || line[0] == '\\' {
			continue
		}
		if line[0] == ' ' {
			now, changing = now+1, false
			continue
		}
		if !changing {
			b := body{from: now, to: now}
			if len(out) > 0 {
				b.function = out[len(out)-1].function
			}
			out, changing = append(out, b), true
		}
		last := &out[len(out)-1]
		if line[0] == '+' {
			last.text += line[1:]
			continue
		}
		now++
		last.to = now
		if m := masked.FindStringSubmatch(line); m != nil {
			last.function = m[1]
		}
	}
	return out
}

// with is the file with the bodies of some functions.
func (s source) with(written func(function string) bool) string {
	var b strings.Builder
	at := 0
	for _, x := range s.bodies {
		if !written(x.function) {
			continue
		}
		b.WriteString(strings.Join(s.lines[at:x.from], "") + x.text)
		at = x.to
	}
	return b.String() + strings.Join(s.lines[at:], "")
}

// passages are the parts of a specification below headings that name a function or class, up to the next heading,
// by the name without its module: "Class.method" or "function". A constructor is described with its class.
func passages(specification string) map[string][]string {
	out := map[string][]string{}
	for _, at := range heading.FindAllStringSubmatchIndex(specification, -1) {
		text := specification[at[0]:]
		if next := title.FindStringIndex(text[at[1]-at[0]:]); next != nil {
			text = text[:at[1]-at[0]+next[0]]
		}
		words := strings.Split(specification[at[2]:at[3]], ".")
		for i := range words {
			name := strings.Join(words[i:], ".")
			out[name] = append(out[name], strings.TrimSpace(text))
		}
	}
	return out
}

// question is what bench/solver asks.
type question struct {
	file     string
	material string // all before the file
	now      string // the file
	tests    string // what is said of tests, "" where nothing is
}

var (
	fileNow = lazyregexp.New(`(?m)^The file (\S+) now:\n\n`)
	asking  = lazyregexp.New(`(?m)^(?:Write the missing bodies of|Linters say of|These tests do not pass:)`)
)

func read(user string) (question, bool) {
	files := fileNow.FindAllStringSubmatchIndex(user, -1)
	asks := asking.FindAllStringIndex(user, -1)
	if len(files) == 0 || len(asks) == 0 {
		return question{}, false
	}
	at, end := files[len(files)-1], asks[len(asks)-1][0]
	if end < at[1] {
		return question{}, false
	}
	q := question{file: user[at[2]:at[3]], material: user[:at[0]], now: user[at[1]:end]}
	if strings.HasPrefix(user[end:], "These") {
		q.tests = user[end:]
	}
	return q, true
}

func (s script) answer(a llmtest.Asked) llmtest.Reply {
	played := model.FindStringSubmatch(a.Model)
	q, ok := read(a.User)
	if played == nil || !ok {
		return play.Unknown("scripted")
	}
	for _, l := range s {
		source, known := l.files[q.file]
		if !known || !strings.HasPrefix(a.User, l.statement+"\n") {
			continue
		}
		percent, _ := strconv.Atoi(played[2]) // digits
		text := source.with(func(function string) bool {
			mark := fmt.Sprintf("masked: %s\"", function)
			if !strings.Contains(q.now, mark) {
				return true
			}
			able := drawn(function, percent) || strings.Contains(q.tests, fmt.Sprintf("masked: %s\n", function)) && drawn("again "+function, percent)
			switch {
			case !able:
				return false
			case played[1] == ordered:
				return !source.callsUnwritten(function, q.material)
			case played[1] == reader:
				return l.quoted(function, q.material)
			}
			return true
		})
		b, _ := json.Marshal(map[string]string{"text": text}) // of strings
		return llmtest.Reply{Text: string(b)}
	}
	return play.Unknown("scripted")
}

// drawn reports whether a name is one of so many of a hundred.
func drawn(name string, percent int) bool {
	h := fnv.New64a()
	h.Write([]byte(name))
	sum := h.Sum64()
	return int((sum^sum>>32)%100) < percent
}

// callsUnwritten reports whether the body of a function has the name of one that stands without its body in a text.
func (s source) callsUnwritten(function, text string) bool {
	for _, m := range masked.FindAllStringSubmatch(text, -1) {
		words := strings.Split(m[1], ".")
		name := regexp.MustCompile(`\b` + regexp.QuoteMeta(words[len(words)-1]) + `\(`)
		for _, b := range s.bodies {
			if b.function == function && name.MatchString(b.text) {
				return true
			}
		}
	}
	return false
}

// quoted reports whether a text has a passage about a function, whole.
func (l library) quoted(function, text string) bool {
	for _, constructor := range []string{".__init__", ".__new__"} {
		function = strings.TrimSuffix(function, constructor)
	}
	return slices.ContainsFunc(l.passages[function], func(p string) bool { return strings.Contains(text, p) })
}
