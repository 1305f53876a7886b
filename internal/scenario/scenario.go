// Package scenario turns the routes of a service into requests that work, and records what the service answers.
//
// The words:
//
//   - A scenario is the requests of one group of endpoints in their order, from a fresh state of the service.
//   - A session looks for it: it asks a running service and changes a request until the answer is 2xx or 3xx, within
//     Limits.
//   - The happy case of an endpoint is its request that worked. Further cases ask the same without credentials, with an
//     empty body, twice, and so on (contract.Kind).
//   - The pool is the values that earlier answers gave: an article's slug, a user's token. Later requests take theirs
//     from it, by reference.
//   - A replay sends the whole scenario once more to a fresh start. What differs between replays (times, random IDs) is
//     for package contract to find.
//   - Left is a route that no scenario sends, with the reason.
//
// For example, of POST /users, POST /articles and GET /articles/{slug} a session registers a user, makes an article with
// the token of that answer, and asks for the article by the slug of the second one. Of these three requests and their
// errors it makes a Group, and sends it four times more.
//
// Everything is by rule and deterministic: the same routes and the same service give the same requests. The package never
// starts a process and never opens a connection; a contract.Server does.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

// Options are the settings of Record. The zero value has the defaults.
type Options struct {
	// Name is what the users that a scenario makes are called, with a number behind it; "" is casey.
	Name string
	// Login is a user that the service has from its start; nil: the scenario registers one.
	Login *schemas.Login
	// Mail says that a sink takes the mails of the service: the scenario reads them. Addresses are those of users that the service may
	// have from its start, who need no password where a link is sent to them; one of them is Login where nobody can register.
	Mail      bool
	Addresses []string
	// Replays is how often the frozen scenario is sent; 0 is 4.
	Replays int
	// Groups are those to record; nil is all.
	Groups []string
	Limits Limits
	// Probes are paths that are asked with GET and without credentials at the first start.
	Probes []string
	// Pause is the time between two replays of a group; 0 is 1.1 s, so that no two of them
	// are in the same second.
	Pause time.Duration
	// Sleep waits; nil is a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Proposer is asked for further requests of each group; nil is nobody.
	Proposer Proposer
	// Look starts the service with a hook (package look), for finding the scenarios: what a request made a handler read is
	// then known. Its clients are look.Tellers. nil: the server of the recording is asked, and only its answers tell.
	Look contract.Server
	// Progress is told before each group; nil is nobody.
	Progress func(done, of int, group string)
}

// Limits bound what is sent and kept. Zero fields have the defaults.
type Limits struct {
	Requests int // sent to find the scenario of one group; 300
	Cases    int // of one group; 120
	Tries    int // of one endpoint; 10
	Failures int // connections without an answer in one group, before it is given up; 8
	Body     int // bytes of an answer that a case may have; 256 KiB
}

