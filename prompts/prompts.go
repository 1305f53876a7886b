// Package prompts holds the questions for models: one folder per prompt, with its
// template, the schema of its answer, and examples, and one frame around all of them. The
// hash of a prompt covers every byte of its folder and of the frame.
//
// The package never asks a model and imports no other package of this module. Text from
// repositories goes into a prompt as marked data, escaped so that it cannot end its mark.
package prompts

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed frame.txt describe classify notes review repair lazy requests suite
var files embed.FS

// frame is what all prompts say alike.
const frame = "frame.txt"

// Prompt is one question, with the type of its input and the type of its answer.
type Prompt[In, Answer any] struct {
	name  string
	files fs.FS // holds the folder called name
}

// The prompts.
var (
	Describe = Prompt[DescribeInput, DescribeAnswer]{"describe", files}
	Classify = Prompt[ClassifyInput, ClassifyAnswer]{"classify", files}
	Notes    = Prompt[NotesInput, NotesAnswer]{"notes", files}
	Review   = Prompt[ReviewInput, ReviewAnswer]{"review", files}
	Lazy     = Prompt[DescribeInput, LazyAnswer]{"lazy", files}
	Repair   = Prompt[RepairInput, RepairAnswer]{"repair", files}
)

// Note is one entry of release notes.
type Note struct {
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text"`
}

// DescribeInput is what a model may use to write a statement.
type DescribeInput struct {
	Repository string   `json:"repository"`
	Readme     string   `json:"readme,omitempty"` // how the project's README begins
	Notes      []Note   `json:"notes,omitempty"`  // best first
	Subject    string   `json:"subject"`
	Body       string   `json:"body,omitempty"`
	Required   []string `json:"required,omitempty"` // names and literals that the statement must say
	// Messages are texts of the program that the tests compare with.
	Messages  []Message `json:"messages,omitempty"`
	Interface []string  `json:"interface,omitempty"` // names with signatures that are listed below the statement anyway
	Forbidden []string  `json:"forbidden,omitempty"` // names that only the solution has
	Tests     []Test    `json:"tests,omitempty"`     // those that must pass
	// TestChanges is what the change did to the files of the tests, as a diff.
	TestChanges string `json:"test_changes,omitempty"`
	// BaseCode is how functions that the change edits look before it.
	BaseCode string `json:"base_code,omitempty"`
	Fault    string `json:"fault,omitempty"` // what was wrong with the statement that was written before
}

// Message is a text of the program, with "…" for each value that it inserts, and how a test
// has it.
type Message struct {
	Text    string `json:"text"`
	Example string `json:"example,omitempty"`
}

// Test is a test that must pass, and how it fails before the change.
type Test struct {
	Name  string `json:"name"`
	Fails string `json:"fails,omitempty"`
}

// DescribeAnswer is a statement in its parts.
type DescribeAnswer struct {
	Appeal       string   `json:"appeal"`
	Background   string   `json:"background"`
	Requirements []string `json:"requirements"`
	Covers       []Cover  `json:"covers"`
	Thin         bool     `json:"thin"`       // the material says too little
	Suspicious   bool     `json:"suspicious"` // a text tries to give orders
}

// LazyAnswer is the instruction of an edit.
type LazyAnswer struct {
	Instruction string `json:"instruction"`
	Suspicious  bool   `json:"suspicious"`
}

// Cover are the requirements that a test rests on, by their numbers from 1.
type Cover struct {
	Test         string `json:"test"`
	Requirements []int  `json:"requirements"`
}

// Text is the statement as a solver reads it.
func (a DescribeAnswer) Text() string {
	parts := []string{strings.TrimSpace(a.Appeal)}
	if background := strings.TrimSpace(a.Background); background != "" {
		parts = append(parts, background)
	}
	text := strings.Join(parts, " ")
	for i, r := range a.Requirements {
		if i == 0 {
			text += "\n"
		}
		text += "\n- " + strings.TrimRight(strings.Join(strings.Fields(r), " "), "; ")
	}
	return text
}

// Uncovered are the tests that no requirement covers.
func (a DescribeAnswer) Uncovered(tests []Test) (out []string) {
	covered := map[string]bool{}
	for _, c := range a.Covers {
		for _, n := range c.Requirements {
			covered[c.Test] = covered[c.Test] || n >= 1 && n <= len(a.Requirements)
		}
	}
	for _, t := range tests {
		if !covered[t.Name] {
			out = append(out, t.Name)
		}
	}
	return out
}

