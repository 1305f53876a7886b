package bwrap

import (
	"strings"
	"testing"
)

// A memory limit that no cgroup keeps is a watchdog's, and doctor is told so.
func TestDescribe(t *testing.T) {
	t.Parallel()
	kept := controllers{"memory": control{v2: true}, "pids": control{}}
	for _, c := range []struct {
		groups  controllers
		watched bool
		says    string
	}{{nil, true, "memory: watchdog, pids: rlimit and watchdog"}, {kept, false, "memory: cgroup v2, pids: cgroup v1"}} {
		got := (&Sandbox{groups: c.groups}).Describe()
		if got.MemoryWatched != c.watched || !strings.HasPrefix(got.Text, c.says) {
			t.Errorf("got %+v, want watched %t and %q", got, c.watched, c.says)
		}
	}
}
