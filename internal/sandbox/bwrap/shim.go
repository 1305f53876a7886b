package bwrap

import (
	"encoding/gob"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/seccomp"
)

// shimName is the argv[0] by which this program knows that it was started inside
// new namespaces, to prepare them and then become bwrap.
const shimName = "benchmint-sandbox"

// File descriptors of the shim, beside the three standard ones.
const (
	orderFD  = 3 // the order, gob
	faultFD  = 4 // what went wrong; closed by the exec of bwrap
	statusFD = 5 // what bwrap says of the command: an exit code only where it was executed
	socketFD = 6 // takes the listening socket of the build proxy
	// sandbox.GivenFD and ReportFD are the command's, and stay open.
)

// proxyAddress is where a build finds the proxy, inside its own network.
const proxyAddress = "127.0.0.1:3128"

// order is all that the shim needs. Paths are relative to Store, because the
// options of an overlay mount are separated by colons and commas.
type order struct {
	Store    string
	Lower    []string // top first; nil where Merged was filled by copying
	Scratch  string   // holds up, work, merged
	Caches   []layered
	Own      bool     // really root: what we make is given to sandbox.UID
	Dirs     []string // made in the merged tree, owned by the user
	Put      []sandbox.File
	Sealed   []string // of the merged tree; see seal
	Network  bool
	Joined   bool // the network is there already: a starter made it
	Proxy    bool
	FileSize int64
	CPUs     int      // of how many the command may use at once; 0: no bound of this kind
	Bwrap    string   // "" prepares and ends: a build without steps
	Args     []string // of bwrap; they travel in a memfd, never in an environment
	Argv     []string
	Probe    bool
}

// layered is directories under a scratch space that takes what is written.
type layered struct {
	Lower   []string // top first
	Scratch string   // holds up, work, merged
}

// A program that imports this package is its own shim: the namespaces have to be
// entered by a fresh single process before Go starts threads in it, and a second
// binary would have to be found, shipped and trusted.
func init() {
	if len(os.Args) != 1 {
		return
	}
	var act func() error
	switch os.Args[0] {
	case shimName:
		act = shim
	case starterName:
		act = starter
	default:
		return
	}
	for fd := orderFD; fd <= socketFD; fd++ {
		unix.CloseOnExec(fd)
	}
	if err := act(); err != nil {
		fmt.Fprint(os.NewFile(faultFD, "fault"), err)
		os.Exit(1)
	}
	os.Exit(0)
}

func shim() error {
	var o order
	in := os.NewFile(orderFD, "order")
	if err := gob.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	in.Close()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	// bwrap looks up its children there, by the numbers of this PID namespace.
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting proc: %w", err)
	}
	// In a network of its own a command may listen on any port, as in a container. A kernel that has no such switch keeps those
	// below 1024 to root.
	_ = os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0)
	if err := os.Chdir(o.Store); err != nil {
		return err
	}
	merged := path.Join(o.Scratch, "merged")
	if len(o.Lower) > 0 {
		if err := mountOverlay(layered{o.Lower, o.Scratch}); err != nil {
			return err
		}
	}
	for _, c := range o.Caches {
		if err := mountOverlay(c); err != nil {
			return err
		}
	}
	if o.Probe {
		return probeOverlay(merged)
	}
	if err := fillTree(o, merged); err != nil {
		return err
	}
	if err := seal(merged, o.Sealed, o.Own); err != nil {
		return err
	}
	if o.Bwrap == "" {
		return nil
	}
	if !o.Joined {
		if err := network(o); err != nil {
			return fmt.Errorf("making the network: %w", err)
		}
	}
	return become(o)
}

func mountOverlay(l layered) error {
	// userxattr: one format of layers for root and for ordinary users.
	options := fmt.Sprintf("userxattr,lowerdir=%s,upperdir=%s,workdir=%s",
		strings.Join(l.Lower, ":"), path.Join(l.Scratch, "up"), path.Join(l.Scratch, "work"))
	if err := unix.Mount("overlay", path.Join(l.Scratch, "merged"), "overlay", unix.MS_NODEV|unix.MS_NOSUID, options); err != nil {
		return fmt.Errorf("mounting the overlay: %w", err)
	}
	return nil
}

// probeOverlay shows that a deleted and newly made directory hides what lies below:
// it does not where the file system has no user attributes.
func probeOverlay(merged string) error {
	dir := path.Join(merged, "dir")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		return fmt.Errorf("overlay does not hide %d deleted entries: %w", len(entries), err)
	}
	return nil
}

