package mask

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// headroom is what a heap may grow by before it is collected, where less than that is live.
const headroom = 20 << 20

// LeaveRoom is for a process that masks and does nothing else. It keeps collections rare in
// a small heap, where they were a tenth of the time, and a large one at twice what is live,
// as ever: a percentage alone is wrong for one of them. It looks again after each collection.
func LeaveRoom() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(int(max(100, headroom*100/max(live[0].Value.Uint64(), 4<<20))))
	runtime.AddCleanup(new(metrics.Sample), func(struct{}) { LeaveRoom() }, struct{}{})
}
