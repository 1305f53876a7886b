// Package relay starts services in sandboxes and asks them, one request at a time, from outside:
// a contract.Server.
//
// The service and a small program that passes on requests run in one sandbox, which has no
// network but its own. The package never opens a connection on the host. It is for recording a
// service that is trusted to be itself; the proof of a task keeps tester and service apart.
package relay

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed relay.pl
var program []byte

const programPath = sandbox.RunPath + "/relay.pl"

// Bounds.
const (
	answerTime = 5 * time.Second
	answerSize = 1 << 20 // bytes of a whole answer
	logSize    = 64 << 10
	settleTime = 6 * time.Second
	stopTime   = 15 * time.Second
	patience   = time.Minute
	// starving is how many times Patience a service may take when other load keeps it from
	// the CPU.
	starving = 5
)

// Server starts one service as often as it is asked.
type Server struct {
	Sandbox sandbox.Sandbox
	Layer   sandbox.Layer // of the state, prepared (serve.Prepare)
	Service schemas.Service
	Env     map[string]string // the recipe's
	// Shift says that the service's clock can be shifted in this sandbox (serve.Shifts).
	Shift bool
	// Probes are asked until they are answered without a server's fault (serve.Probes).
	Probes []string
	// Told is the file inside to which a hook writes what the service tells (package look); "" is none.
	Told   string
	Inputs []sandbox.File // of the hook, below sandbox.RunPath
	// Patience is how long a service may take to answer for the first time, without the time
	// in which it waits for a processor; 0 is a minute.
	Patience time.Duration
	Limits   sandbox.Limits
}

var (
	_ contract.Server = (*Server)(nil)
	_ look.Teller     = (*client)(nil)
)

// Shifts reports whether Fresh can shift the clock.
func (s *Server) Shifts() bool { return s.Shift }

// Fresh starts the service on a fresh copy of its layer and waits until it is ready.
func (s *Server) Fresh(ctx context.Context, shifted bool) (contract.Client, func() ([]byte, error), error) {
	if shifted && !s.Shift {
		return nil, nil, errors.New("the clock of this service cannot be shifted")
	}
	c, err := s.start(ctx, shifted)
	if err != nil {
		return nil, nil, err
	}
	err = c.ready(ctx, s)
	if s.Told != "" {
		if _, fault := c.Told(ctx); fault != nil && err == nil {
			err = fault
		}
	}
	if err != nil {
		log, stopped := c.stop()
		var not *contract.NotReady
		if errors.As(err, &not) {
			not.Log, not.Told = log, c.facts
		}
		if stopped != nil {
			return nil, nil, stopped // of the machine: what the service did says nothing
		}
		return nil, nil, err
	}
	return c, c.stop, nil
}

// client asks one service.
type client struct {
	look   string // Server.Told
	facts  []byte // all that was told
	cancel context.CancelFunc
	in     *os.File
	out    *bufio.Reader
	pipe   *os.File
	log    *tail

	ended chan struct{} // closed when the run has ended; then:
	res   sandbox.Result
	err   error

	mu     sync.Mutex
	port   int           // that is asked
	other  time.Duration // since of the first time that it listened on another one
	met    bool          // the relay has begun
	state  string
	since  time.Duration // the service began, when it was last asked
	waited time.Duration // for a processor, when a request last failed
	ports  []int         // that something listened on then
	once   sync.Once
}

// start begins a run. Its streams are pipes of the system: what reads or writes one of ours
// would outlive a command that is killed.
func (s *Server) start(ctx context.Context, shifted bool) (*client, error) {
	command := serve.Start(s.Service, shifted)
	command.Argv = append([]string{"/usr/bin/perl", programPath, strconv.Itoa(int(answerTime / time.Second)), strconv.Itoa(answerSize)}, command.Argv...)
	inside, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outside, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inside.Close(), in.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &client{port: s.Service.Port, look: s.Told, cancel: cancel, in: in, out: bufio.NewReader(outside), pipe: outside, log: &tail{}, ended: make(chan struct{}), state: "up"}
	go func() {
		defer close(c.ended)
		c.res, c.err = s.Sandbox.Run(ctx, sandbox.Run{
			Layer: s.Layer, Command: command, Env: maps.Clone(s.Env), Limits: s.Limits, Names: s.Service.Names,
			Inputs:      append([]sandbox.File{{Path: programPath, Mode: 0o444, Data: program}}, s.Inputs...),
			Interactive: &sandbox.Terminal{In: inside, Out: out, Err: c.log},
		})
		inside.Close()
		out.Close()
	}()
	return c, nil
}

