package fleet

import (
	"maps"
	"sync"
	"time"
)

// claims are the tasks that workers have begun.
type claims struct {
	mu    sync.Mutex
	by    map[string]string  // task → worker
	back  map[string]string  // task that waits again → worker that gave it back, and may have said before that it does it
	ended [2]map[string]bool // tasks that are over, in two generations: the older one is forgotten first
	old   map[string]bool    // tasks of a coordinator before this one: some worker may have them
	began time.Time          // when this one began
	now   func() time.Time
}

// generation is how many ended tasks are remembered at least.
const generation = 50_000

// begin says whether a worker may do a task: nobody else has it, and it is not over. It may ask again.
func (c *claims) begin(id, worker string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by, taken := c.by[id]; taken || c.ended[0][id] || c.ended[1][id] {
		return by == worker
	}
	c.by[id] = worker
	delete(c.back, id)
	return true
}

// taken: some worker has it.
func (c *claims) taken(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[id] != ""
}

// settles is how long a question about a task has to wait, because a worker may have it that has not been heard yet.
func (c *claims) settles(id string, lease time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.old[id] {
		return 0
	}
	return c.began.Add(lease).Sub(c.now())
}

// beats notes what a worker says that it does.
func (c *claims) beats(b Beat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range b.Doing {
		if c.by[d.Task] == "" && c.back[d.Task] != b.Worker && !c.ended[0][d.Task] && !c.ended[1][d.Task] {
			c.by[d.Task] = b.Worker
		}
	}
}

// end ends a claim.
func (c *claims) end(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, id)
	delete(c.old, id)
	if c.ended[0] == nil || len(c.ended[0]) >= generation {
		c.ended[1], c.ended[0] = c.ended[0], map[string]bool{}
	}
	c.ended[0][id] = true
}

// again lets a task that was given back be begun once more.
func (c *claims) again(id, worker string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.back[id] = worker
	delete(c.ended[0], id)
	delete(c.ended[1], id)
}

// of are the tasks of a worker.
func (c *claims) of(worker string) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, w := range maps.All(c.by) {
		if w == worker {
			ids = append(ids, id)
		}
	}
	return ids
}
