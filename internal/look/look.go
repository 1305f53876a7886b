// Package look reads what a service told about itself in its first start.
//
// The words:
//
//   - A hook is code of ours that a language puts into the process of a service: a module on Python's path, or
//     patched copies of Go's packages. It writes one line of JSON for each fact (Fact) to the file that the variable
//     File names.
//   - A look is one start with a hook. Everything else of a task (recordings, proofs, what is shipped) runs without.
//   - A report is what the facts of a look say together: routes, settings, connections, bodies.
//
// A hook is a stranger's witness, since the service can write to the same file. So a report only proposes: a route counts
// when it answers, and a handler is a handler when masking it changes the answer. The package bounds what it reads, and
// takes no path that leaves the tree. It never starts anything.
//
// For example, a Gin service that fails for want of a setting and is started again with it tells
//
//	{"fact":"env","name":"PORT","set":false,"at":"/testbed/main.go:12"}
//	{"fact":"route","framework":"gin","method":"GET","path":"/users/:id","func":"example.com/app/users.(*API).Get-fm"}
//	{"fact":"answer","stack":[{"func":"example.com/app/users.(*API).Get","file":"/testbed/users/api.go","line":40}]}
//	{"fact":"dial","addr":"db:5432","at":"/testbed/store.go:30"}
//	{"fact":"listen","addr":"[::]:8080","at":"/testbed/main.go:40"}
package look

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
)

// File is the variable that names the file of facts, and Path the file that we give.
const (
	File = "BENCHMINT_LOOK"
	Path = "/tmp/benchmint-look.jsonl"
)

// Bounds of a report. What is beyond them is left out, and Report.Cut says so.
const (
	MaxBytes   = 4 << 20 // of all facts
	maxLine    = 64 << 10
	maxRoutes  = 2000
	maxOthers  = 1000 // of each other kind
	maxListens = 50
	maxText    = 1000 // bytes of a name or path
	maxFields  = 200  // of a body, and of each object in it
	maxDepth   = 6
	maxStack   = 40
)

// Fact is one line of a hook. Fact says which fields are set.
type Fact struct {
	// Fact is env, file, dial, listen, route, request, body, key or answer.
	Fact string `json:"fact"`

	// env: the service asked for a variable. Set: it has it. Default: what it takes otherwise, where the hook is told.
	Name    string `json:"name,omitempty"`
	Set     bool   `json:"set,omitempty"`
	Default string `json:"default,omitempty"`

	// dial: it connects to host:port, or looks for host: alone. listen: it listens on host:port, and takes connections. file: it opens a file that is
	// not there (Path).
	Addr string `json:"addr,omitempty"`

	// route: Method ("" is any), Path as the framework writes it, Framework. Func is the name of the function that
	// answers as the language has it, without what wraps it; File and Line are where it begins; Wraps are the functions
	// in front of it. Doc is true of routes that the framework adds itself: documentation, static files.
	// request: Method and Path of a request that begins.
	Framework string   `json:"framework,omitempty"`
	Method    string   `json:"method,omitempty"`
	Path      string   `json:"path,omitempty"`
	Func      string   `json:"func,omitempty"`
	File      string   `json:"file,omitempty"`
	Line      int      `json:"line,omitempty"`
	Wraps     []string `json:"wraps,omitempty"`
	Doc       bool     `json:"doc,omitempty"`

	// body: what a handler reads, or the framework reads for it: In is json, form, query, path or header. Of a route fact
	// these are its schemas, where the framework knows them. key: a mapping was asked for Name (In).
	In     string  `json:"in,omitempty"`
	Type   string  `json:"type,omitempty"` // the name that the code has for it
	Fields []Field `json:"fields,omitempty"`
	Takes  []Fact  `json:"takes,omitempty"`

	// answer: the status of an answer is given. Stack are the functions of the tree that run then, the innermost first.
	Stack []routes.Frame `json:"stack,omitempty"`

	// At is "file:line" of the line of the tree that did it; "" where none is on the stack.
	At string `json:"at,omitempty"`
}

// Field is one member of an object, or one parameter.
type Field = routes.Field

// Report is what the facts of a look say together, each kind in the order of its first fact, each fact once.
type Report struct {
	Env   []Fact // of a variable that was set later, the last fact holds
	Files []Fact
	Dials []Fact
	// Listens are of all its servers: those of metrics and of other protocols, too.
	Listens []Fact
	Routes  []Fact
	// Reads are the bodies and keys that were read, each with Method and Path of the request before it.
	Reads []Fact
	// Answers are the facts of answers, each with Method and Path of the request before it.
	Answers []Fact
	Cut     bool // there was more than the bounds allow
}