// stop ends the service, and gives the end of its log. An error is a fault of the machine.
func (c *client) stop() ([]byte, error) {
	c.once.Do(func() {
		c.in.Close()
		t := time.NewTimer(stopTime)
		defer t.Stop()
		select {
		case <-c.ended:
		case <-t.C:
		}
	})
	ran := true
	select {
	case <-c.ended:
	default:
		ran = false
	}
	c.cancel()
	<-c.ended
	c.pipe.Close()
	if c.err != nil && ran {
		return c.log.Bytes(), c.err
	}
	return c.log.Bytes(), nil
}

// ready waits until the service answers anything, and then until its probes are answered well.
func (c *client) ready(ctx context.Context, s *Server) error {
	patient := cmp.Or(s.Patience, patience)
	for wait := 30 * time.Millisecond; ; wait = min(2*wait, 250*time.Millisecond) {
		failed, err := c.answers(ctx, s)
		if err != nil {
			return err
		}
		if failed == "" {
			break
		}
		if why := c.gone(); why != "" {
			return &contract.NotReady{Why: why}
		}
		if err := c.late(patient, failed, s.Service); err != nil {
			return err
		}
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
	return c.settle(ctx, s.Probes)
}

// late is the end of a service that runs and has not answered for a time: one that had its
// patience to itself is not ready, and one that waited for a processor says nothing.
func (c *client) late(patient time.Duration, failed string, s schemas.Service) error {
	c.mu.Lock()
	since, waited := c.since, c.waited
	listens := slices.DeleteFunc(append([]int{}, c.ports...), func(port int) bool { return serve.Own(s, port) })
	c.mu.Unlock()
	switch {
	case since-waited >= patient:
		return &contract.NotReady{Why: fmt.Sprintf("it gives no answer within %v: %s", patient, failed), Listens: listens}
	case since >= starving*patient:
		return &sandbox.ShortageError{
			Of: "processor time", Why: fmt.Sprintf("a service that starts waited %v of %v for it", waited.Round(time.Second), since.Round(time.Second)),
			Get: "lower proof.parallel, or end what else runs here, and run again",
		}
	}
	return nil
}

// settle asks the probes until two rounds of them were answered without a server's fault, or
// for a while: some services have an endpoint that never is.
func (c *client) settle(ctx context.Context, probes []string) error {
	if len(probes) == 0 {
		return nil
	}
	settling, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	var rounds serve.Rounds
	for {
		var statuses []int
		for _, p := range probes {
			a, err := c.at(ctx, c.Port(), p)
			if err != nil {
				return err
			}
			statuses = append(statuses, a.Status)
		}
		if why := c.gone(); why != "" {
			return &contract.NotReady{Why: why}
		}
		if rounds.Add(statuses) {
			return nil
		}
		if !pause(settling, serve.BetweenRound) {
			return ctx.Err()
		}
	}
}

// pause waits, and reports whether there is still time.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// gone says how the service ended; "" while it runs.
func (c *client) gone() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
		if c.res.End != sandbox.Exited && c.res.End != "" {
			return "it passed the limit on " + string(c.res.End)
		}
		return "it ended its sandbox"
	default:
	}
	switch {
	case c.state == "up":
		return ""
	case strings.HasPrefix(c.state, "signal-"):
		return "it ended by signal " + strings.TrimPrefix(c.state, "signal-")
	}
	return "it ended with exit code " + c.state
}

// Do sends one request. A service that does not answer is an Answer that failed.
func (c *client) Do(ctx context.Context, w contract.Wire) (contract.Answer, error) {
	return c.do(ctx, cmp.Or(w.Port, c.Port()), w)
}

func (c *client) do(ctx context.Context, port int, w contract.Wire) (contract.Answer, error) {
	if err := ctx.Err(); err != nil {
		return contract.Answer{}, err
	}
	stop := context.AfterFunc(ctx, c.cancel)
	defer stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	request := raw(host(port), w)
	word, data, err := c.pass(append(fmt.Appendf(nil, "%d %d\n", port, len(request)), request...))
	if err != nil {
		return c.broken(ctx, err)
	}
	return parse(word, data, w.Method), nil
}

// broken is what a request gets whose sandbox has ended.
func (c *client) broken(ctx context.Context, err error) (contract.Answer, error) {
	c.cancel()
	<-c.ended
	switch {
	case ctx.Err() != nil:
		return contract.Answer{}, ctx.Err()
	case c.err != nil && !errors.Is(c.err, context.Canceled):
		return contract.Answer{}, c.err
	case !c.met:
		return contract.Answer{}, fmt.Errorf("the relay does not start (exit %d): %s", c.res.ExitCode, bytes.TrimSpace(c.log.Bytes()))
	case c.res.End != sandbox.Exited && c.res.End != "":
		return contract.Answer{Failed: "the service passed the limit on " + string(c.res.End)}, nil
	case errors.Is(err, errProtocol):
		return contract.Answer{}, err
	}
	return contract.Answer{Failed: "the service ended its sandbox"}, nil
}

