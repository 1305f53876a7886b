package scenario

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
)

// shiftedReplay is the number of the replay whose clock is shifted.
const shiftedReplay = 2

// replays sends every frozen scenario from a fresh state, as often as asked. All groups are
// sent once before any is sent again, which parts the replays of one.
func (r *recorder) replays(ctx context.Context, groups []*Group) error {
	for n := range r.options.Replays {
		if n > 0 {
			if err := r.options.Sleep(ctx, r.options.Pause); err != nil {
				return err
			}
		}
		shifted := n == shiftedReplay && r.server.Shifts()
		for _, g := range groups {
			if len(g.Cases) == 0 {
				continue
			}
			if err := r.replay(ctx, g, shifted); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *recorder) replay(ctx context.Context, g *Group, shifted bool) error {
	var got []contract.Exchanged
	send := func(c contract.Client) (err error) {
		got, err = Replay(ctx, c, g.Cases)
		return err
	}
	err := r.fresh(ctx, shifted, send)
	var not *contract.NotReady
	if errors.As(err, &not) && !shifted {
		err = r.fresh(ctx, shifted, send) // once more: the machine may be busy
	}
	if errors.As(err, &not) {
		what := "a replay"
		if shifted {
			what = "the replay with a shifted clock"
		}
		g.Left = append(g.Left, Left{what, not.Error()})
		return nil
	}
	if err == nil && silences(got) > 0 { // once more: the machine may be busy
		before := got
		if err = r.fresh(ctx, shifted, send); errors.As(err, &not) || err == nil && silences(before) <= silences(got) {
			got, err = before, nil
		}
	}
	if err != nil {
		return err
	}
	g.Replays = append(g.Replays, got)
	g.Shifted = append(g.Shifted, shifted)
	return nil
}

// silences is the number of requests without an answer.
func silences(all []contract.Exchanged) int {
	n := 0
	for _, e := range all {
		if e.Answer.Failed != "" {
			n++
		}
	}
	return n
}

// Replay sends cases in their order, each with the values of this replay's own answers. A case
// whose values are not there is not sent, and its Answer.Failed says so. An error is a fault
// of the machine.
func Replay(ctx context.Context, c contract.Client, cases []contract.Case) ([]contract.Exchanged, error) {
	out := make([]contract.Exchanged, 0, len(cases))
	answers := map[string]contract.Answer{}
	silent := 0
	for _, one := range cases {
		w, err := contract.Resolve(one, func(id string) (contract.Answer, bool) {
			a, ok := answers[id]
			return a, ok
		})
		e := contract.Exchanged{Case: one.ID, Wire: w}
		switch {
		case err != nil:
			e.Answer.Failed = "not sent: " + err.Error()
		case silent >= 3:
			e.Answer.Failed = "not sent: nobody answers"
		default:
			if e.Answer, err = c.Do(ctx, w); err != nil {
				return nil, err
			}
			silent++
			if e.Answer.Failed == "" {
				silent = 0
			}
		}
		answers[one.ID] = e.Answer
		out = append(out, e)
	}
	return out, nil
}

// judge says of each endpoint of a group what the first replay shows.
func (r *recorder) judge(g *Group) {
	if len(g.Replays) == 0 {
		return
	}
	for i := range g.Endpoints {
		e := &g.Endpoints[i]
		for n, c := range g.Cases {
			if c.Kind != contract.Happy || c.Group != g.Name || c.Endpoint.Method != e.Method || c.Endpoint.Path != e.Path {
				continue
			}
			a := g.Replays[0][n].Answer
			if e.Status == 0 {
				e.Status = a.Status
			}
			if !worked(a) {
				continue
			}
			if !e.Answered {
				e.Status, e.Answered = a.Status, true
			}
			if e.Method != "GET" && !isLogin(newRoute(routes.Route{Method: e.Method, Path: e.Path})) {
				e.Create = e.Create || e.Method == "POST"
				e.ReadBack = e.ReadBack || readBack(g, n) || changed(g, n) || taken(g, n)
			}
		}
	}
	g.Left = append(g.Left, g.unanswered()...)
}

// unanswered says of the endpoints that did not work what they answered in the first replay.
func (g *Group) unanswered() (out []Left) {
	for _, e := range g.Endpoints {
		n := slices.IndexFunc(g.Cases, func(c contract.Case) bool {
			return c.Kind == contract.Happy && c.Group == g.Name && c.Endpoint.String() == e.String()
		})
		if !e.Answered && n >= 0 {
			out = append(out, Left{e.String(), "in a replay, " + inShort(g.Replays[0][n].Wire, g.Replays[0][n].Answer)})
		}
	}
	return out
}

// readBack reports whether a later read of the group shows what a case has made: a text that
// it sent, under the same name, or the name that the service gave it.
func readBack(g *Group, made int) bool {
	sent, replay := g.Cases[made], g.Replays[0]
	want := map[string]bool{}
	for _, l := range requestLeaves(sent.Request.Body) {
		if text, ok := l.value.(string); ok && len(text) > 3 && !passWord.MatchString(l.key) {
			want[l.key+"="+text] = true
		}
	}
	answer, _ := replay[made].Answer.Parsed()
	for _, l := range leaves(answer) {
		if l.key == "id" || l.key == "slug" || l.key == "uuid" {
			want[l.key+"="+contract.Text(l.value)] = true
		}
	}
	for n := made + 1; n < len(g.Cases); n++ {
		c := g.Cases[n]
		if c.Endpoint.Method != "GET" || c.Group != g.Name || !worked(replay[n].Answer) || !related(c.Endpoint.Path, sent.Endpoint.Path) {
			continue
		}
		v, _ := replay[n].Answer.Parsed()
		if slices.ContainsFunc(leaves(v), func(l leaf) bool { return want[l.key+"="+contract.Text(l.value)] }) {
			return true
		}
	}
	return false
}

// changed reports whether a read of the group answers otherwise after a case than before it:
// with another status, or with other values of more than their time.
func changed(g *Group, made int) bool {
	replay := g.Replays[0]
	before := map[string]string{}
	for n, c := range g.Cases {
		if c.Endpoint.Method != "GET" || c.Group != g.Name || n == made || replay[n].Answer.Failed != "" || replay[n].Answer.Status >= 500 {
			continue
		}
		target := replay[n].Wire.Target + "\x00" + replay[n].Wire.Headers["Authorization"]
		said := essence(replay[n].Answer)
		if n < made {
			before[target] = said
		} else if was, ok := before[target]; ok && was != said {
			return true
		}
	}
	return false
}

// taken reports whether what a case has made is there when the same is sent once more: it is
// refused then, and by another word than that who sends it may not.
func taken(g *Group, made int) bool {
	for n := made + 1; n < len(g.Cases); n++ {
		c, a := g.Cases[n], g.Replays[0][n].Answer
		if c.Kind == contract.Duplicate && c.Endpoint == g.Cases[made].Endpoint && slices.Contains([]int{http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity}, a.Status) {
			return true
		}
	}
	return false
}

// essence is an answer without what differs by itself from one moment to the next.
func essence(a contract.Answer) string {
	v, _ := a.Parsed()
	return strconv.Itoa(a.Status) + " " + contract.Text(still(v, 0))
}

// still is a JSON value with nothing in the place of times and tokens.
func still(v any, depth int) any {
	if depth > maxNested {
		return nil
	}
	switch t := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range t {
			out[k] = still(e, depth+1)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range t {
			out = append(out, still(e, depth+1))
		}
		return out
	case string:
		if timeText.MatchString(t) {
			return nil
		}
	}
	return v
}

var timeText = lazyregexp.New(`^\d{4}-\d\d-\d\d|^\d{10,13}(\.\d+)?$|^[\w-]+\.[\w-]+\.[\w-]+$`)

// related reports whether a read is of what is made under a path: the collection, something
// in it, or who made it.
func related(read, made string) bool {
	read, made = trimmed(read), trimmed(made)
	if strings.HasPrefix(read, made) || strings.HasPrefix(made, read) {
		return true
	}
	a, b := newRoute(routes.Route{Method: "GET", Path: read}), newRoute(routes.Route{Method: "POST", Path: made})
	return a.own || noun(a.last()) == noun(b.last())
}