// Teller is a running service with a hook.
type Teller interface {
	// Told is all that it told until now.
	Told(ctx context.Context) (Report, error)
	// Port is where it answers.
	Port() int
}

// Read reads the lines of a hook. Lines that are none are left out: the service may write what it likes.
func Read(data []byte) Report {
	var r Report
	if len(data) > MaxBytes {
		data, r.Cut = data[:MaxBytes], true
	}
	var at Fact
	seen := map[string]int{}
	for line := range bytes.Lines(data) {
		var f Fact
		if len(line) > maxLine || json.Unmarshal(line, &f) != nil || !f.sound() {
			continue
		}
		switch f.Fact {
		case "env":
			r.add(&r.Env, f, seen, f.Name, maxOthers)
		case "file":
			r.add(&r.Files, f, seen, f.Path, maxOthers)
		case "dial":
			r.add(&r.Dials, f, seen, f.Addr, maxOthers)
		case "listen":
			r.add(&r.Listens, f, seen, f.Addr, maxListens)
		case "route":
			r.add(&r.Routes, f, seen, f.Method+" "+f.Path, maxRoutes)
		case "request":
			at = f
		case "body", "key":
			f.Method, f.Path = at.Method, at.Path
			r.add(&r.Reads, f, seen, strings.Join([]string{f.Method, f.Path, f.In, f.Name, f.Type}, " "), maxOthers)
		case "answer":
			f.Method, f.Path = at.Method, at.Path
			r.add(&r.Answers, f, seen, f.Method+" "+f.Path, maxOthers)
		}
	}
	return r
}

// add keeps a fact. Of those with one key the last holds, and of routes the first whose function lies in the tree: a framework
// may wrap it and declare it again.
func (r *Report) add(to *[]Fact, f Fact, seen map[string]int, key string, most int) {
	key = f.Fact + " " + key
	if i, ok := seen[key]; ok {
		if _, own := InTree((*to)[i].File, ""); f.Fact != "route" || !own && f.Func != "" {
			(*to)[i] = f
		}
		return
	}
	if len(*to) >= most {
		r.Cut = true
		return
	}
	seen[key] = len(*to)
	*to = append(*to, f)
}

// Ports are those that the service listens on, in the order in which it began to, each once: whatever the host, as a loopback,
// all interfaces and IPv6 are one machine.
func (r Report) Ports() []int {
	var out []int
	for _, f := range r.Listens {
		_, text, err := net.SplitHostPort(f.Addr)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(text, 10, 16); err == nil && n > 0 && !slices.Contains(out, int(n)) {
			out = append(out, int(n))
		}
	}
	return out
}

// sound reports whether the texts of a fact are short, and its fields few.
func (f Fact) sound() bool {
	if len(f.Stack) > maxStack || slices.ContainsFunc(f.Stack, func(s routes.Frame) bool { return len(s.Func)+len(s.File) > maxText }) {
		return false
	}
	for _, s := range append([]string{f.Name, f.Default, f.Addr, f.Framework, f.Method, f.Path, f.Func, f.File, f.In, f.Type, f.At}, f.Wraps...) {
		if len(s) > maxText {
			return false
		}
	}
	return few(f.Fields, 0) && len(f.Takes) <= 8 && !slices.ContainsFunc(f.Takes, func(t Fact) bool { return len(t.Takes) > 0 || !t.sound() })
}

func few(all []Field, depth int) bool {
	if len(all) > maxFields || depth > maxDepth {
		return false
	}
	return !slices.ContainsFunc(all, func(f Field) bool {
		return len(f.Name) > maxText || len(f.Pattern) > maxText || len(f.Enum) > maxFields || !few(f.Fields, depth+1) || f.Items != nil && !few([]Field{*f.Items}, depth+1)
	})
}

// InTree is the path in the tree of an absolute path in the sandbox; false where it lies elsewhere. A service that runs in a
// copy of its tree (schemas.Service.Copied) gives the copy as root.
func InTree(abs, root string) (string, bool) {
	if root == "" {
		root = sandbox.TreePath
	}
	rest, ok := strings.CutPrefix(abs, root+"/")
	if !ok || rest == "" || slices.Contains(strings.Split(rest, "/"), "..") {
		return "", false
	}
	return rest, true
}

// Place splits "file:line"; 0 where there is no line.
func Place(at string) (file string, line int) {
	i := strings.LastIndexByte(at, ':')
	if i < 0 {
		return at, 0
	}
	n, err := strconv.Atoi(at[i+1:])
	if err != nil || n < 0 {
		return at, 0
	}
	return at[:i], n
}
