package main

import (
	"fmt"
	"sync"
	"time"
)

// sayEvery is how often a line says how far a long step came.
const sayEvery = 30 * time.Second

// meter says how far GitHub was asked and what is left of its hour, at most every
// half a minute: of what takes less, nothing is said.
type meter struct {
	*hub
	mu   sync.Mutex
	last time.Time
}

func newMeter(h *hub) *meter { return &meter{hub: h, last: h.now()} }

// due reports whether a line is to be said now.
func (m *meter) due() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now.Sub(m.last) < sayEvery {
		return false
	}
	m.last = now
	return true
}

// came says that n of so many repositories are done.
func (m *meter) came(what string, n, of int) {
	if m.due() {
		m.say("GitHub: %s %d of %s%s", what, n, plural(of, "source"), m.leftOf("; "))
	}
}

// hour says what is left, where no view shows it.
func (m *meter) hour() {
	if left := m.leftOf("; "); left != "" && !m.viewed && m.due() {
		m.say("GitHub: %s so far%s", plural(m.library.Client().Spent().Requests, "request"), left)
	}
}

// leftOf is what is left of GitHub's hour after a sign, "" where it has not said.
func (h *hub) leftOf(sign string) string {
	if h.library == nil {
		return ""
	}
	left := h.library.Client().Spent().Left
	if left < 0 {
		return ""
	}
	return fmt.Sprintf("%s%s left of GitHub's hour", sign, plural(left, "point"))
}
