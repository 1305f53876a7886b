package docker

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// raw makes a person's terminal pass on every key: the terminal inside the container
// is the one that edits lines and turns keys into signals. restore undoes it.
func raw(t *sandbox.Terminal) (restore func()) {
	nothing := func() {}
	f, ok := t.In.(*os.File)
	if !t.TTY || !ok {
		return nothing
	}
	was, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nothing // no terminal after all
	}
	now := *was
	// What cfmakeraw of termios(3) does.
	now.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	now.Oflag &^= unix.OPOST
	now.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	now.Cflag = now.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &now) != nil {
		return nothing
	}
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, was) }
}
