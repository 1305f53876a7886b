package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/benchmint/benchmint/internal/llm"
)

// completion is an answer, or one event of an answer that comes as a stream.
type completion struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message said   `json:"message"`
	Delta   said   `json:"delta"` // of a stream
	Finish  string `json:"finish_reason"`
}

// said is what a model says, each a text, a list of parts, or null.
type said struct {
	Content   text `json:"content"`
	Reasoning text `json:"reasoning_content"`
	Refusal   text `json:"refusal"`
}

// text is read from a string, or from parts that have a text each.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = text(one)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(b, &parts) // of another form: no text
	for _, p := range parts {
		*t += text(p.Text)
	}
	return nil
}

var errCut = errors.New("the answer is cut")

// completionOf reads an answer that came at once or as a stream of events: some servers can do
// nothing else.
func completionOf(raw []byte) (out completion, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("data:")) {
		err = json.Unmarshal(raw, &out)
		return out, err
	}
	var all choice
	ended := false
	for event := range bytes.Lines(raw) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(event), []byte("data:"))
		if !ok {
			continue
		}
		if data = bytes.TrimSpace(data); string(data) == "[DONE]" {
			ended = true
			break
		}
		var part completion
		if err := json.Unmarshal(data, &part); err != nil {
			return out, err
		}
		if isThere(part.Error) {
			return part, nil
		}
		if part.Model != "" {
			out.Model = part.Model
		}
		if isThere(part.Usage) {
			out.Usage = part.Usage
		}
		if len(part.Choices) == 0 {
			continue
		}
		c := part.Choices[0]
		all.Message.Content += c.Delta.Content
		all.Message.Reasoning += c.Delta.Reasoning
		all.Message.Refusal += c.Delta.Refusal
		if c.Finish != "" {
			all.Finish = c.Finish
		}
	}
	if !ended && all.Finish == "" {
		return out, errCut
	}
	out.Choices = []choice{all}
	return out, nil
}

func isThere(member json.RawMessage) bool { return len(member) > 0 && string(member) != "null" }

// usage is what an endpoint counted. Those that say nothing of a cache had none of it there.
func (c completion) usage() llm.Usage {
	var u struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	_ = json.Unmarshal(c.Usage, &u) // what cannot be read is not counted
	return llm.Usage{Input: u.Prompt, Cached: u.Details.Cached, Output: u.Completion}
}

// answer is the JSON object of what a model says, and whether nothing comes after it; without an
// object it is the text as it is. Where there is no other text, thoughts may end in one.
func (s said) answer() (string, bool) {
	if content := strings.TrimSpace(string(s.Content)); content != "" {
		return object(content)
	}
	if found, whole := object(strings.TrimSpace(string(s.Reasoning))); whole {
		return found, true
	}
	return "", false
}

// object is the first JSON object of a text that is whole, behind what the model thought before;
// fences and words around it do not count. ended is whether none of the text is behind it.
func object(text string) (found string, ended bool) {
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		text = text[i+len("</think>"):]
	}
	if strings.Contains(text, "<think>") { // a thought without an end has no answer behind it
		return text, false
	}
	for rest := text; ; {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			return strings.TrimSpace(text), false
		}
		rest = rest[i:]
		var value json.RawMessage
		if d := json.NewDecoder(strings.NewReader(rest)); d.Decode(&value) == nil {
			return string(value), strings.Trim(rest[d.InputOffset():], "` \n\r\t") == ""
		}
		rest = rest[1:]
	}
}
