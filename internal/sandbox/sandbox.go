// Package sandbox runs strangers' code. There is one interface, with two implementations (docker, bwrap) and one
// conformance suite (sandboxtest).
//
// The words:
//
//   - A layer is a kept state of the file system, named by a key. A Base is the first one: a Debian system with
//     toolchains.
//   - A Build makes a layer from another one: it puts files in place and runs steps. Equal keys are built once.
//   - A Run executes one process on a fresh copy of a layer, and gives back its output and the files that were asked for.
//     What it writes to the layer is gone afterwards.
//   - An End says how a run ended: it exited, or it passed a limit of ours (time, memory, processes, disk, output). A
//     limit is never an error; an error is a fault of the machine.
//   - Network is what a build can reach: nothing, or package registries through our proxy. A run reaches nothing outside
//     of itself.
//   - A Beside is a command that serves while a run goes on, in a sandbox of its own: the service that a suite asks.
//   - A Channel hands a run bytes, and takes its report, in a way that no file of the sandbox holds.
//   - A Deployment is an image that is built from a Dockerfile of a stranger, as a solver wrote it.
//
// For example, to test a change: Base gives a system with Python, a Build installs the locked packages above it
// (Registries), a second Build puts the tree on top (NoNetwork), and a Run of pytest on that layer ends as Exited with
// code 1 and a report.
//
// The package never interprets what it runs, and never gives a run a credential, a route, or a way to write outside its
// own layer.
package sandbox

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Paths inside every sandbox, the same in both kinds.
const (
	TreePath       = "/testbed"        // the repository's tree; runs start here
	EnvPath        = "/opt/env"        // the env layer: dependencies, caches that runs need
	ToolchainPath  = "/opt/toolchains" // read-only: /opt/toolchains/<name>-<version>
	HomePath       = "/home/tester"    // HOME of UID, writable
	RunPath        = "/run/benchmint"  // inputs of ours for one build or run (CA bundle, plugin); never in a layer
	DefaultProcs   = 512
	DefaultMemory  = 4 << 30
	DefaultDisk    = 10 << 30
	DefaultOutput  = 64 << 20
	DefaultTimeout = 30 * time.Minute
	DefaultCollect = 256 << 20
)

// UID and GID are whom steps and runs are, in every sandbox, layer and image.
//
// The kernel counts inotify instances, pipe pages, pending signals and processes by the
// user of the machine, whatever namespace he is in, so that this is nobody else's
// number: above the login range of login.defs and adduser (1000 to 60000), outside of
// what systemd gives out (60001 to 60577 and from 61184) and of what Debian has
// allocated (64000 and above), and below 65536, because user namespaces of engines and
// of useradd's subordinate ranges hold that many.
const (
	UID = 61000
	GID = 61000
)

// Limits bound one build or run. Zero fields mean the defaults above.
type Limits struct {
	CPUs      float64
	Memory    int64 // bytes
	Processes int
	Disk      int64 // bytes written, all writable places together
	Output    int64 // bytes of standard output and error together
	Timeout   time.Duration
}

// End is how a run ended. Only Exited carries a meaningful exit code.
type End string

// The ends. All but Exited and Cancelled are limits of ours.
const (
	Exited    End = "exited"
	TimedOut  End = "timeout"
	Memory    End = "memory"
	Processes End = "processes"
	Disk      End = "disk"
	Output    End = "output"
)

// Base is what the first layer is made of.
type Base struct {
	Toolchains     []Toolchain
	SystemPackages []string // Debian package names
}

// Toolchain is a copied-in interpreter or compiler on the host's disk.
type Toolchain struct {
	schemas.Toolchain
	Dir string // host directory; appears as ToolchainPath/<name>-<version>
}

// Layer is a kept state of the sandbox's file system. Its ID means something to
// its own sandbox only; Key is what it was kept under.
type Layer struct {
	Key schemas.Digest
	ID  string
}

// Network is what a build can reach. Runs reach nothing outside themselves.
type Network int

// The networks.
const (
	NoNetwork  Network = iota
	Registries         // package registries only, through our filtering proxy
)

// Descriptors of a command that has a Channel.
const (
	GivenFD  = 8 // to read: Channel.Given, and then its end
	ReportFD = 9 // to write: Result.Report
)

