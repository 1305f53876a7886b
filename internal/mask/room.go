package mask

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// headroom is what a heap may grow by before it is collected, and share the least that it
// may grow by, in percent of what is live.
const (
	headroom = 20 << 20
	share    = 25
)

// LeaveRoom is for a process that masks and does nothing else. It keeps collections rare in
// a small heap, where they were a tenth of the time, and lets a large one grow by little:
// what is live are facts of all files, most of them numbers, over which a collection goes
// quickly. It looks again after each collection.
func LeaveRoom() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(growth(live[0].Value.Uint64()))
	runtime.AddCleanup(new(metrics.Sample), func(struct{}) { LeaveRoom() }, struct{}{})
}

// growth is the percentage for so many live bytes.
func growth(live uint64) int {
	return int(max(share, headroom*100/max(live, 4<<20)))
}
