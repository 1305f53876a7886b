package predictions

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
)

// mostFile bounds what is read of one file, unpacked.
const mostFile = 2 << 30

// open is the text of a file as UTF-8: unpacked where gzip packed it, and without its byte
// order mark.
func open(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var from io.Reader = in
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		if from, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	b, err := io.ReadAll(io.LimitReader(from, mostFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(b) > mostFile:
		return nil, fmt.Errorf("%s: more than %d bytes", name, mostFile)
	}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return b[3:], nil
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return b, nil
	}
	units := make([]uint16, 0, len(b)/2)
	for at := 2; at+1 < len(b); at += 2 {
		units = append(units, order.Uint16(b[at:]))
	}
	return []byte(string(utf16.Decode(units))), nil
}

// file reads one file of JSON lines, a list or an object.
func (r *reader) file(name string) error {
	b, err := open(name)
	if err != nil {
		return err
	}
	r.model = strings.TrimSuffix(filepath.Base(name), ".gz")
	r.model = strings.TrimSuffix(r.model, filepath.Ext(r.model))
	b = plain(b)
	head := bytes.TrimSpace(b)
	before := len(r.out)
	switch {
	case len(head) == 0:
		return fmt.Errorf("%s is empty", name)
	case head[0] == '[' && r.list(name, b):
		return nil
	case head[0] == '{' && r.object(name, head):
		return nil
	}
	r.lines(name, b)
	if len(r.out) == before && len(r.faults) > 0 && head[0] != '{' {
		return fmt.Errorf("%s: not predictions (%w): JSON lines, a list or an object of JSON, or a folder of patches are read", name, r.faults[0].Err)
	}
	return nil
}

// list reads a list. It reports whether the whole text is one: of a damaged one the rows are
// read as lines.
func (r *reader) list(name string, text []byte) bool {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return false
	}
	for i, raw := range list {
		r.one(fmt.Sprintf("%s: entry %d", name, i+1), "", raw)
	}
	return true
}

// lines reads a value, or several, from each line; where a line begins one that others end,
// as printers of JSON write it, from these. A line that cannot be read takes no other with it.
func (r *reader) lines(name string, text []byte) {
	n := 0
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		where := name + ":" + strconv.Itoa(n+1)
		used := 1
		switch trimmed := strings.Trim(string(line), " \t\r,"); trimmed {
		case "", "[", "]":
		default:
			values, err := valuesOf([]byte(trimmed))
			if err != nil && len(values) == 0 {
				if value, over := spread(text); value != nil {
					values, err, used = []json.RawMessage{value}, nil, over
				} else {
					values, err = valuesOf([]byte(strings.Trim(trimmed, "[] \t,"))) // of a list that is cut
				}
			}
			for _, raw := range values {
				r.one(where, "", raw)
			}
			if err != nil {
				r.fault(where, err)
			}
		}
		for ; used > 1; used-- {
			n++
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		n++
		text = rest
	}
}

// valuesOf are the values of a line.
func valuesOf(line []byte) (out []json.RawMessage, err error) {
	for len(line) > 0 {
		d := json.NewDecoder(bytes.NewReader(line))
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("unexpected end of JSON input")
			}
			return out, err
		}
		out = append(out, raw)
		line = bytes.TrimLeft(line[d.InputOffset():], " \t\r,")
	}
	return out, nil
}

// spread is the object that text begins with and the lines that it takes: those that a
// printer indents, up to the brace that stands as its first one does. nil where there is none.
func spread(text []byte) (json.RawMessage, int) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	indent := first[:len(first)-len(bytes.TrimLeft(first, " \t"))]
	if string(bytes.TrimSpace(first)) != "{" {
		return nil, 0
	}
	end, n := 0, 0
	for line := range bytes.Lines(text) {
		end += len(line)
		n++
		if closing := bytes.TrimRight(line, " \t\r\n,"); n > 1 && string(closing) == string(indent)+"}" {
			value := json.RawMessage(bytes.TrimRight(text[:end], " \t\r\n,"))
			if json.Valid(value) {
				return value, n
			}
			return nil, 0
		}
	}
	return nil, 0
}

