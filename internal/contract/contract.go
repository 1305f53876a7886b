// Package contract holds what was recorded from a service as cases: requests in an order, and what the answers have in
// common over several replays.
//
// The words:
//
//   - A Suite is the cases of a service; a Group of it begins with a fresh state of the service.
//   - A Case is one Request with what is expected of its answer. Its Kind says why it is asked: happy, anonymous, missing.
//   - A reference ("$ref": "create_article:body/slug") in a request stands for a value of an earlier answer. Resolve fills
//     it in and gives the Wire, which is the request as it is sent.
//   - A Matcher says what a value must be: equal to this, of this type, of this form (a time, a UUID), equal to what a
//     reference names, an object with these keys, a list or a set of these.
//   - Merge makes the expectations: where all replays gave the same value it is asked for, else only its form or its type.
//
// For example, three replays answer POST /articles with 201 and {"id": 7, "slug": "a-b", "at": …}, where the times differ.
// The case then expects 201 and an object with "id" equal to 7, "slug" equal to "a-b" and "at" of the form time.
//
// An expected value always comes from a recording, and a server's fault (5xx) is never a contract. The package never runs
// and never sends anything; a Client does.
package contract

import (
	"context"

	"github.com/benchmint/benchmint/schemas"
)

// Suite are the cases of a service, group by group. Each group begins with a fresh state of
// the service, and its cases run in order.
type Suite struct {
	Format string `json:"format"` // Format
	// Ready are paths without parameters that are asked with GET until the service answers all of
	// them without a server's fault, at most 6; none asks for "/".
	Ready  []string `json:"ready,omitempty"`
	Groups []*Group `json:"groups"`
}

// Format is what a Suite calls itself.
const Format = "benchmint-cases/1"

// Group is the scenario of one group of endpoints.
type Group struct {
	Name  string `json:"name"`
	Cases []Case `json:"cases"`
}

// Kind is why a case is asked.
type Kind string

// The kinds.
const (
	Happy     Kind = "happy"
	Anonymous Kind = "anonymous" // without the credentials that the happy case has
	Empty     Kind = "empty"     // with an empty body
	Missing   Kind = "missing"   // of what is not there
	Malformed Kind = "malformed" // by an identifier of another form
	Deleted   Kind = "deleted"   // of what a case before it deleted
	Duplicate Kind = "duplicate" // the same once more
	Other     Kind = "other"     // by somebody whose it is not
	Extra     Kind = "extra"     // proposed by a model
	Mail      Kind = "mail"      // not of the service: what it sent by mail, as its sink tells it; never judged
)

// Case is one request and what is expected of its answer.
type Case struct {
	ID       string           `json:"id"` // ^[a-z0-9_]{3,80}$, once in a group
	Endpoint schemas.Endpoint `json:"endpoint"`
	Group    string           `json:"group"` // of the endpoint: the scenario of a group asks others, too
	Kind     Kind             `json:"kind"`
	Needs    []string         `json:"needs,omitempty"` // IDs of cases before it whose answers the request has values of, or that made what it asks for
	Request  Request          `json:"request"`
	// Expect is nil for a step that is not judged: it is sent for those after it.
	Expect *Expect `json:"expect,omitempty"`
}

// TestFile is the file of the suite that asks what the cases say.
const TestFile = schemas.SuiteFolder + "/test_func.py"

// TestID is the ID of a judged case of a group in reports and datasets.
func (c Case) TestID(group string) string {
	return TestFile + "::test_case[" + group + "-" + c.ID + "]"
}

// Request is what is sent. A value in Params, Query, Headers and Body, at any depth, is a literal
// or a reference: an object with the one key "$ref" (a Ref as text), and perhaps "$form", in
// which %s stands for the value ("Token %s").
type Request struct {
	Path     string         `json:"path"` // of the endpoint, with {name}; Params fill it
	Params   map[string]any `json:"params,omitempty"`
	Query    map[string]any `json:"query,omitempty"`
	Headers  map[string]any `json:"headers,omitempty"`
	Encoding string         `json:"encoding,omitempty"` // json, form, raw; "" sends no body
	Body     any            `json:"body,omitempty"`
}

// Ref is CASE:PLACE, the place being body and a path in it (body/article/slug, body/0/id),
// header/Location, header/Location/last (the last segment of its path) or cookie/NAME.
// Answer.At has the rules.
const (
	RefKey  = "$ref"
	FormKey = "$form"
)

// Expect is what every replay answered.
type Expect struct {
	Status   int      `json:"status"`
	Type     string   `json:"type,omitempty"` // media type without parameters
	Location *Matcher `json:"location,omitempty"`
	Body     *Matcher `json:"body,omitempty"` // nil: the body is not judged
}

// Matcher is one of a closed set: exactly one field is set.
type Matcher struct {
	Equal  *any                `json:"equal,omitempty"`  // this very JSON value
	Type   string              `json:"type,omitempty"`   // string, integer, number, boolean, array, object, null
	Ref    string              `json:"ref,omitempty"`    // equal to a value of an earlier answer or request: CASE:PLACE, request/… too
	Form   string              `json:"form,omitempty"`   // uuid, time, jwt, integer
	Object map[string]*Matcher `json:"object,omitempty"` // these keys and no others
	List   []*Matcher          `json:"list,omitempty"`   // in this order, none else; an empty list is Equal []
	Set    []*Matcher          `json:"set,omitempty"`    // in any order, none else
}

// Wire is a request as it is sent, every reference resolved.
type Wire struct {
	Method  string            `json:"method"`
	Target  string            `json:"target"` // path and query, escaped
	Headers map[string]string `json:"headers,omitempty"`
	Body    []byte            `json:"body,omitempty"`
	Port    int               `json:"port,omitempty"` // that is asked; 0 is the service's
}

// Answer is what came back.
type Answer struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"` // lower-case names; several of one name are one a line
	Body    []byte            `json:"body,omitempty"`
	// Failed says how the connection ended without an answer (reset, timeout, refused); "" where
	// there is an answer. It is a failure of the service, never of the machine.
	Failed string `json:"failed,omitempty"`
}

// Client asks a running service. An error is a fault of the machine.
type Client interface {
	Do(ctx context.Context, w Wire) (Answer, error)
}

// Server starts a service with its fresh state, as often as it is asked.
type Server interface {
	// Fresh starts the service and waits until it is ready (package serve). shifted sets its
	// clock ahead (internal/clock), where Shifts. stop ends it and gives its log. A service that does not
	// get ready is a *NotReady; any other error is a fault of the machine.
	Fresh(ctx context.Context, shifted bool) (c Client, stop func() (log []byte, err error), err error)
	Shifts() bool
}

// NotReady is a service that ended, or did not answer in its time.
type NotReady struct {
	Why string // one line
	Log []byte // its last lines
	// Told is what a hook in it told (package look), nil without one.
	Told []byte
	// Listens are the ports that something of the service listens on, of one that runs and
	// gives no answer; nil is not known.
	Listens []int
}

func (n *NotReady) Error() string { return "the service does not get ready: " + n.Why }
