// Package secrets finds credentials in texts and masks them: tokens and keys of services
// in the forms that gitleaks knows, values beside words like "password" that look
// random, and passwords in URLs.
//
// It never changes a patch, and never says a secret: findings name rule, place and
// fingerprint. It never finds what has no form and no such word beside it.
package secrets

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// placeholder stands for a credential.
const placeholder = "<secret>"

// Finding is one credential in a text.
type Finding struct {
	Rule        string
	Kind        Kind
	Path        string // of the file, "" where there is none
	Line        int    // of the text, from 1
	Fingerprint string // Fingerprint of rule and secret

	start, end int // of the secret in the text
}

// Fingerprint names a secret without saying it: RULE:HEX, 32 bits of a digest, which are
// enough to tell the secrets of a dataset apart and too few to find one by them.
func fingerprint(rule, secret string) string {
	sum := sha256.Sum256([]byte(rule + "\x00" + secret))
	return rule + ":" + hex.EncodeToString(sum[:4])
}

// Scan finds the credentials of a text. path is the name of the file that it is, ""
// where it is none: some files (locks, fonts) are never searched.
func Scan(path, text string) []Finding {
	return loaded().scan(path, text, question{})
}

// ScanSpecific is Scan with the rules of Kind Specific alone.
func ScanSpecific(text string) []Finding {
	return loaded().scan("", text, question{specific: true})
}

// question says what is looked for.
type question struct {
	prose    bool // what only looks like a credential as well
	specific bool // rules of this kind alone
}

func (s *ruleSet) scan(path, text string, q question) []Finding {
	if slices.ContainsFunc(s.global.paths, func(r lazy) bool { return path != "" && r().MatchString(path) }) {
		return nil
	}
	windows := s.windows(text, q)
	var out []Finding
	for i, r := range s.rules {
		if r.path != nil && !r.path().MatchString(path) {
			continue
		}
		for _, w := range windows[i] {
			for _, m := range r.matches(text[w.from:w.to], q.prose) {
				shift(m, w.from)
				if f, ok := s.judge(r, path, text, m, q.prose); ok && (q.prose || !fake(r, text[f.start:f.end])) {
					out = append(out, f)
				}
			}
		}
	}
	return numbered(text, out)
}

// shift moves the places of a match; those below 0 are none.
func shift(match []int, by int) {
	for i := range match {
		if match[i] >= 0 {
			match[i] += by
		}
	}
}

// windows are the parts of a text that each rule is tried on: those around its keywords.
func (s *ruleSet) windows(text string, q question) map[int][]span {
	windows := map[int][]span{}
	s.keywords.each(text, func(at int, rules []int) {
		for _, i := range rules {
			if r := s.rules[i]; q.specific && r.kind != Specific {
				continue
			} else if !r.begins {
				windows[i] = widen(windows[i], text, at, r.reach)
			} else if !r.word || at == 0 || !isWord(text[at-1]) {
				windows[i] = append(windows[i], span{at, min(len(text), at+longest)})
			}
		}
	})
	return windows
}

// matches are the places of a rule's expression. Most of those that one service alone gives
// end with a quote or a blank, as in code; in a sentence or an address another sign ends
// them.
func (r rule) matches(text string, prose bool) [][]int {
	out := r.regex().FindAllStringSubmatchIndex(text, -1)
	if r.kind == Specific || prose {
		if spaced := withoutSigns(text); spaced != text {
			out = append(out, r.regex().FindAllStringSubmatchIndex(spaced, -1)...)
		}
	}
	return out
}

// withoutSigns is a text of the same length with blanks for the signs that end a word.
func withoutSigns(text string) string {
	b := []byte(text)
	for i, c := range b {
		if strings.IndexByte("?!,;:)]}>&#|", c) >= 0 || c == '.' && (i+1 == len(text) || !isWord(text[i+1])) {
			b[i] = ' '
		}
	}
	return string(b)
}

// span is a part of a text.
type span struct{ from, to int }

// longest bounds a match, and how much of a line without end is looked at.
const longest = 4 << 10

// widen adds what a match around a keyword may take: its line and some after it. Spans
// come in order.
func widen(all []span, text string, at, lines int) []span {
	const before = 512
	from := max(0, at-before)
	if i := strings.LastIndexByte(text[from:at], '\n'); i >= 0 {
		from += i + 1
	}
	to := at
	for range lines {
		i := strings.IndexByte(text[to:min(len(text), to+longest)], '\n')
		if i < 0 {
			to = min(len(text), to+longest)
			break
		}
		to += i + 1
	}
	if n := len(all); n > 0 && from <= all[n-1].to {
		all[n-1].to = max(all[n-1].to, to)
		return all
	}
	return append(all, span{from, to})
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z'
}