// object reads one JSON object: of predictions by instance ID, or one prediction. It is
// false where the text is more than one value.
func (r *reader) object(name string, text []byte) bool {
	all, err := rowOf(text)
	if err != nil {
		return false
	}
	if all.isEntry() {
		r.one(name+":1", "", text)
		return true
	}
	for _, id := range sortedKeys(all) {
		r.one(fmt.Sprintf("%s: %q", name, id), id, all[id])
	}
	return true
}

// The keys that hold what is asked for, each in the order of who is asked first; a path goes
// into objects. They are those of SWE-bench and SWE-agent, RES-Q, SWE-bench Pro, Multi-SWE-bench, OpenHands,
// FeatBench, NeMo's and R2E's rows.
var (
	instanceKeys = []string{"instance_id", "id", "swe-bench-outputs.instance_id", "ds.instance_id", "instance.instance_id"}
	patchKeys    = []string{"model_patch", "test_result.git_patch", "git_patch", "swe-bench-outputs.model_patch", "output_patch", "patch_application.patch_content", "prediction", "fix_patch", "patch"}
	modelKeys    = []string{"model_name_or_path", "model", "model_name", "metadata.llm_config.model", "swe-bench-outputs.model_name_or_path", "prefix"}
	sampleKeys   = []string{"sample", "sample_idx", "sample_index", "sample_id"}
	tokenKeys    = []string{"total_tokens"}
	inputKeys    = []string{"input_tokens", "prompt_tokens", "metrics.accumulated_token_usage.prompt_tokens"}
	outputKeys   = []string{"output_tokens", "completion_tokens", "metrics.accumulated_token_usage.completion_tokens"}
	turnKeys     = []string{"turns"}
	costKeys     = []string{"cost", "metrics.accumulated_cost"}
	// rowKeys are those of a dataset: in one of its rows, patch and fix_patch are the solution.
	rowKeys = []string{"test_patch", "FAIL_TO_PASS", "PASS_TO_PASS", "f2p_tests"}
)

// keys are those that a misspelt one is compared with.
var keys = slices.Concat(instanceKeys, patchKeys, modelKeys, sampleKeys, tokenKeys, inputKeys, outputKeys, turnKeys, costKeys)

// isEntry reports whether an object is a prediction, and not many by their instances' IDs.
func (r row) isEntry() bool {
	return slices.ContainsFunc(keys, func(k string) bool { _, ok := r[k]; return ok })
}

// sampled is how SWE-bench Pro says model and sample in one word.
var sampled = lazyregexp.New(`^(.+)_s(\d{1,9})$`)