// Channel is a way between us and a command that no file holds. What was given can be read
// once, by the command or whom it hands GivenFD on to. What is written to ReportFD cannot be
// read back, and no process can open either of them through /proc: it has them from the
// command, or not at all. A writer never waits for a reader, and one that outlives
// the command does not keep the run from its end.
type Channel struct {
	Given []byte
}

// File is one entry to put into a layer or a run, or one that is read back.
type File struct {
	Path string // absolute, inside the sandbox
	Mode fs.FileMode
	Data []byte // content; the target of a symlink; ignored with Delete
	// ModTime of zero is the Unix epoch. Delete removes Path (a tree, if it is one).
	ModTime time.Time
	Delete  bool
}

// Build makes a layer from a parent: files are put in place, steps are run in
// order as UID, the result is kept under Key. Equal keys are built once.
type Build struct {
	Key     schemas.Digest
	Parent  Layer
	Files   []File // owned by UID
	Steps   []schemas.Command
	Env     map[string]string
	Network Network
	// Registry answers in the place of all registries: nothing else is reached, and the
	// machine's own variables for registries do not hold. nil: Network says what is reached.
	Registry http.Handler
	// Caches outlive builds and are never in a layer: name → absolute path inside.
	// Steps see what fills have left in a cache. What they write to it themselves goes
	// with the build: a step may run code of a stranger, who would write for others.
	Caches map[string]string
	// Fill puts into the caches what the steps will look for.
	Fill *Fill
	// Inputs are files under RunPath that exist for the build only.
	Inputs []File
	// Collect are absolute paths of files to read back after the last step.
	Collect []string
	// Lease: the layer is for those who asked for it, each until its own Remove; the
	// last one frees it, and what a killed process left is freed by the next New.
	// Without it the layer stays for whoever asks later.
	Lease bool
	// Names are further names of 127.0.0.1 in a build without a network.
	Names []string
	// Discard keeps no layer: the build is run for what Collect brings (a lock). Key is not used.
	Discard bool
	// Began is told of each step as it begins, those of a fill as well; nil is nobody.
	Began  func(schemas.Command)
	Limits Limits
}

// Begin calls Began.
func (b Build) Begin(step schemas.Command) {
	if b.Began != nil {
		b.Began(step)
	}
}

// Fill runs before the steps of a build, where its layer is not there yet. It is all
// that may write to a cache, and nothing else of it stays. It must run no code of a
// repository or a package: its files and commands are ours, and what it takes from a
// stranger are names, versions and digests. A fill that fails is no fault of the build,
// whose steps find less in the caches then.
type Fill struct {
	Parent Layer // as Build.Parent where it is the zero Layer
	Files  []File
	Steps  []schemas.Command
	Env    map[string]string // nothing of Build.Env
}

// Filling is the build that a fill is, and whether there is one.
func (b Build) Filling() (Build, bool) {
	if b.Fill == nil || len(b.Caches) == 0 {
		return Build{}, false
	}
	parent := b.Fill.Parent
	if parent.ID == "" {
		parent = b.Parent
	}
	return Build{
		Parent: parent, Files: b.Fill.Files, Steps: b.Fill.Steps, Env: b.Fill.Env,
		Network: b.Network, Registry: b.Registry, Caches: b.Caches, Limits: b.Limits, Discard: true, Began: b.Began,
	}, true
}

// Run executes one process on a fresh copy of a layer.
type Run struct {
	Layer   Layer
	Command schemas.Command // Dir is relative to TreePath unless absolute
	Env     map[string]string
	Inputs  []File   // under RunPath, for this run only
	Collect []string // absolute paths of files to read back, whatever the end
	// Sealed are absolute paths of files and folders of the layer, below TreePath or EnvPath: the command can
	// neither write, replace, move nor remove them, nor move a folder above them. Files beside them stay writable.
	// A path that ends with "/" is a folder that is made where it is not there. Of a link, the folder that it lies
	// in is sealed.
	Sealed []string
	// Watch are absolute paths of files of the layer: Result.Written tells which of them the command wrote, replaced,
	// moved or removed.
	Watch []string
	// Channel gives the command GivenFD and ReportFD; nil: it has neither.
	Channel *Channel
	// CollectMax bounds the report and each collected file in bytes (default 256 MiB); more is cut.
	CollectMax int64
	Limits     Limits
	// Names are further names of 127.0.0.1, for what runs beside, too.
	Names []string
	// Interactive attaches a terminal or pipes instead of capturing (env shell).
	Interactive *Terminal
	// Beside is a service that runs meanwhile; nil is none.
	Beside *Beside
}

