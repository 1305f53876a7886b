package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of what is judged.
const (
	maxText = 4 << 10   // bytes of a body that is not JSON
	maxBody = 256 << 10 // bytes of a JSON body
)

// Merged is what the replays of one scenario have in common.
type Merged struct {
	// Cases are all of them, in their order. One that cannot be judged has no Expect: it is still
	// sent, because those after it were recorded with it.
	Cases  []Case
	Report Report
}

// Report says what was kept of the answers and what was dropped.
type Report struct {
	Replays  int       `json:"replays"`
	Judged   int       `json:"judged"`
	Dropped  []Dropped `json:"dropped,omitempty"`  // cases that are not judged
	Unjudged []Dropped `json:"unjudged,omitempty"` // judged cases whose body is not
	Leaves   Leaves    `json:"leaves"`
}

// Dropped is a case with the reason.
type Dropped struct {
	Case   string `json:"case"`
	Reason string `json:"reason"`
}

// Leaves counts the values of the judged bodies by how they are matched.
type Leaves struct {
	Equal int `json:"equal"`
	Ref   int `json:"ref"`
	Form  int `json:"form"`
	Type  int `json:"type"`
	// Lost are values below something that only its type is known of.
	Lost int `json:"lost"`
}

// Kept are the values that are asked for more than their type.
func (l Leaves) Kept() int { return l.Equal + l.Ref + l.Form }

// Add sums reports, of the groups of one service.
func (r *Report) Add(o Report) {
	r.Replays = max(r.Replays, o.Replays)
	r.Judged += o.Judged
	r.Dropped = append(r.Dropped, o.Dropped...)
	r.Unjudged = append(r.Unjudged, o.Unjudged...)
	r.Leaves.Equal += o.Leaves.Equal
	r.Leaves.Ref += o.Leaves.Ref
	r.Leaves.Form += o.Leaves.Form
	r.Leaves.Type += o.Leaves.Type
	r.Leaves.Lost += o.Leaves.Lost
}

// Merge gives each case the answer that all replays of its scenario have in common. What differs
// between them is left to its form or type, and so is what would differ in a later run, as times
// and tokens do. A case is dropped where the replays disagree on its status or media type, where
// one of them was not answered, and where the server was at fault.
//
// A replay that lacks a case was not asked it. What a case expected before is forgotten.
func Merge(cases []Case, replays [][]Exchanged) (Merged, error) {
	if len(replays) == 0 {
		return Merged{}, errors.New("there are no replays")
	}
	m := newMerger(cases, replays)
	out := Merged{Report: Report{Replays: len(replays)}}
	for i := range cases {
		c := cases[i]
		c.Needs = slices.Clone(c.Needs)
		c.Expect = nil
		m.begin(&c)
		expect, why := m.expect()
		c.Expect = expect
		switch {
		case expect == nil:
			out.Report.Dropped = append(out.Report.Dropped, Dropped{c.ID, why})
		case why != "":
			out.Report.Unjudged = append(out.Report.Unjudged, Dropped{c.ID, why})
		}
		if expect != nil {
			out.Report.Judged++
		}
		m.end()
		out.Cases = append(out.Cases, c)
	}
	out.Report.Leaves = m.leaves
	return out, nil
}

// merger goes through the cases in their order.
type merger struct {
	replays  []*replay
	current  *Case
	answers  []Answer // of the current case, by replay; nil where one lacks it
	needs    map[string][]string
	order    map[string]int      // of a case in the scenario
	index    map[string][]source // values of the first replay
	literals map[string]bool     // texts that the requests are written with
	leaves   Leaves
}

type replay struct {
	*lookup
	answers map[string]Answer
}

func newMerger(cases []Case, replays [][]Exchanged) *merger {
	m := &merger{needs: map[string][]string{}, order: map[string]int{}, index: map[string][]source{}, literals: map[string]bool{}}
	for _, exchanged := range replays {
		r := &replay{answers: map[string]Answer{}}
		for _, x := range exchanged {
			r.answers[x.Case] = x.Answer
		}
		r.lookup = newLookup(cases, func(id string) (Answer, bool) { a, ok := r.answers[id]; return a, ok })
		m.replays = append(m.replays, r)
	}
	for i, c := range cases {
		m.order[c.ID] = i
	}
	return m
}

