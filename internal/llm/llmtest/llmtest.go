// Package llmtest is a model endpoint for tests: it speaks OpenAI's chat API over HTTP,
// answers as it is told, and has the faults of real endpoints. It has a tiny model as well,
// for a real server.
//
// It never answers by itself: each test says what is answered.
package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Asked is one request as the endpoint saw it.
type Asked struct {
	Model       string
	System      string          // "" where it stands in the user's message
	User        string          // the first message of the user
	Turns       int             // answers that stand in the conversation already; above 0 where the model has tools
	Format      string          // of response_format; "" is none
	Schema      json.RawMessage // of the format
	Strict      bool            // that schema
	Temperature *float64
	MaxTokens   int // under this name
	Stream      bool
	Key         string // of the Authorization header
}

// Probe reports whether it is the tiny question before a run.
func (a Asked) Probe() bool { return strings.Contains(a.User, "Are you there?") }

// Reply is what the endpoint says to one request. A zero Status is 200.
type Reply struct {
	Status int
	Header map[string]string
	Body   string // instead of an answer: as it is
	Text   string // of the answer
	Bash   string // a command for the tool bash, which the answer calls
	Finish string // "" is stop
	Cached int    // tokens of the request that are said to be cached
	Cut    bool   // the connection ends in the middle of the body
}

// Server is one endpoint. Its base is URL()+"/v1".
type Server struct {
	http   *httptest.Server
	answer func(Asked) Reply

	mu    sync.Mutex
	asked []Asked
}

// Start starts an endpoint that answers by a function.
func Start(answer func(Asked) Reply) *Server {
	s := &Server{answer: answer}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Base is what a configuration names as the endpoint.
func (s *Server) Base() string { return s.http.URL + "/v1" }

// Close ends it.
func (s *Server) Close() { s.http.Close() }

// Asked are all requests so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	var in struct {
		Model    string
		Messages []struct{ Role, Content string }
		Format   struct {
			Type   string
			Schema struct {
				Strict bool
				Schema json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
		Tools  []json.RawMessage
		Temp   *float64 `json:"temperature"`
		Max    int      `json:"max_tokens"`
		Stream bool
	}
	if req.URL.Path != "/v1/chat/completions" || json.NewDecoder(req.Body).Decode(&in) != nil || len(in.Messages) == 0 || len(in.Messages) > 2 && len(in.Tools) == 0 {
		http.Error(w, `{"error":{"message":"not a chat request"}}`, http.StatusBadRequest)
		return
	}
	a := Asked{
		Model: in.Model, User: in.Messages[min(len(in.Messages), 2)-1].Content, Format: in.Format.Type, Schema: in.Format.Schema.Schema, Strict: in.Format.Schema.Strict,
		Temperature: in.Temp, MaxTokens: in.Max, Stream: in.Stream, Key: strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "),
	}
	if len(in.Messages) > 1 {
		a.System = in.Messages[0].Content
	}
	for _, m := range in.Messages {
		if m.Role == "assistant" {
			a.Turns++
		}
	}
	s.mu.Lock()
	s.asked = append(s.asked, a)
	s.mu.Unlock()
	r := s.answer(a)
	w.Header().Set("Content-Type", "application/json")
	for k, v := range r.Header {
		w.Header().Set(k, v)
	}
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	body := r.Body
	if body == "" {
		finish := r.Finish
		switch {
		case finish != "":
		case r.Bash != "":
			finish = "tool_calls"
		default:
			finish = "stop"
		}
		b, _ := json.Marshal(map[string]any{
			"model":   in.Model + "-2026",
			"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": r.message(a)}},
			"usage":   r.usage(a),
		})
		body = string(b)
	}
	if r.Cut {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte(body[:len(body)/2])) // the client hears that it is cut
		return
	}
	_, _ = w.Write([]byte(body))
}

// message is the answer, with the call of the tool where there is one.
func (r Reply) message(a Asked) map[string]any {
	out := map[string]any{"role": "assistant", "content": r.Text}
	if r.Bash != "" {
		arguments, _ := json.Marshal(map[string]string{"command": r.Bash})
		out["tool_calls"] = []any{map[string]any{"id": fmt.Sprintf("call_%d", a.Turns), "type": "function", "function": map[string]string{"name": "bash", "arguments": string(arguments)}}}
	}
	return out
}

// usage counts four bytes as a token; what it says of a cache it says only where there is one,
// as many servers do.
func (r Reply) usage(a Asked) map[string]any {
	out := map[string]any{"prompt_tokens": (len(a.System) + len(a.User)) / 4, "completion_tokens": len(r.Text)/4 + 1}
	if r.Cached > 0 {
		out["prompt_tokens_details"] = map[string]int{"cached_tokens": r.Cached}
	}
	return out
}
