// Package prompts holds what a model is asked: one folder a prompt, with its
// template, the schema of its answer, and examples. A prompt's hash covers every
// byte of its folder.
//
// It never asks a model, and imports nothing of ours. Text of repositories goes
// into a prompt as data, marked as such and written so that it cannot end its mark.
package prompts

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"text/template"
)

//go:embed describe classify
var files embed.FS

// Prompt is one question with the types of what is put in and what comes back.
type Prompt[In, Answer any] struct {
	name  string
	files fs.FS // with the folder name
}

// The prompts.
var (
	Describe = Prompt[DescribeInput, DescribeAnswer]{"describe", files}
	Classify = Prompt[ClassifyInput, ClassifyAnswer]{"classify", files}
)

// Note is one entry of release notes.
type Note struct {
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text"`
}

// DescribeInput is what a statement is made of.
type DescribeInput struct {
	Repository string   `json:"repository"`
	Notes      []Note   `json:"notes,omitempty"` // best first
	Subject    string   `json:"subject"`
	Body       string   `json:"body,omitempty"`
	Required   []string `json:"required,omitempty"`  // names and literals that must be said
	Interface  []string `json:"interface,omitempty"` // names that stand below the statement anyway
	Forbidden  []string `json:"forbidden,omitempty"` // names that only the solution has
}

// DescribeAnswer is a statement.
type DescribeAnswer struct {
	Statement string `json:"statement"`
	Thin      bool   `json:"thin"` // there was too little to go on
}

// ClassifyInput is what a label rests on.
type ClassifyInput struct {
	Repository string   `json:"repository"`
	Notes      []Note   `json:"notes,omitempty"`
	Subject    string   `json:"subject"`
	Body       string   `json:"body,omitempty"`
	Files      []string `json:"files,omitempty"` // paths of the code part
}

// ClassifyAnswer is a label and the words of the input that it rests on.
type ClassifyAnswer struct {
	Label string `json:"label"`
	Quote string `json:"quote"`
}

// Example is an input and the answer that is wanted for it.
type Example[In, Answer any] struct {
	Input  In     `json:"input"`
	Answer Answer `json:"answer"`
}

// Name is the folder's name.
func (p Prompt[In, Answer]) Name() string { return p.name }

// Hash names the prompt's content: every file of its folder, by name and bytes.
func (p Prompt[In, Answer]) Hash() string {
	h := sha256.New()
	// The files are compiled in: the walk cannot fail.
	_ = fs.WalkDir(p.files, p.name, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(p.files, name)
		fmt.Fprintf(h, "%s %d\n", name, len(b))
		h.Write(b)
		return err
	})
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func (p Prompt[In, Answer]) read(name string) ([]byte, error) {
	b, err := fs.ReadFile(p.files, path.Join(p.name, name))
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", p.name, err)
	}
	return b, nil
}

// Examples are the prompt's own.
func (p Prompt[In, Answer]) Examples() ([]Example[In, Answer], error) {
	b, err := p.read("examples.json")
	if err != nil {
		return nil, err
	}
	var out []Example[In, Answer]
	if err := strictly(b, &out); err != nil {
		return nil, fmt.Errorf("prompt %s: examples.json: %w", p.name, err)
	}
	return out, nil
}

// Render is the text that a model is sent.
func (p Prompt[In, Answer]) Render(in In) (string, error) {
	text, err := p.read("template.txt")
	if err != nil {
		return "", err
	}
	schema, err := p.read("schema.json")
	if err != nil {
		return "", err
	}
	examples, err := p.Examples()
	if err != nil {
		return "", err
	}
	t, err := template.New(p.name).Option("missingkey=error").Funcs(template.FuncMap{"data": data}).Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("prompt %s: %w", p.name, err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Input    In
		Schema   string
		Examples []Example[In, Answer]
	}{in, string(bytes.TrimSpace(schema)), examples})
	if err != nil {
		return "", fmt.Errorf("prompt %s: %w", p.name, err)
	}
	return b.String(), nil
}

// data writes a value as JSON with < > & escaped: a text that holds the mark which
// ends the data does not end it.
func data(v any) (string, error) {
	b, err := json.MarshalIndent(v, "", "  ") // escapes HTML: that is the point
	return string(b), err
}

// Parse reads an answer: one JSON object that the prompt's schema allows.
func (p Prompt[In, Answer]) Parse(answer []byte) (Answer, error) {
	var out Answer
	b, err := p.read("schema.json")
	if err != nil {
		return out, err
	}
	var s schema
	if err := strictly(b, &s); err != nil {
		return out, fmt.Errorf("prompt %s: schema.json: %w", p.name, err)
	}
	var v any
	if err := strictly(answer, &v); err != nil {
		return out, fmt.Errorf("answer to %s: %w", p.name, err)
	}
	if err := s.check("answer", v); err != nil {
		return out, fmt.Errorf("prompt %s: %w", p.name, err)
	}
	if err := strictly(answer, &out); err != nil {
		return out, fmt.Errorf("answer to %s: %w", p.name, err)
	}
	return out, nil
}

// strictly reads one JSON value and nothing after it.
func strictly(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("more than one value")
	}
	return nil
}

// Rules is the provider that writes by rule. It is no model.
const Rules = "rules"

// Provenance says who made a result, and by which prompt.
type Provenance struct {
	Provider string `json:"provider"` // "rules", or a model's name
	// Prompt is the name and Hash the hash of the prompt that was asked, or that
	// the rules stood in for.
	Prompt string `json:"prompt"`
	Hash   string `json:"hash"`
	Asked  bool   `json:"asked"` // false: no model saw it
}

// ByRules is the provenance of what rules made where a model could have been asked.
func ByRules[In, Answer any](p Prompt[In, Answer]) Provenance {
	return Provenance{Provider: Rules, Prompt: p.Name(), Hash: p.Hash()}
}
