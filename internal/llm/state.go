package llm

import (
	"context"
	"slices"
	"sync"
)

// Patience is how many useless answers to one prompt in a row end the asking.
const Patience = 10

// State is what a run knows of its models: how many questions are open, and what the answers
// were worth. It is shared by all that ask.
type State struct {
	// Rules says that the rules go on where answers are of no use; else what waits is put off.
	Rules bool

	mu      sync.Mutex
	most    int           // questions open at one time
	open    int           // of those
	left    chan struct{} // closed when one is answered
	useless map[string]int
	stopped bool
}

// NewState is that of a run which has so many questions open at one time.
func NewState(most int, rules bool) *State {
	return &State{Rules: rules, most: most, left: make(chan struct{}), useless: map[string]int{}}
}

// enter waits until a question may be sent.
func (s *State) enter(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.open < s.most {
			s.open++
			s.mu.Unlock()
			return nil
		}
		left := s.left
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-left:
		}
	}
}

// leave ends a question. After one that was slow half as many are open at one time: many servers
// give one answer after another.
func (s *State) leave(slow bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if slow {
		s.most = max(1, s.most/2)
	}
	close(s.left)
	s.left = make(chan struct{})
}

// worth counts an answer that was of use, or why it was not. What a filter, a refusal or the size
// of a question is the cause of says nothing of the next one.
func (s *State) worth(prompt, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case why == "":
		s.useless[prompt] = 0
	case !slices.Contains([]string{"refusal", "filter", "too_long"}, why):
		s.useless[prompt]++
		s.stopped = s.stopped || s.useless[prompt] >= Patience
	}
}

// Stopped reports whether so many answers in a row were useless that nobody is asked any more.
func (s *State) Stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// ended is why nothing more is asked; nil where it is.
func (s *State) ended() error {
	switch {
	case !s.Stopped():
		return nil
	case s.Rules:
		return &Refused{Why: "useless"}
	}
	return ErrUseless
}
