package contamination

import (
	"crypto/sha1" //nolint:gosec // git's patch-id is made of it
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/schemas"
)

// line is one of a hunk: sign is ' ', '+' or '-'.
type line struct {
	sign byte
	text string
}

// hunk is one of a file. It replaces lines old to old+length of the file before.
type hunk struct {
	old, length int
	lines       []line
}

// file is what a patch does to one file.
type file struct {
	path   string
	header []string // but the line with the object IDs
	hunks  []hunk
}

// parse reads a unified diff as strangers write them: what stands between two files is passed over, and a hunk that
// is too short ends where the next file begins. It never fails: no hunk, no key.
func parse(text string) []file {
	var all []file
	var f *file
	left, right := 0, 0 // lines of the hunk that are to come
	for text != "" {
		var l string
		l, text, _ = strings.Cut(text, "\n")
		switch {
		case strings.HasPrefix(l, "diff --git "):
			all = append(all, file{path: gitName(l), header: []string{l}})
			f, left, right = &all[len(all)-1], 0, 0
		case (left > 0 || right > 0) && !strings.HasPrefix(l, "@@ -"):
			left, right = f.take(l, left, right)
		case strings.HasPrefix(l, "--- ") && strings.HasPrefix(text, "+++ "):
			if f == nil || len(f.hunks) > 0 {
				all = append(all, file{})
				f = &all[len(all)-1]
			}
			var next string
			next, text, _ = strings.Cut(text, "\n")
			f.named(l, next)
		case f == nil:
		case strings.HasPrefix(l, "@@ "):
			left, right = f.begin(l)
		case len(f.hunks) == 0 && l != "" && !strings.HasPrefix(l, "index "):
			f.header = append(f.header, l)
		}
	}
	return all
}

// named takes the two lines with the names before and after.
func (f *file) named(before, after string) {
	f.header = append(f.header, before, after)
	for _, l := range []string{after, before} {
		name, _, _ := strings.Cut(l[4:], "\t")
		name = strings.Trim(strings.TrimRight(name, "\r "), `"`)
		if name == "/dev/null" {
			continue
		}
		if rest, ok := strings.CutPrefix(name, l[:1]+"/"); ok || len(name) > 2 && name[1] == '/' && strings.IndexByte("abciwo", name[0]) >= 0 {
			if !ok {
				rest = name[2:]
			}
			name = rest
		}
		f.path = name
		return
	}
}

var hunkHead = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// begin reads the head of a hunk; how many lines of both sides are to come.
func (f *file) begin(l string) (left, right int) {
	m := hunkHead.FindStringSubmatch(l)
	if m == nil {
		return 0, 0
	}
	count := func(s string) int {
		if s == "" {
			return 1
		}
		n, _ := strconv.Atoi(s)
		return n
	}
	old, _ := strconv.Atoi(m[1])
	f.hunks = append(f.hunks, hunk{old: old, length: count(m[2])})
	return count(m[2]), count(m[4])
}

func (f *file) take(l string, left, right int) (int, int) {
	h := &f.hunks[len(f.hunks)-1]
	sign := byte(' ')
	if l != "" {
		sign, l = l[0], l[1:]
	}
	switch sign {
	case ' ':
		left, right = left-1, right-1
	case '-':
		left--
	case '+':
		right--
	default: // "\ No newline at end of file"
		return left, right
	}
	h.lines = append(h.lines, line{sign, l})
	return left, right
}

// gitName is the second name of a "diff --git" line.
func gitName(l string) string {
	if i := strings.LastIndex(l, " b/"); i >= 0 {
		return strings.TrimRight(l[i+3:], "\r")
	}
	return ""
}

// reversed is the way back.
func reversed(all []file) []file {
	out := make([]file, len(all))
	for i, f := range all {
		out[i] = file{path: f.path, header: f.header, hunks: make([]hunk, len(f.hunks))}
		for j, h := range f.hunks {
			turned := hunk{old: h.old, length: h.length, lines: make([]line, len(h.lines))}
			for k, l := range h.lines {
				switch l.sign {
				case '+':
					l.sign = '-'
				case '-':
					l.sign = '+'
				}
				turned.lines[k] = l
			}
			out[i].hunks[j] = turned
		}
	}
	return out
}

var generatedName = lazyregexp.New(`(?:^|/)dist/|(?:\.pb\.go|_pb2(?:_grpc)?\.pyi?|\.min\.(?:js|css|mjs)|[._]gen\.\w+|[._]generated\.\w+|\.g\.\w+|\.tab\.[ch]|/?zz_generated[^/]*|bindata\.go|\.(?:map|snap|svg|po|pot|ipynb))$`)

// saysGenerated are words of a file that a program wrote.
func saysGenerated(l string) bool {
	for _, words := range []string{"Code generated", "code generated", "@generated", "DO NOT EDIT", "Do not edit"} {
		if strings.Contains(l, words) {
			return true
		}
	}
	return strings.HasPrefix(l, "#line ")
}

// grammars are files that programs are generated from, under the same name with another extension.
var grammars = []string{".y", ".l", ".yy", ".ll", ".proto", ".g4", ".pyx", ".rl", ".peg"}

// code are the source files of the code part: not tests, documents, manifests, vendored or generated files. Where none
// is left, its other files count; where it has none, source files in folders of documents, examples or tools.
func code(all []file) []file {
	names := map[string]bool{}
	for _, f := range all {
		names[f.path] = true
	}
	var tiers [3][]file
	for _, f := range all {
		part, rule := parts.Common(f.path)
		ships, source := part == schemas.PartCode && rule == "ships", parts.IsSource(f.path)
		switch {
		case part == schemas.PartTest || f.generated(names):
		case ships && source:
			tiers[0] = append(tiers[0], f)
		case ships:
			tiers[1] = append(tiers[1], f)
		case source && part != schemas.PartCode: // not vendored
			tiers[2] = append(tiers[2], f)
		}
	}
	for _, t := range tiers {
		if len(t) > 0 {
			return t
		}
	}
	return nil
}

func (f file) generated(names map[string]bool) bool {
	if generatedName.MatchString(f.path) {
		return true
	}
	stem := strings.TrimSuffix(f.path, path.Ext(f.path))
	for _, ext := range grammars {
		if names[stem+ext] && path.Ext(f.path) != ext {
			return true
		}
	}
	for _, h := range f.hunks {
		for _, l := range h.lines {
			if l.sign != ' ' && len(l.text) < 200 && saysGenerated(l.text) {
				return true
			}
		}
	}
	return false
}

// patchID is that of git patch-id --stable; "" for files without hunks.
func patchID(files []file) string {
	var sum [sha1.Size]byte
	some := false
	for _, f := range files {
		if len(f.hunks) == 0 {
			continue
		}
		some = true
		h := sha1.New() //nolint:gosec // as git has it
		for _, l := range f.header {
			h.Write([]byte(blankless(l)))
		}
		for _, k := range f.hunks {
			for _, l := range k.lines {
				text := blankless(l.text)
				if l.sign != ' ' {
					text = string(l.sign) + text
				}
				h.Write([]byte(text))
			}
		}
		carry := 0
		for i, b := range h.Sum(nil) {
			carry += int(sum[i]) + int(b)
			sum[i] = byte(carry)
			carry >>= 8
		}
	}
	if !some {
		return ""
	}
	return hex.EncodeToString(sum[:])
}

// blankless is a text without white space, as git has it in patch-id.
func blankless(s string) string {
	if !strings.ContainsAny(s, " \t\r\n\v\f") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n', '\v', '\f':
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}