// judge decides on one match of an expression.
func (s *ruleSet) judge(r rule, path, text string, m []int, prose bool) (Finding, bool) {
	start, end := m[0], m[1]
	group := r.group
	for g := 1; group == 0 && g < len(m)/2; g++ {
		if m[2*g] >= m[0] && m[2*g+1] > m[2*g] {
			group = g
		}
	}
	if group > 0 && 2*group+1 < len(m) && m[2*group+1] > m[2*group] && m[2*group] >= m[0] {
		start, end = m[2*group], m[2*group+1]
	}
	secret := text[start:end]
	random := entropy(secret) >= r.entropy || prose && r.kind == Specific
	if !random || r.id == "generic-api-key" && !strings.ContainsAny(secret, "0123456789") {
		return Finding{}, false
	}
	if r.id == urlPassword && strings.HasSuffix(text[m[0]:start], "://"+secret+":") {
		return Finding{}, false // the user's own name, as development settings have it
	}
	// In prose it costs nothing to mask what opens nothing. What an @ follows is no host: the
	// password goes on.
	if r.id == urlPassword && !prose && !strings.HasPrefix(text[m[1]:], "@") && unreachable(text[m[4]:m[5]]) {
		return Finding{}, false
	}
	line := lineAround(text, start, end)
	if r.id == "generic-api-key" && moduleSum.MatchString(line) {
		return Finding{}, false
	}
	for _, a := range append([]allowlist{s.global}, r.allowed...) {
		if a.holds(path, secret, text[m[0]:m[1]], line) {
			return Finding{}, false
		}
	}
	return Finding{Rule: r.id, Kind: r.kind, Path: path, Fingerprint: fingerprint(r.id, secret), start: start, end: end}, true
}

// moduleSum is the checksum of a Go module, as go.sum and what quotes it have it. The name of the
// module before it may hold any word ("oapi-codegen").
var moduleSum = lazyregexp.New(`[ \t]v[0-9]\S* h1:[A-Za-z0-9+/]{43}=`)

// lineAround is the line that a match begins on, as far as longest from it on both sides.
func lineAround(text string, start, end int) string {
	from, to := max(0, start-longest), min(len(text), end+longest)
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	line, _, _ := strings.Cut(text[from:to], "\n")
	return line
}

// fakeWords are what people write into a value that is to be none.
var fakeWords = lazyregexp.New(`(?i)example|dummy|fake|sample|placeholder|redacted|insert|your[-_]|not[-_]?a|invalid|xxxx|\*\*\*\*|\.\.\.|0123456|123456789|abcdefg|deadbeef|qwerty|foobar|lorem|secret|passw|test|change[-_]?(?:me|this|it)|replace[-_]?(?:me|this)|p[a4][s5]{2}w[o0]rd|s3cr[e3]t|letmein|hunter2|access[-_]?token`)

// fake reports whether a value says of itself that it is none. Where the form is a
// service's own, a word inside of it may be chance: only those of four of one
// character or a row of digits count.
func fake(r rule, secret string) bool {
	if r.kind == Specific && r.id != urlPassword {
		return clearlyFake.MatchString(secret)
	}
	return fakeWords.MatchString(secret)
}

var clearlyFake = lazyregexp.New(`(?i)example|dummy|placeholder|redacted|your[-_]|xxxx|\*\*\*\*|0{6}|0123456|123456789|abcdefg`)

// entropy is Shannon's, in bits for each character.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// numbered orders findings by place, leaves one for each place, that of the surest rule,
// and counts their lines.
func numbered(text string, all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(a.start-b.start, cmp.Compare(b.Kind, a.Kind), b.end-a.end) // "specific" sorts after "context"
	})
	var out []Finding
	line, at, end := 1, 0, 0
	for _, f := range all {
		if f.start < end {
			continue
		}
		line += strings.Count(text[at:f.start], "\n")
		f.Line, at, end = line, f.start, f.end
		out = append(out, f)
	}
	return out
}

// Scrub is a text without its credentials, and without those that are known. In prose a
// masked example costs nothing: what looks fake is masked as well.
func Scrub(text string, known ...string) string {
	text, _ = Mask(text, known...)
	return text
}

// Mask is Scrub, and what it has masked.
func Mask(text string, known ...string) (string, []Finding) {
	for _, k := range known {
		if k != "" {
			text = strings.ReplaceAll(text, k, placeholder)
		}
	}
	found := loaded().scan("", text, question{prose: true})
	if len(found) == 0 {
		return text, nil
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.start] + placeholder)
		at = f.end
	}
	return b.String() + text[at:], found
}
