package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/benchmint/benchmint/fleet"
	"github.com/benchmint/benchmint/internal/llm"
)

// completion is what a model said, on its way to a worker: its reply, and the error beside it.
type completion struct {
	Reply   llm.Reply `json:"reply"`
	Later   bool      `json:"later,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	Refused string    `json:"refused,omitempty"`
	Slow    bool      `json:"slow,omitempty"`
	Quota   bool      `json:"quota,omitempty"`
	Text    string    `json:"text,omitempty"` // of the error
}

// completer asks the model for workers.
type completer struct{ llm.Provider }

func (c completer) complete(ctx context.Context, asked json.RawMessage) (json.RawMessage, error) {
	var q llm.Request
	if err := json.Unmarshal(asked, &q); err != nil {
		return nil, err
	}
	reply, err := c.Complete(ctx, q)
	return json.Marshal(completionOf(reply, err))
}

func completionOf(reply llm.Reply, err error) completion {
	c := completion{Reply: reply}
	if err == nil {
		return c
	}
	c.Text = err.Error()
	var later *llm.Later
	var refused *llm.Refused
	switch {
	case errors.As(err, &later):
		c.Later, c.Until, c.Text = true, later.Until, later.Err.Error()
	case errors.As(err, &refused):
		c.Refused = refused.Why
	case errors.Is(err, llm.ErrSlow):
		c.Slow = true
	case errors.Is(err, llm.ErrQuota):
		c.Quota = true
	}
	return c
}

func (c completion) error() error {
	switch {
	case c.Later:
		return &llm.Later{Until: c.Until, Err: errors.New(c.Text)}
	case c.Refused != "":
		return &llm.Refused{Why: c.Refused}
	case c.Slow:
		return llm.ErrSlow
	case c.Quota:
		return llm.ErrQuota
	case c.Text != "":
		return errors.New(c.Text)
	}
	return nil
}

// farModel is a model that the run asks for this worker.
type farModel struct{ client *fleet.Client }

// Complete implements llm.Provider.
func (f farModel) Complete(ctx context.Context, q llm.Request) (llm.Reply, error) {
	asked, err := json.Marshal(q)
	if err != nil {
		return llm.Reply{}, err
	}
	said, err := f.client.Complete(ctx, asked)
	if err != nil {
		return llm.Reply{}, &llm.Later{Err: err}
	}
	var c completion
	if err := json.Unmarshal(said, &c); err != nil {
		return llm.Reply{}, err
	}
	return c.Reply, c.error()
}
