package openai

import (
	"bytes"
	"encoding/json"
	"slices"

	openai "github.com/sashabaranov/go-openai"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/llm"
)

// way is how a question is put. The zero way is the best one; endpoints differ in what they take
// of it.
type way struct {
	form       int  // bySchema, byObject, byText
	noDegree   bool // no temperature is sent, instead of 0
	completion bool // the bound is max_completion_tokens, instead of max_tokens
	inUser     bool // the system's text stands in the user's message
	stream     bool
}

// The forms, from the best.
const (
	bySchema = iota // response_format json_schema
	byObject        // response_format json_object
	byText          // the question's own words
)

// formError is a refusal that another way may mend; err is what it is where none does.
type formError struct {
	said string // by the endpoint
	err  error
}

func (f *formError) Error() string { return f.err.Error() }

// steps are what a way can give up, and the words of an endpoint that wants that.
var steps = []struct {
	words *lazyregexp.Regexp
	give  func(*way)
}{
	{lazyregexp.New(`(?i)response_format|json_schema|json_object|structured|grammar|schema`), func(w *way) { w.form = min(w.form+1, byText) }},
	{lazyregexp.New(`(?i)temperature`), func(w *way) { w.noDegree = true }},
	{lazyregexp.New(`(?i)max_tokens|max_completion_tokens`), func(w *way) { w.completion = true }},
	{lazyregexp.New(`(?i)\brole|system (?:role|message|prompt)|alternat|template|jinja`), func(w *way) { w.inUser = true }},
	{lazyregexp.New(`(?i)\bstream`), func(w *way) { w.stream = true }},
}

// hinted is the way that an endpoint's words ask for, if there is one.
func (w way) hinted(said string) []way {
	for _, s := range steps {
		next := w
		if s.give(&next); next != w && s.words.MatchString(said) {
			return []way{next}
		}
	}
	return nil
}

// others are the ways to try where this one is refused: the one that the endpoint's words ask for,
// those that give up one thing, and the one that gives up everything.
func (w way) others(said string) []way {
	out, least := w.hinted(said), w
	for _, s := range steps {
		for next := w; ; {
			before := next
			if s.give(&next); next == before {
				break
			}
			out = append(out, next)
		}
		s.give(&least)
	}
	least.form = byText
	return append(out, least)
}

// request is a question as it is sent. There is one message of each role, since the templates of
// many models want them in turn.
func (w way) request(r llm.Request) openai.ChatCompletionRequest {
	user := r.Text.Material + "\n\n" + r.Text.Question
	if r.Fault != "" {
		user += "\n\nYour answer before was refused: " + r.Fault
	}
	system := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: r.Text.System}
	out := openai.ChatCompletionRequest{Model: r.Model, Messages: []openai.ChatCompletionMessage{system, {Role: openai.ChatMessageRoleUser, Content: user}}}
	if w.inUser {
		out.Messages = []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: r.Text.System + "\n\n" + user}}
	}
	if w.completion {
		out.MaxCompletionTokens = r.MaxTokens
	} else {
		out.MaxTokens = r.MaxTokens //nolint:staticcheck // many servers know this name alone
	}
	if w.stream {
		out.Stream, out.StreamOptions = true, &openai.StreamOptions{IncludeUsage: true}
	}
	switch w.form {
	case bySchema:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: r.Prompt, Schema: shape(r.Text.Schema), Strict: closed(r.Text.Schema)},
		}
	case byObject:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return out
}

// closed reports whether a schema names every member of every object: endpoints refuse a strict
// one that does not.
func closed(schema string) bool {
	var v any
	if json.Unmarshal([]byte(schema), &v) != nil {
		return false
	}
	var all func(v any) bool
	all = func(v any) bool {
		switch t := v.(type) {
		case map[string]any:
			object := t["type"] == "object"
			if kinds, ok := t["type"].([]any); ok {
				object = slices.Contains(kinds, any("object"))
			}
			if object && t["additionalProperties"] != false {
				return false
			}
			for _, next := range t {
				if !all(next) {
					return false
				}
			}
		case []any:
			return !slices.ContainsFunc(t, func(e any) bool { return !all(e) })
		}
		return true
	}
	return all(v)
}

// unknown are the words of schemas that endpoints do not know or know in part: the bounds of
// texts. An answer is held against the whole schema afterwards.
var unknown = []string{"pattern", "minLength", "maxLength"}

// shape is a schema without what is unknown, its members in their order: constrained models write
// in that order.
func shape(schema string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader([]byte(schema)))
	d.UseNumber()
	var out bytes.Buffer
	if shaped(d, &out, false) != nil {
		return json.RawMessage(schema)
	}
	return out.Bytes()
}

// shaped copies one value. The members of names are those of "properties" or "$defs": named by
// whoever wrote the schema.
func shaped(d *json.Decoder, out *bytes.Buffer, names bool) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return written(out, token)
	}
	out.WriteString(open.String())
	for sign := ""; d.More(); {
		key := ""
		if open == '{' {
			if token, err = d.Token(); err != nil {
				return err
			}
			key = token.(string)
		}
		if !names && slices.Contains(unknown, key) {
			if err := d.Decode(new(json.RawMessage)); err != nil {
				return err
			}
			continue
		}
		out.WriteString(sign)
		sign = ","
		if open == '{' {
			if err := written(out, key); err != nil {
				return err
			}
			out.WriteByte(':')
		}
		if err := shaped(d, out, !names && (key == "properties" || key == "$defs")); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err != nil {
		return err
	}
	return written(out, end)
}

// written writes a token.
func written(out *bytes.Buffer, token json.Token) error {
	if sign, ok := token.(json.Delim); ok {
		out.WriteString(sign.String())
		return nil
	}
	b, err := json.Marshal(token)
	out.Write(b)
	return err
}