// Beside is a command that serves while a run goes on. It has a sandbox of its own, with file
// system, processes and limits apart, and shares with the run a network that leads nowhere else.
// It is started first and killed when the run has ended. That it ends by itself is no end of
// the run: whoever asks it sees that nobody answers.
type Beside struct {
	Layer   Layer
	Command schemas.Command // Dir as in Run
	Env     map[string]string
	Inputs  []File // under RunPath
	Limits  Limits // Timeout is the run's
	// Deployed says that the layer is of a Deployer: command, user and variables are those of
	// its image, and the other fields but Limits are empty.
	Deployed bool
}

// Deployment is an image that is built from a Dockerfile that a stranger wrote.
type Deployment struct {
	Key    schemas.Digest
	Base   Layer
	Files  []File   // the build's context, under TreePath
	Limits Limits   // Timeout is that of the whole build
	Names  []string // further names of 127.0.0.1 in the build
	// Dockerfile gives what is built, where the image that it begins with has the given name. An
	// error of it is one of the Dockerfile.
	Dockerfile func(base string) ([]byte, error)
}

// Deployer is a sandbox whose layers are images.
type Deployer interface {
	// Deploy builds (or finds, by Key) an image with the network of Registries. The layer is
	// leased, and is for Beside.Deployed alone. A Dockerfile that does not build is a *BuildError.
	Deploy(ctx context.Context, d Deployment) (Layer, Result, error)
}

// Porter is a sandbox whose layers can be taken to another machine with the same system and toolchains.
type Porter interface {
	// Find looks for a layer that was kept under a key.
	Find(ctx context.Context, key schemas.Digest) (Layer, bool, error)
	// Pack writes the content of a layer, without what is below it.
	Pack(ctx context.Context, l Layer, w io.Writer) error
	// Unpack keeps under a key what Pack wrote elsewhere, above a layer with the key of its parent there.
	Unpack(ctx context.Context, key schemas.Digest, parent Layer, r io.Reader) (Layer, error)
}

// Terminal is a person's terminal.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	TTY      bool
}

// Result is what a build step or a run did.
type Result struct {
	End      End
	ExitCode int
	Output   []byte            // standard output and error as they came, capped at Limits.Output
	Files    map[string][]byte // of Collect; a missing file is not in the map
	Cut      map[string]bool   // collected files that were cut at CollectMax
	Written  []string          // of Run.Watch, in its order

	Beside *Served // of Run.Beside

	Report    []byte // of Channel: what was written to ReportFD
	ReportCut bool   // it was longer than CollectMax

	Wall     time.Duration // inside the command
	Overhead time.Duration // everything else between call and return
}

// Served is what a service beside a run did.
type Served struct {
	// End is "" where it served until it was killed at the end of the run, Exited where it
	// ended before, and else the limit that it passed.
	End      End
	ExitCode int    // of Exited
	Output   []byte // as of Result
}

// Sandbox is where builds and runs happen.
type Sandbox interface {
	// Base makes (or finds) the layer of a base system with toolchains.
	Base(ctx context.Context, b Base) (Layer, error)
	// Build makes (or finds, by Key) a layer. A step that fails is a *BuildError.
	Build(ctx context.Context, b Build) (Layer, Result, error)
	// Run runs one process. A limit that is passed is an End, not an error; an
	// error is a fault of the machine.
	Run(ctx context.Context, r Run) (Result, error)
	// Files walks every file that the layer has above its base: all of what a
	// solver gets. Content is read through open; order is by path.
	Files(ctx context.Context, l Layer, visit func(path string, info fs.FileInfo, open func() (io.ReadCloser, error)) error) error
	// Remove forgets a layer and frees its disk, once nobody else leases it, and
	// waits for runs in it. Removing twice is no error.
	Remove(ctx context.Context, l Layer) error
}

// Means are those by which a sandbox keeps its limits on one machine.
type Means struct {
	Text string // all of them, in one line
	// MemoryWatched means that a watchdog looks at the memory every few milliseconds,
	// where the kernel's own limit would hold at every page.
	MemoryWatched bool
}