// one reads an entry. id stands for one that the entry does not name.
func (r *reader) one(where, id string, raw json.RawMessage) {
	if patch, replaced, ok := text(raw); ok && id != "" {
		r.take(Prediction{Instance: id, Model: r.model, Patch: patch, Where: where, Said: saidOf(replaced)}, nil, false)
		return
	}
	if string(raw) == "null" && id != "" {
		r.take(Prediction{Instance: id, Model: r.model, Where: where}, nil, false)
		return
	}
	e, err := rowOf(raw)
	if err != nil {
		r.fault(where, err)
		return
	}
	p := Prediction{Instance: e.word(instanceKeys[0]), Model: e.word(modelKeys...), Where: where}
	if org, repo, number := e.word("org"), e.word("repo"), e.word("number"); p.Instance == "" && org != "" && repo != "" && number != "" {
		p.Instance = org + "__" + repo + "-" + number
	}
	p.Instance = first(p.Instance, id, e.word(instanceKeys[1:]...))
	if p.Instance == "" {
		r.fault(where, e.missing("instance_id"))
		return
	}
	if p.Patch, p.Said, err = e.patch(); err != nil {
		r.fault(where, fmt.Errorf("%s: %w", p.Instance, err))
		return
	}
	p.Tokens, p.InputTokens, p.OutputTokens, p.Turns = e.count(tokenKeys), e.count(inputKeys), e.count(outputKeys), e.count(turnKeys)
	if p.Tokens == 0 {
		p.Tokens = p.InputTokens + p.OutputTokens
	}
	p.Cost, p.Agent, p.Setting = e.dollars(costKeys), e.word("agent"), e.word("setting")
	var sample *int
	if n, ok := e.number(sampleKeys...); ok {
		if n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			r.fault(where, fmt.Errorf("%s: sample %v is not a whole number", p.Instance, n))
			return
		}
		whole := int(n)
		sample = &whole
	}
	named, prefix := p.Model != "", e.word("prefix")
	if m := sampled.FindStringSubmatch(prefix); m != nil {
		if p.Model == prefix {
			p.Model = m[1]
		}
		if n, err := strconv.Atoi(m[2]); err == nil && sample == nil {
			sample = &n
		}
	}
	p.Model = first(p.Model, r.model)
	r.take(p, sample, named)
}

// count is a whole number above 0; 0 where no key has one.
func (r row) count(keys []string) int64 {
	if n, ok := r.number(keys...); ok && n > 0 && n < 1<<53 {
		return int64(n)
	}
	return 0
}

// dollars is a number above 0; 0 where no key has one.
func (r row) dollars(keys []string) float64 {
	if n, ok := r.number(keys...); ok && n > 0 && !math.IsInf(n, 0) {
		return n
	}
	return 0
}

// patch is the answer of an entry, and what there is to say of it. null, and no key for it at all, are an
// answer that holds nothing.
func (r row) patch() (patch []byte, said []string, err error) {
	for _, key := range patchKeys {
		raw := r.at(key)
		if raw == nil || string(raw) == "null" {
			continue
		}
		if key == "patch" || key == "fix_patch" {
			for _, of := range rowKeys {
				if _, ok := r[of]; ok {
					return nil, nil, fmt.Errorf("key %q beside %q is the solution of a dataset's row, and no other key holds an answer", key, of)
				}
			}
		}
		patch, replaced, ok := text(raw)
		if !ok {
			return nil, nil, fmt.Errorf("key %q: a patch is a string, not %.20s", key, raw)
		}
		return patch, saidOf(replaced), nil
	}
	for _, key := range patchKeys {
		if r.at(key) != nil {
			return nil, nil, nil // null
		}
	}
	if hint := r.missing("model_patch"); r.hinted("model_patch") != "" {
		return nil, nil, hint
	}
	return nil, []string{"no key of the entry holds a patch: it is taken as empty"}, nil
}

// hinted is the key that may be meant for another one: one that is spelt nearly so, or, for a
// patch, one that holds a patch.
func (r row) hinted(key string) string {
	for _, name := range sortedKeys(r) {
		if slices.Contains(keys, name) {
			continue
		}
		value, _, _ := text(r[name])
		if nearest.Hint(name, []string{key}) != "" || key == "model_patch" && (bytes.Contains(value, []byte("diff --git ")) || bytes.Contains(value, []byte("\n@@ "))) {
			return name
		}
	}
	return ""
}

// missing says that a key is not there, and which key may be meant for it.
func (r row) missing(key string) error {
	if name := r.hinted(key); name != "" {
		return fmt.Errorf("key %q is missing; is %q meant for it?", key, name)
	}
	return fmt.Errorf("key %q is missing", key)
}

func saidOf(replaced int) []string {
	if replaced == 0 {
		return nil
	}
	return []string{fmt.Sprintf("half characters (surrogates without their pair) became U+FFFD: %d", replaced)}
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

func sortedKeys(m row) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
