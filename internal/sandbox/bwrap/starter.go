package bwrap

import (
	"encoding/gob"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// starterName is the argv[0] by which this program knows that it was started inside a new
// network, to bring that up, start shims in it, and end.
const starterName = "benchmint-starter"

// pidsFD is where the starter writes the process IDs of the shims, gob. Its plan comes by
// orderFD, and what went wrong goes to faultFD, as with a shim.
const pidsFD = 5

// firstFD is the first of those descriptors of the starter that are for shims.
const firstFD = pidsFD + 1

// plan says which of the starter's descriptors each shim gets: the shim's own are the
// indexes, and -1 is none.
type plan struct {
	Shims [][]int
	End   int // one more than the starter's last descriptor
}

// starter starts shims that share its network, and without root its user namespace, as no
// process can enter these two later that is as Go programs are: of more than one thread.
// The shims are children of our parent, who waits for them, and die with him as others do.
func starter() error {
	var pids []int
	defer func() { _ = gob.NewEncoder(os.NewFile(pidsFD, "pids")).Encode(pids) }()
	var p plan
	if err := gob.NewDecoder(os.NewFile(orderFD, "plan")).Decode(&p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	for fd := firstFD; fd < p.End; fd++ { // no shim has what is another's
		unix.CloseOnExec(fd)
	}
	if err := network(order{Network: true}); err != nil {
		return fmt.Errorf("making the network: %w", err)
	}
	for _, fds := range p.Shims {
		files := make([]uintptr, len(fds))
		for i, fd := range fds {
			files[i] = uintptr(fd)
		}
		pid, err := syscall.ForkExec(self, []string{shimName}, &syscall.ProcAttr{
			Env: []string{}, Files: files,
			Sys: &syscall.SysProcAttr{
				Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_PARENT,
				Pdeathsig:  unix.SIGKILL, Setpgid: true,
			},
		})
		if err != nil {
			return fmt.Errorf("starting the sandbox: %w", err)
		}
		pids = append(pids, pid)
	}
	return nil
}