// begin makes c the current case: its own request can be referred to.
func (m *merger) begin(c *Case) {
	m.current = c
	m.needs[c.ID] = c.Needs
	m.answers = m.answers[:0]
	for _, r := range m.replays {
		a, ok := r.answers[c.ID]
		if !ok {
			m.answers = nil
			return
		}
		m.answers = append(m.answers, a)
	}
	m.learnRequest()
}

// end lets the cases that follow refer to the answer of the current one.
func (m *merger) end() {
	m.needs[m.current.ID] = m.current.Needs
	if m.answers != nil {
		m.learnAnswer()
	}
}

// expect is what the answers have in common. why says what is not judged: the case where expect
// is nil, else its body.
func (m *merger) expect() (e *Expect, why string) {
	switch {
	case m.answers == nil:
		return nil, "not asked in every replay"
	case m.current.Kind == Mail:
		return nil, "it tells what was sent by mail"
	}
	first := m.answers[0]
	for i, a := range m.answers {
		switch {
		case a.Failed != "":
			return nil, fmt.Sprintf("no answer: %s in replay %d", a.Failed, i+1)
		case a.Status >= 500 || a.Status < 100:
			return nil, fmt.Sprintf("a fault of the server: status %d in replay %d", a.Status, i+1)
		case a.Status != first.Status:
			return nil, fmt.Sprintf("the status differs: %d and %d", first.Status, a.Status)
		case mediaType(a) != mediaType(first):
			return nil, fmt.Sprintf("the media type differs: %q and %q", mediaType(first), mediaType(a))
		}
	}
	e = &Expect{Status: first.Status, Type: mediaType(first), Location: m.location()}
	e.Body, why = m.body()
	return e, why
}

func mediaType(a Answer) string {
	t, _, _ := strings.Cut(a.Headers["content-type"], ";")
	return strings.ToLower(strings.TrimSpace(t))
}

func (m *merger) body() (*Matcher, string) {
	var all []any
	empty, longest, text := true, 0, false
	for _, a := range m.answers {
		v := BodyValue(a.Body)
		_, parsed := a.Parsed()
		empty, longest, text = empty && len(a.Body) == 0, max(longest, len(a.Body)), text || !parsed
		all = append(all, v)
	}
	switch {
	case empty:
		return nil, ""
	case text && longest > maxText:
		return nil, fmt.Sprintf("a text of %d bytes", longest)
	case longest > maxBody:
		return nil, fmt.Sprintf("a body of %d bytes", longest)
	}
	if !text {
		got := m.merge(all, nil)
		if got == nil {
			return nil, "the replays have bodies of different types"
		}
		return got, ""
	}
	got, kind := m.leaf(all, "")
	if got == nil || got.Type != "" {
		return nil, "a text that differs"
	}
	m.count(kind)
	return got, ""
}

// location matches the path of the Location header: as a whole where it is the same in all
// replays, else segment by segment.
func (m *merger) location() *Matcher {
	var whole, parts []any
	for _, a := range m.answers {
		header := a.Headers["location"]
		if header == "" {
			return nil
		}
		whole = append(whole, pathOf(header))
		parts = append(parts, segments(pathOf(header)))
	}
	if got, _ := m.leaf(whole, ""); got != nil && got.Type == "" && !m.varies(parts) {
		return got
	}
	length := len(parts[0].([]any))
	out := make([]*Matcher, length)
	for i := range out {
		var column []any
		for _, p := range parts {
			list, _ := p.([]any)
			if len(list) != length {
				return nil
			}
			column = append(column, list[i])
		}
		if out[i], _ = m.leaf(column, ""); out[i] == nil {
			return nil
		}
	}
	return &Matcher{List: out}
}

// varies reports whether a segment of a path would differ in a later run.
func (m *merger) varies(paths []any) bool {
	for _, p := range paths {
		for _, s := range p.([]any) {
			if m.volatile(s, "") {
				return true
			}
		}
	}
	return false
}
