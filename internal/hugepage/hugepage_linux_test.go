package hugepage

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPage tells whether the kernel was asked for a page on which nothing lies, by what it
// says of the mapping.
func TestPage(t *testing.T) {
	page := prepare(probe)
	for try := 0; page == 0 && try < 4; try++ { // the heap went on elsewhere
		page = prepare(probe)
	}
	raw, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip("no /proc/self/smaps to look into: ", err)
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no large pages: ", err)
	}
	if page == 0 || page%size != 0 {
		t.Fatalf("the page begins at %#x", page)
	}
	var from, to uintptr
	for line := range strings.Lines(string(raw)) {
		var a, b uintptr
		if _, err := fmt.Sscanf(line, "%x-%x ", &a, &b); err == nil {
			from, to = a, b
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && from <= page && page < to {
			if !strings.Contains(flags, " hg ") {
				t.Errorf("the mapping %x-%x around %x is not for large pages:%s", from, to, page, flags)
			}
			return
		}
	}
	t.Errorf("%x is in no mapping", page)
}
