package mask

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A heap may grow to budget, and where much of that is live by least, and by share in
// percent of what is live.
const (
	budget = 24 << 20
	least  = 8 << 20
	share  = 15
)

// LeaveRoom is for a process that masks and does nothing else. It keeps collections rare in
// a small heap, where they were a tenth of the time, and lets a large one grow by little:
// what is live are facts of all files, most of them numbers, over which a collection goes
// quickly. It looks again after each collection.
func LeaveRoom() { leave(0) } // before the first collection next to nothing is live

func leave(live uint64) {
	debug.SetGCPercent(growth(live))
	runtime.AddCleanup(new(metrics.Sample), func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		leave(live[0].Value.Uint64())
	}, struct{}{})
}

// growth is the percentage for so many live bytes. The runtime takes 4 MiB for the least
// that is live.
func growth(live uint64) int {
	room := max(least, budget-int(live))
	return max(share, room*100/max(int(live), 4<<20))
}
