package llmtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// TinyModel is a llama model with fixed random weights and a tokenizer of bytes in the GGUF
// format, half a megabyte: a real llama.cpp server reads it and writes nonsense that keeps
// to a schema. Dimension 0 of the residual stream is constant, so that column 0 of the
// output weights is a bias for each token: printable ASCII is likely, a quote comes soon.
func TinyModel() []byte {
	m := newTiny()
	var f words
	f.WriteString("GGUF")
	f.u32(3)
	f.u64(uint64(len(m.tensors)))
	f.u64(uint64(m.keys))
	f.Write(m.kv.Bytes())
	offset := uint64(0)
	for _, t := range m.tensors {
		f.str(t.name)
		f.u32(uint32(len(t.dims)))
		for _, x := range t.dims {
			f.u64(x)
		}
		f.u32(0) // F32
		f.u64(offset)
		offset += (uint64(len(t.data))*4 + 31) / 32 * 32
	}
	f.pad()
	for _, t := range m.tensors {
		_ = binary.Write(&f, binary.LittleEndian, t.data) // into memory
		f.pad()
	}
	return f.Bytes()
}

// The size of the model.
const (
	width, heads, layers, inner = 64, 4, 2, 128
	bytesOffset                 = 3 // tokens before those of the bytes
)

// words is a buffer of little-endian numbers.
type words struct{ bytes.Buffer }

func (b *words) u32(v uint32) { b.Write(binary.LittleEndian.AppendUint32(nil, v)) }
func (b *words) u64(v uint64) { b.Write(binary.LittleEndian.AppendUint64(nil, v)) }
func (b *words) str(s string) { b.u64(uint64(len(s))); b.WriteString(s) }
func (b *words) pad() {
	for b.Len()%32 != 0 {
		b.WriteByte(0)
	}
}

type tensor struct {
	name string
	dims []uint64 // fastest first
	data []float32
}

// The types of tokens.
const (
	normal  = 1
	unknown = 2
	control = 3
	oneByte = 6
)

type tiny struct {
	rnd     *rand.Rand
	tokens  []string
	types   []uint32
	tensors []tensor
	kv      words
	keys    int
}

func newTiny() *tiny {
	m := &tiny{rnd: rand.New(rand.NewPCG(7, 7))} //nolint:gosec // the same model each time
	m.vocabulary()
	m.weights()
	m.metadata()
	return m
}

func (m *tiny) vocabulary() {
	m.tokens, m.types = []string{"<unk>", "<s>", "</s>"}, []uint32{unknown, control, control}
	for i := range 256 {
		m.tokens, m.types = append(m.tokens, fmt.Sprintf("<0x%02X>", i)), append(m.types, oneByte)
	}
	for c := rune(0x20); c < 0x7f; c++ {
		s := string(c)
		if c == ' ' {
			s = "▁"
		}
		m.tokens, m.types = append(m.tokens, s), append(m.types, normal)
	}
}

func (m *tiny) random(rows, cols int, deviation float64) []float32 {
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(m.rnd.NormFloat64() * deviation)
	}
	return x
}

func ones(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// bias is how likely a token is.
func (m *tiny) bias(t int) float64 {
	switch token := m.tokens[t]; {
	case token == `"` || token == "]" || token == "}" || t == 2: // the end of a text, a list, an object, an answer
		return 12
	case token == ",":
		return 11
	case token == `\` || token == "`":
		return -20
	case token == "▁":
		return -2
	case m.types[t] == normal:
		return 0
	}
	return -40
}

func (m *tiny) weights() {
	n := len(m.tokens)
	embedding, output := m.random(n, width, .2), m.random(n, width, .1)
	for t := range m.tokens {
		embedding[t*width], output[t*width] = 8, float32(m.bias(t)/4)
	}
	m.tensors = []tensor{
		{"token_embd.weight", []uint64{width, uint64(n)}, embedding},
		{"output_norm.weight", []uint64{width}, ones(width)},
		{"output.weight", []uint64{width, uint64(n)}, output},
	}
	for l := range layers {
		prefix := fmt.Sprintf("blk.%d.", l)
		for _, name := range []string{"attn_norm", "ffn_norm"} {
			m.tensors = append(m.tensors, tensor{prefix + name + ".weight", []uint64{width}, ones(width)})
		}
		for _, x := range []struct {
			name       string
			rows, cols int
			constant   bool // it leaves dimension 0 as it is
		}{
			{"attn_q", width, width, false}, {"attn_k", width, width, false}, {"attn_v", width, width, false}, {"attn_output", width, width, true},
			{"ffn_gate", inner, width, false}, {"ffn_up", inner, width, false}, {"ffn_down", width, inner, true},
		} {
			data := m.random(x.rows, x.cols, .2)
			if x.constant {
				clear(data[:x.cols])
			}
			m.tensors = append(m.tensors, tensor{prefix + x.name + ".weight", []uint64{uint64(x.cols), uint64(x.rows)}, data})
		}
	}
}

// key begins a value of the metadata.
func (m *tiny) key(name string, kind uint32) {
	m.keys++
	m.kv.str(name)
	m.kv.u32(kind)
}

func (m *tiny) text(name, s string) { m.key(name, 8); m.kv.str(s) }

func (m *tiny) number(name string, x uint32) { m.key(name, 4); m.kv.u32(x) }

func (m *tiny) list(name string, kind uint32) {
	m.key(name, 9)
	m.kv.u32(kind)
	m.kv.u64(uint64(len(m.tokens)))
}

func (m *tiny) flag(name string, on byte) { m.key(name, 7); m.kv.WriteByte(on) }

func (m *tiny) metadata() {
	m.text("general.architecture", "llama")
	m.text("general.name", "tiny-random")
	m.number("llama.context_length", 32768)
	m.number("llama.embedding_length", width)
	m.number("llama.block_count", layers)
	m.number("llama.feed_forward_length", inner)
	m.number("llama.attention.head_count", heads)
	m.number("llama.attention.head_count_kv", heads)
	m.number("llama.rope.dimension_count", width/heads)
	m.number("llama.vocab_size", uint32(len(m.tokens)))
	m.key("llama.attention.layer_norm_rms_epsilon", 6)
	m.kv.u32(math.Float32bits(1e-5))
	m.text("tokenizer.ggml.model", "llama")
	m.list("tokenizer.ggml.tokens", 8)
	for _, t := range m.tokens {
		m.kv.str(t)
	}
	m.list("tokenizer.ggml.scores", 6)
	for i := range m.tokens {
		m.kv.u32(math.Float32bits(float32(-max(0, i-256-bytesOffset+1))))
	}
	m.list("tokenizer.ggml.token_type", 5)
	for _, t := range m.types {
		m.kv.u32(t)
	}
	m.number("tokenizer.ggml.unknown_token_id", 0)
	m.number("tokenizer.ggml.bos_token_id", 1)
	m.number("tokenizer.ggml.eos_token_id", 2)
	m.flag("tokenizer.ggml.add_bos_token", 1)
	m.flag("tokenizer.ggml.add_space_prefix", 0)
	m.text("tokenizer.chat_template", "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}<|assistant|>")
}