func (o Options) filled() Options {
	set := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	set(&o.Replays, 4)
	set(&o.Limits.Requests, 300)
	set(&o.Limits.Cases, 120)
	set(&o.Limits.Tries, 10)
	set(&o.Limits.Failures, 8)
	set(&o.Limits.Body, 256<<10)
	if o.Name == "" {
		o.Name = "casey"
	}
	if o.Pause == 0 {
		o.Pause = 1100 * time.Millisecond
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Recording is what was sent to a service and what it answered.
type Recording struct {
	Auth   Auth
	Groups []*Group // by name
	Left   []Left   // routes that no group sends
	// Unready are those of Options.Probes that the service answered with 5xx, and the first that
	// it did not answer.
	Unready []string
	// Routes are those of the table that was recorded, with what was learnt of them since.
	Routes []routes.Route
}

// Group is the recorded scenario of one group of endpoints.
type Group struct {
	Name string
	// Cases are in the order of the requests, without Expect. Those of other groups stand here
	// because cases of this one need them.
	Cases []contract.Case
	// Replays has the answers of each replay, in the order of Cases. Shifted says of each
	// whether its clock was shifted.
	Replays [][]contract.Exchanged
	Shifted []bool
	// Endpoints are all of the group but those in Recording.Left.
	Endpoints []Endpoint
	Left      []Left
	Sent      int // requests that finding the scenario took
	// Proposed is what became of the proposals of Options.Proposer.
	Proposed []Verdict
}

// Endpoint is what the first replay says of one endpoint.
type Endpoint struct {
	schemas.Endpoint
	Status   int  // of its happy case; 0: it was not sent, or there was no answer
	Answered bool // with 2xx or 3xx
	Create   bool // it makes something: a POST that answered
	ReadBack bool // a later answer shows what it made or changed
}

// Left is what was left out, and why.
type Left struct{ What, Why string }

func (l Left) String() string { return l.What + ": " + l.Why }

// Answered is the number of endpoints that answered 2xx or 3xx, and of all endpoints of the
// group. Those in Recording.Left do not count.
func (g *Group) Answered() (answered, of int) {
	for _, e := range g.Endpoints {
		if e.Answered {
			answered++
		}
	}
	return answered, len(g.Endpoints)
}

// ReadBack is the number of endpoints of whose work a later answer shows something: a read, or
// that the same cannot be made twice.
func (g *Group) ReadBack() int {
	n := 0
	for _, e := range g.Endpoints {
		if e.ReadBack {
			n++
		}
	}
	return n
}

// Own is the number of cases of the group's own endpoints, and of those of others.
func (g *Group) Own() (own, others int) {
	for _, c := range g.Cases {
		if c.Group == g.Name {
			own++
		}
	}
	return own, len(g.Cases) - own
}

// Independent reports whether the scenario of a group sends nothing to the endpoints of
// another: its cases hold whatever those answer.
func (r *Recording) Independent(group, of string) bool {
	for _, g := range r.Groups {
		if g.Name == group {
			return !slices.ContainsFunc(g.Cases, func(c contract.Case) bool { return c.Group == of })
		}
	}
	return false
}

// Record finds the scenario of every group and replays it. A service that does not start at
// all is a *contract.NotReady; any other error is a fault of the machine. A group that cannot
// be recorded has its reasons in Left and no cases.
func Record(ctx context.Context, table routes.Table, server contract.Server, o Options) (*Recording, error) {
	o = o.filled()
	r := &recorder{server: server, options: o, known: map[string]form{}, killers: map[string]bool{}, mailers: map[string]bool{}, proposals: map[string]*proposed{}}
	r.take(table)
	if err := r.findAuth(ctx); err != nil {
		return nil, err
	}
	out := &Recording{Left: r.left, Unready: r.unready}
	for _, name := range r.groups() {
		if o.Groups != nil && !slices.Contains(o.Groups, name) {
			continue
		}
		out.Groups = append(out.Groups, &Group{Name: name, Left: r.leftOf(name)})
	}
	for i, g := range out.Groups {
		if o.Progress != nil {
			o.Progress(i, len(out.Groups), g.Name)
		}
		if err := r.find(ctx, g); err != nil {
			return nil, fmt.Errorf("group %q: %w", g.Name, err)
		}
	}
	out.Auth = r.auth.public()
	for _, one := range append(r.routes, r.unsent...) {
		out.Routes = append(out.Routes, one.Route)
	}
	out.Routes = routes.Sort(out.Routes)
	if err := r.replays(ctx, out.Groups); err != nil {
		return nil, err
	}
	for _, g := range out.Groups {
		r.judge(g)
	}
	if o.Progress != nil {
		o.Progress(len(out.Groups), len(out.Groups), "")
	}
	return out, nil
}

// recorder is what all groups have in common.
type recorder struct {
	server  contract.Server
	options Options
	routes  []*route
	left    []Left
	unsent  []*route
	auth    auth
	known   map[string]form // requests that worked, by endpoint
	killers map[string]bool // endpoints after which nobody answered
	unready []string        // as of Recording
	mailers map[string]bool // whether endpoints that worked sent a mail

	proposals map[string]*proposed // by group
}

// fresh starts the service, runs f and stops it.
func (r *recorder) fresh(ctx context.Context, shifted bool, f func(contract.Client) error) error {
	return fresh(ctx, r.server, shifted, f)
}

// looked is fresh with the hook, where there is one.
func (r *recorder) looked(ctx context.Context, f func(contract.Client) error) error {
	if r.options.Look == nil {
		return r.fresh(ctx, false, f)
	}
	return fresh(ctx, r.options.Look, false, f)
}

func fresh(ctx context.Context, server contract.Server, shifted bool, f func(contract.Client) error) (err error) {
	c, stop, err := server.Fresh(ctx, shifted)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := stop()
		err = errors.Join(err, stopErr)
	}()
	return f(c)
}
