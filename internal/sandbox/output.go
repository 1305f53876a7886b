package sandbox

import "sync"

// Capped keeps what is written to it up to a bound and calls Over once when more
// comes. It never holds more than the bound: a flood costs no memory of ours.
type Capped struct {
	mu    sync.Mutex
	max   int64
	over  func()
	bytes []byte
	full  bool
}

// NewCapped keeps at most max bytes; over is called once, by the first write past them.
func NewCapped(max int64, over func()) *Capped { return &Capped{max: max, over: over} }

// Write never fails, so that whoever copies into it goes on draining its source.
func (c *Capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	keep := min(int64(len(p)), c.max-int64(len(c.bytes)))
	c.bytes = append(c.bytes, p[:keep]...)
	first := keep < int64(len(p)) && !c.full
	c.full = c.full || first
	c.mu.Unlock()
	if first && c.over != nil {
		c.over()
	}
	return len(p), nil
}

// Bytes is what was kept so far.
func (c *Capped) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes[:len(c.bytes):len(c.bytes)]
}

// Full reports whether more came than was kept.
func (c *Capped) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}