func fillTree(o order, merged string) error {
	p, err := newPutter(merged, o.Own)
	if err != nil {
		return err
	}
	defer p.close()
	for _, dir := range o.Dirs {
		if err := p.dir(dir); err != nil {
			return err
		}
	}
	for _, dir := range sandbox.Shared() {
		if err := p.share(dir); err != nil {
			return err
		}
	}
	for _, f := range o.Put {
		if err := p.put(f); err != nil {
			return fmt.Errorf("putting %s: %w", f.Path, err)
		}
	}
	return nil
}

// network brings up both loopbacks and a veth pair whose two ends stay inside: a
// configured interface that leads nowhere. A build has the loopbacks only, and on
// them the proxy: the listening socket is made in here and served from outside.
func network(o order) error {
	if err := loopbackUp(); err != nil {
		return err
	}
	if o.Network {
		if err := addPair(); err != nil {
			return err
		}
	}
	if !o.Proxy {
		return nil
	}
	l, err := net.Listen("tcp", proxyAddress)
	if err != nil {
		return err
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	return unix.Sendmsg(socketFD, []byte{0}, unix.UnixRights(int(f.Fd())), nil, 0)
}

// become executes bwrap in the place of this process.
func become(o order) error {
	filter, err := memfd("seccomp", seccomp.Filter())
	if err != nil {
		return err
	}
	args, err := memfd("args", []byte(strings.Join(o.Args, "\x00")+"\x00"))
	if err != nil {
		return err
	}
	if err := setLimits(o.FileSize); err != nil {
		return err
	}
	if err := useCPUs(o.CPUs); err != nil {
		return err
	}
	// Whatever signals our parent ignored, the command starts with the defaults: a
	// handler is reset by exec, an ignored signal would stay ignored.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE)
	// The machine's own killer should take strangers' processes first.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	if _, err := unix.FcntlInt(statusFD, unix.F_SETFD, 0); err != nil { // bwrap itself keeps it from the command
		return fmt.Errorf("passing the status on: %w", err)
	}
	argv := append([]string{
		"bwrap", "--args", fmt.Sprint(args), "--seccomp", fmt.Sprint(filter), "--json-status-fd", fmt.Sprint(statusFD), "--",
	}, o.Argv...)
	return fmt.Errorf("executing %s: %w", o.Bwrap, unix.Exec(o.Bwrap, argv, nil))
}

func memfd(name string, content []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, 0)
	if err != nil {
		return 0, fmt.Errorf("memfd: %w", err)
	}
	if _, err := unix.Write(fd, content); err != nil {
		return 0, fmt.Errorf("memfd: %w", err)
	}
	_, err = unix.Seek(fd, 0, io.SeekStart)
	return fd, err
}

// setLimits bounds one file by the whole disk limit, so that a single writer is
// stopped by the kernel between two looks of the watchdog. Open files are those
// of a usual login; core files would land in the tree.
func setLimits(fileSize int64) error {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	files.Max = min(files.Max, 4096)
	files.Cur = min(files.Max, 1024)
	for resource, limit := range map[int]syscall.Rlimit{
		syscall.RLIMIT_NOFILE: files,
		syscall.RLIMIT_FSIZE:  {Cur: uint64(fileSize), Max: uint64(fileSize)},
		syscall.RLIMIT_CORE:   {},
	} {
		if err := syscall.Setrlimit(resource, &limit); err != nil {
			return fmt.Errorf("setting limit %d: %w", resource, err)
		}
	}
	return nil
}

// useCPUs ties this thread, which becomes the command, to n CPUs by chance: runs at
// the same time should not all have the same ones.
func useCPUs(n int) error {
	if n <= 0 {
		return nil
	}
	runtime.LockOSThread()
	var have, use unix.CPUSet
	if err := unix.SchedGetaffinity(0, &have); err != nil {
		return fmt.Errorf("reading the CPU set: %w", err)
	}
	for _, cpu := range rand.Perm(len(have) * 64) {
		if have.IsSet(cpu) && use.Count() < n {
			use.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &use); err != nil {
		return fmt.Errorf("setting the CPU set: %w", err)
	}
	return nil
}

// inStore is p as the shim names it.
func inStore(store, p string) (string, error) { return filepath.Rel(store, p) }