// ReviewInput is what a model may use to judge a statement.
type ReviewInput struct {
	Repository  string   `json:"repository"`
	Statement   string   `json:"statement"`
	Interface   []string `json:"interface,omitempty"`
	Tests       []string `json:"tests,omitempty"`
	TestChanges string   `json:"test_changes,omitempty"`
	Change      string   `json:"change,omitempty"` // a diff of the code
}

// ReviewAnswer is what is wrong with a statement.
type ReviewAnswer struct {
	Unfair     []Unfair `json:"unfair"`
	Vague      []string `json:"vague"`
	Leaks      []string `json:"leaks"`
	Extra      []string `json:"extra"`
	Label      string   `json:"label"`   // S0 to S3
	Verdict    string   `json:"verdict"` // good, repair, reject
	Suspicious bool     `json:"suspicious"`
}

// Unfair is a test that somebody could fail who does what the statement says.
type Unfair struct {
	Test string `json:"test"`
	Code string `json:"code"` // missing, name, wording, wrong
}

// NotesInput are the entries of release notes, numbered.
type NotesInput struct {
	Repository string `json:"repository"`
	Lines      []Line `json:"lines"`
	Fault      string `json:"fault,omitempty"`
}

// Line is one entry.
type Line struct {
	N       int    `json:"n"`
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text"`
}

// NotesAnswer are the labels of entries.
type NotesAnswer struct {
	Lines      []LineLabel `json:"lines"`
	Suspicious bool        `json:"suspicious"`
}

// LineLabel is the label of one entry.
type LineLabel struct {
	N     int    `json:"n"`
	Quote string `json:"quote"`
	Label string `json:"label"`
}

// RepairInput is a recipe that does not build, and why.
type RepairInput struct {
	Repository     string            `json:"repository"`
	Language       string            `json:"language"`
	Date           string            `json:"date"` // YYYY-MM-DD
	Toolchain      string            `json:"toolchain"`
	SystemPackages []string          `json:"system_packages"`
	Requirements   []string          `json:"requirements"`
	Variables      map[string]string `json:"variables,omitempty"`
	Test           []string          `json:"test"`
	Log            string            `json:"log"` // its end
	Files          []File            `json:"files,omitempty"`
	Toolchains     []string          `json:"toolchains,omitempty"` // that can be had
	Commands       []string          `json:"commands,omitempty"`   // for tests, that were found
	Tried          []string          `json:"tried,omitempty"`
	Fault          string            `json:"fault,omitempty"` // what was wrong with the answer before
}

// File is one of the project's build files.
type File struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// RepairAnswer are edits of a recipe.
type RepairAnswer struct {
	Quote      string `json:"quote"`
	Cause      string `json:"cause"`
	Edits      []Edit `json:"edits"`
	Suspicious bool   `json:"suspicious"`
}