// Told implements look.Teller. Of a service that has ended its sandbox it is what was told before.
func (c *client) Told(ctx context.Context) (look.Report, error) {
	if err := ctx.Err(); err != nil {
		return look.Report{}, err
	}
	stop := context.AfterFunc(ctx, c.cancel)
	defer stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.look != "" && len(c.facts) <= look.MaxBytes {
		_, data, err := c.pass([]byte("look " + c.look + "\n"))
		if err != nil {
			if _, err := c.broken(ctx, err); err != nil {
				return look.Report{}, err
			}
			break
		}
		if len(data) == 0 {
			break
		}
		c.facts = append(c.facts, data...)
	}
	return look.Read(c.facts), nil
}

var errProtocol = errors.New("the relay does not keep to its form")

// pass hands a request to the relay, with the line in front of it, and reads what it brings.
func (c *client) pass(request []byte) (word string, data []byte, err error) {
	if !c.met {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return "", nil, err
		}
		if line != "ready\n" {
			return "", nil, fmt.Errorf("%w: %q", errProtocol, line)
		}
		c.met = true
	}
	if _, err := c.in.Write(request); err != nil {
		return "", nil, err
	}
	line, err := c.out.ReadSlice('\n')
	if err != nil {
		return "", nil, err
	}
	parts := strings.Fields(string(line))
	if len(parts) != 6 {
		return "", nil, fmt.Errorf("%w: %q", errProtocol, line)
	}
	var numbers [3]int
	for i := range numbers {
		if numbers[i], err = strconv.Atoi(parts[[]int{2, 3, 5}[i]]); err != nil {
			return "", nil, fmt.Errorf("%w: %q", errProtocol, line)
		}
	}
	n := numbers[2]
	if n < 0 || n > answerSize+1<<17 {
		return "", nil, fmt.Errorf("%w: %q", errProtocol, line)
	}
	data = make([]byte, n)
	if _, err := io.ReadFull(c.out, data); err != nil {
		return "", nil, err
	}
	c.state, c.since = parts[1], max(c.since, time.Duration(numbers[0])*time.Millisecond) // of a look it is 0
	if parts[0] != "ok" {
		c.waited, c.ports = time.Duration(numbers[1])*time.Millisecond, nil
		for _, text := range strings.Split(parts[4], ",") {
			if port, err := strconv.Atoi(text); err == nil { // "-" is none
				c.ports = append(c.ports, port)
			}
		}
	}
	return parts[0], data, nil
}

// raw is a request as it goes over the connection. It has the headers that a suite sends.
func raw(host string, w contract.Wire) []byte {
	headers := map[string]string{"Host": host, "User-Agent": "benchmint", "Accept-Encoding": "identity"}
	for name, value := range w.Headers {
		for have := range headers {
			if strings.EqualFold(have, name) {
				delete(headers, have)
			}
		}
		headers[name] = value
	}
	headers["Connection"] = "close"
	if len(w.Body) > 0 || w.Method != http.MethodGet {
		headers["Content-Length"] = strconv.Itoa(len(w.Body))
	}
	var b bytes.Buffer
	oneLine := strings.NewReplacer("\r", "", "\n", "")
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", oneLine.Replace(w.Method), strings.ReplaceAll(oneLine.Replace(w.Target), " ", "%20"))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(&b, "%s: %s\r\n", oneLine.Replace(name), oneLine.Replace(headers[name]))
	}
	b.WriteString("\r\n")
	b.Write(w.Body)
	return b.Bytes()
}

// failures by the word of the relay.
var failures = map[string]string{
	"refused": "the connection was refused",
	"reset":   "the connection was closed without a whole answer",
	"ok":      "the connection was closed without a whole answer",
	"timeout": "no answer within 5 seconds",
	"large":   "the answer is longer than 1 MiB",
}

// parse reads an answer. One that is whole counts, however its connection ended.
func parse(word string, data []byte, method string) contract.Answer {
	failed := contract.Answer{Failed: failures[word]}
	if failed.Failed == "" {
		failed.Failed = word
	}
	r := bufio.NewReader(bytes.NewReader(data))
	for range 8 { // answers before the answer
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			if len(data) > 0 && word == "ok" {
				failed.Failed = "the answer is not HTTP"
			}
			return failed
		}
		if res.StatusCode >= 100 && res.StatusCode < 200 && res.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		open := res.ContentLength < 0 && len(res.TransferEncoding) == 0 // it ends with the connection
		if err != nil || word == "large" || open && word != "ok" {
			return failed
		}
		a := contract.Answer{Status: res.StatusCode, Headers: map[string]string{}, Body: body}
		for name, values := range res.Header {
			a.Headers[strings.ToLower(name)] = strings.Join(values, "\n")
		}
		return a
	}
	return failed
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-logSize):]...)
	if over := len(t.data) - logSize; over > logSize {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// Bytes is the end of the log.
func (t *tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.data[max(0, len(t.data)-logSize):])
}
