// Package fleet lets the steps of a run be done on other machines, over NATS JetStream.
//
// The words:
//
//   - The coordinator is the process of the run. It has the step table, which alone says what is done, and the only
//     copies of the sources. Its NATS server is in its own process (Serve), or elsewhere.
//   - A worker is a process on another machine, with slots for sandboxes. It has no source, no configuration and no folder
//     in common with anybody: it asks the coordinator for what it needs.
//   - A task is one step that was given out (pipeline.Task). It is in the stream of tasks until its worker has reported.
//   - A report is how a task ended. It is in the stream of reports until the step table has the end, so that a
//     coordinator that is killed and begins again finds what workers did meanwhile.
//   - A lease is how long a worker may be silent over a task. When it ends the server says so in the stream of deaths, and
//     no other worker gets the task: the coordinator books a crash, and gives the step out again with other suspects, one
//     at a time.
//   - A claim is a task that a worker has begun. A server that was killed may forget what it has delivered and deliver it
//     once more; the coordinator, which hears from each worker what it does, then says no.
//   - A depot is where the coordinator keeps what workers fetch and bring, by digest: blobs, environments, sources.
//
// For example, "run --listen :4222" opens a Coordinator and puts it into pipeline.RunOptions.Far; "work
// nats://HOST:4222" asks it for the configuration (Client), makes the same plan of it, and takes tasks (Client.Work).
//
// The package never decides what a step's end means, and never gives a worker a secret of the run: no key of a model, no
// token of GitHub. A worker can write no step and change nothing in the depot: it brings content, which is kept under its own
// digest.
package fleet

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Lease is how long a worker may be silent over a task, unless the coordinator says otherwise.
const Lease = 10 * time.Second

// The streams, and the beginnings of their subjects.
const (
	tasks   = "benchmint_tasks"
	reports = "benchmint_reports"
	deaths  = "benchmint_deaths"
	takers  = "workers" // the consumer of tasks

	taskSubject   = "benchmint.task."
	reportSubject = "benchmint.report."
	askSubject    = "benchmint.ask."
	beatSubject   = "benchmint.beat"
	overSubject   = "benchmint.over"
	deathSubject  = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + tasks + "." + takers
)

// keep is how long a report waits for a coordinator.
const keep = 7 * 24 * time.Hour

// inline is how many bytes of JSON go through a message as they are; more goes through the depot.
const inline = 256 << 10

// Beat is what a worker says of itself, three times a lease.
type Beat struct {
	Worker string    `json:"worker"` // its name, unique
	Host   string    `json:"host"`
	Slots  int       `json:"slots"` // steps at one time
	Doing  []Doing   `json:"doing,omitempty"`
	Leaves bool      `json:"leaves,omitempty"` // it takes nothing more
	Seen   time.Time `json:"seen,omitzero"`    // by the coordinator, of its clock
}

// Doing is a step that a worker does.
type Doing struct {
	Stage string    `json:"stage"`
	Key   string    `json:"key"`
	Since time.Time `json:"since"`          // of the worker's clock
	Text  string    `json:"text,omitempty"` // how far it is
	Task  string    `json:"task"`           // its name in subjects
}

// wire is a report on its way.
type wire struct {
	pipeline.Report
	Worker string `json:"worker"`
	Back   bool   `json:"back,omitempty"`  // the worker gives the task back
	Other  string `json:"other,omitempty"` // why this worker cannot do the task at all
	died   bool
	fault  error // of this machine: what the worker said cannot be read here
}

// parcel is JSON in a message, or where it is in the depot.
type parcel struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Blob schemas.Digest  `json:"blob,omitempty"`
}

// ErrSilent means that the coordinator did not answer for as long as a worker waits.
var ErrSilent = errors.New("the run does not answer")

// Blobs keeps content by its digest.
type Blobs interface {
	Put(b []byte) (schemas.Digest, error)
	Get(d schemas.Digest) ([]byte, error)
}

// pack puts v into a message, or into the depot where it is large.
func pack(v any, blobs Blobs) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	p := parcel{JSON: raw}
	if len(raw) > inline {
		p.JSON = nil
		if p.Blob, err = blobs.Put(raw); err != nil {
			return nil, err
		}
	}
	return json.Marshal(p)
}

// unpack is the opposite of pack.
func unpack(message []byte, v any, blobs Blobs) error {
	var p parcel
	err := json.Unmarshal(message, &p)
	if err == nil && p.Blob != "" {
		p.JSON, err = blobs.Get(p.Blob)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(p.JSON, v)
}

// name is the part of a digest that names a subject.
func name(d schemas.Digest) string { return string(d)[len("sha256:"):] }