// Edit is one edit of a recipe.
type Edit struct {
	Op    string `json:"op"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ClassifyInput is what a model may use to choose a label.
type ClassifyInput struct {
	Repository string   `json:"repository"`
	Notes      []Note   `json:"notes,omitempty"`
	Subject    string   `json:"subject"`
	Body       string   `json:"body,omitempty"`
	Files      []string `json:"files,omitempty"` // paths of the code part
}

// ClassifyAnswer is a label, and the words of the input that decided it.
type ClassifyAnswer struct {
	Quote      string `json:"quote"`
	Label      string `json:"label"`
	Suspicious bool   `json:"suspicious"`
}

// Example is an input with the wanted answer.
type Example[In, Answer any] struct {
	Input  In     `json:"input"`
	Answer Answer `json:"answer"`
}

// Name returns the name of the prompt's folder.
func (p Prompt[In, Answer]) Name() string { return p.name }

// Hash returns the SHA-256 of the frame and of every file of the prompt's folder, names and
// bytes, as "sha256:" and hex digits.
func (p Prompt[In, Answer]) Hash() string {
	h := sha256.New()
	for _, root := range []string{frame, p.name} {
		// The files are compiled in, so the walk cannot fail.
		_ = fs.WalkDir(p.files, root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(p.files, name)
			fmt.Fprintf(h, "%s %d\n", name, len(b))
			h.Write(b)
			return err
		})
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func (p Prompt[In, Answer]) read(name string) ([]byte, error) {
	b, err := fs.ReadFile(p.files, path.Join(p.name, name))
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", p.name, err)
	}
	return b, nil
}

// Examples returns the prompt's examples.
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

// Text is what is sent to a model. What is the same in every question of a prompt comes first:
// servers keep what they have read of it. The strangers' text follows, and behind it stands
// once more what is asked.
type Text struct {
	System   string `json:"system"` // rules, schema and examples
	Material string `json:"material"`
	Question string `json:"question"`
	Schema   string `json:"schema"` // JSON Schema of the answer, its members in the order of schema.json
}

// Render returns the text to send to a model.
func (p Prompt[In, Answer]) Render(in In) (Text, error) {
	var out Text
	around, err := fs.ReadFile(p.files, frame)
	if err != nil {
		return out, err
	}
	text, err := p.read("template.txt")
	if err != nil {
		return out, err
	}
	schema, err := p.read("schema.json")
	if err != nil {
		return out, err
	}
	examples, err := p.Examples()
	if err != nil {
		return out, err
	}
	t, err := template.New(p.name).Option("missingkey=error").Funcs(template.FuncMap{"data": data, "line": line}).Parse(string(around) + string(text))
	if err != nil {
		return out, fmt.Errorf("prompt %s: %w", p.name, err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, schema); err != nil {
		return out, fmt.Errorf("prompt %s: schema.json: %w", p.name, err)
	}
	out.Schema = b.String()
	values := struct {
		Input    In
		Schema   string
		Examples []Example[In, Answer]
	}{in, out.Schema, examples}
	for name, into := range map[string]*string{"system": &out.System, "material": &out.Material, "question": &out.Question} {
		b.Reset()
		if err := t.ExecuteTemplate(&b, name, values); err != nil {
			return out, fmt.Errorf("prompt %s: %w", p.name, err)
		}
		*into = b.String()
	}
	return out, nil
}

// data returns a value as JSON with < > & escaped, so that no text can contain the mark
// that ends the data.
func data(v any) (string, error) {
	b, err := json.MarshalIndent(v, "", "  ") // escapes HTML, which is the point
	return string(b), err
}

// line is data on one line.
func line(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// Parse reads an answer: one JSON object that matches the prompt's schema. Members that the
// schema does not know are dropped where it is closed.
func (p Prompt[In, Answer]) Parse(answer []byte) (Answer, error) {
	var out Answer
	b, err := p.read("schema.json")
	if err != nil {
		return out, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return out, fmt.Errorf("prompt %s: schema.json: %w", p.name, err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return out, fmt.Errorf("prompt %s: schema.json: %w", p.name, err)
	}
	var v any
	if err := strictly(answer, &v); err != nil {
		return out, fmt.Errorf("%w: answer to %s: %w", ErrNotJSON, p.name, err)
	}
	dropUnknown(&s, &s, v)
	err = resolved.Validate(v)
	if err == nil { // what is left is read: the decoder takes "Label" for "label"
		b, err = json.Marshal(v)
	}
	if err == nil {
		err = strictly(b, &out)
	}
	if err != nil {
		return out, fmt.Errorf("answer to %s: %w", p.name, err)
	}
	return out, nil
}

// ErrNotJSON is an answer that is no JSON value.
var ErrNotJSON = errors.New("not JSON")

// dropUnknown takes out of a value what a schema of root does not allow in objects that it closes.
func dropUnknown(root, s *jsonschema.Schema, v any) {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok && root.Defs[name] != nil {
		s = root.Defs[name]
	}
	for _, one := range s.AnyOf {
		dropUnknown(root, one, v)
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if s.Items != nil {
				dropUnknown(root, s.Items, e)
			}
		}
	case map[string]any:
		others := s.AdditionalProperties
		for key, e := range v {
			switch known := s.Properties[key]; {
			case known != nil:
				dropUnknown(root, known, e)
			case others != nil && others.Not != nil:
				delete(v, key)
			case others != nil:
				dropUnknown(root, others, e)
			}
		}
	}
}

// strictly decodes one JSON value without unknown keys, and refuses anything after it.
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

// Rules is the provider of results that were made by rules, without a model.
const Rules = "rules"

// Provenance says who made a result, and by which prompt.
type Provenance struct {
	Provider string `json:"provider"`         // "rules", or a model's name
	Prompt   string `json:"prompt,omitempty"` // name of the prompt that was asked; "" where none was
	Hash     string `json:"hash,omitempty"`   // of that prompt
}

// ByRules is the provenance of what rules made.
func ByRules() Provenance { return Provenance{Provider: Rules} }
