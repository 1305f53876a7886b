package hugepage

import (
	"syscall"
	"unsafe"
)

const (
	size   = 2 << 20 // bytes of a large page on amd64 and arm64
	probe  = 64 << 10
	advice = 14 // MADV_HUGEPAGE of linux/mman.h, which package syscall leaves out for some machines
)

var _ = prepare(probe)

// prepare asks for the first large page of the heap that nothing lies on yet, and tells where
// it begins; 0 where it cannot be had. The rest of the page before is passed over: the
// kernel gives a large page for untouched memory only. What is passed over is garbage that
// nobody touches, two megabytes at most (Go 1.26 begins the heap at a random place). The first
// collection begins the sooner for it: a mask of a small project, which had none, has one
// in about one run of thirty.
//
// It runs before the packages that allocate much: those whose imports are ready are
// initialized in the order of their paths (Go 1.21), and this one imports next to nothing.
func prepare(probe uintptr) uintptr {
	passed := make([]byte, probe) // lies above what is there; of a constant size it would lie on the stack
	top := uintptr(unsafe.Pointer(unsafe.SliceData(passed))) + probe
	next := (top + size - 1) &^ (size - 1)
	_ = make([]byte, next-top+1) // one more, so that the heap does not end there
	if _, _, fault := syscall.RawSyscall(syscall.SYS_MADVISE, next, size, advice); fault != 0 {
		return 0 // small pages do
	}
	return next
}
