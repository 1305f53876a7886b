package changelog

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

var (
	role      = lazyregexp.New("(?::(?:[a-z]+:)?([A-Za-z_-]+):|\\{([A-Za-z_-]+)\\})`([^`]*)`")
	numbered  = strings.Fields("pr pull pulls ghpull pullreq pull-request issue issues ghissue gh bug ticket gh-pr gh-issue mr feature support")
	ofRole    = lazyregexp.New(`^[#!]?([1-9]\d{0,8})$|<[#!]?([1-9]\d{0,8})>$`)
	restHref  = lazyregexp.New("`([^`<]*?)\\s*<([^>`]+)>`_{1,2}")
	restName  = lazyregexp.New("`([^`]+)`_{1,2}|(?:^|[\\s(\\[,])(#?[A-Za-z0-9][\\w.+-]*)_(?:$|[\\s)\\],.;:])")
	mdHref    = lazyregexp.New(`\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?((?:[^()\s]|\([^()\s]*\))*)>?(?:\s+["'][^"')]*["'])?\)`)
	mdName    = lazyregexp.New(`\[([^\[\]]+)\]\[([^\[\]]*)\]|\[([^\[\]]+)\]`)
	bareURL   = lazyregexp.New("https?://[^\\s<>()\\[\\]\"'`]+")
	codeSpan  = lazyregexp.New("``[^`]+``|`[^`]+`")
	codeHash  = lazyregexp.New("[(\\[,]\\s*`([0-9a-f]{7,40})`\\s*[)\\],]")
	qualified = lazyregexp.New(`([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)([#!])([1-9]\d{0,8})`)
	spelled   = lazyregexp.New(`(?i)\b(?:gh[- ]?|(?:prs?|mrs?|pull|pull requests?|merge requests?|issues?|tickets?|bug)\s+)([1-9]\d{0,8})\b`)
	hash      = lazyregexp.New(`[#!]([1-9]\d{0,8})`)
	commitID  = lazyregexp.New(`\b[0-9a-f]{7,40}\b`)
	colour    = lazyregexp.New(`(?i)(?:colou?rs?|background|fill|hex)\b[^\s]{0,2}\s*[:=("']*\s*$`)
	forge     = lazyregexp.New(`^https?://[^/]+/(.+?)/(?:-/)?(pull|pulls|issues|issue|merge_requests|commit|commits|compare|discussions)/([^?#]+)`)
	digits    = lazyregexp.New(`^[1-9]\d{0,8}`)
	hexID     = lazyregexp.New(`^[0-9a-f]{7,40}$`)
)

// link is what a forge URL points to.
type link struct {
	repo    string // owner/name in lower case; "" where there is none
	number  int
	pull    bool // the number is of a pull request, not perhaps of an issue
	commit  string
	compare bool
}

func parseLink(url string) link {
	m := forge.FindStringSubmatch(url)
	if m == nil {
		return link{}
	}
	l := link{repo: strings.ToLower(strings.TrimSuffix(m[1], "/-"))}
	switch rest := m[3]; m[2] {
	case "commit", "commits":
		if id, _, _ := strings.Cut(rest, "/"); hexID.MatchString(id) {
			l.commit = id
		}
	case "compare":
		l.compare = true
	case "discussions":
	default:
		l.number = atoi(digits.FindString(rest))
		l.pull = isPull(m[2])
	}
	return l
}

// found is a reference and its position.
type found struct {
	at, to int
	ref    schemas.Reference
	pull   bool
}

// isPull reports whether a word means a pull request, not an issue.
func isPull(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "pr") || strings.HasPrefix(s, "pull") || strings.HasPrefix(s, "merge") || strings.HasPrefix(s, "mr") ||
		strings.HasPrefix(s, "ghpull") || strings.HasPrefix(s, "gh-pr")
}

// finder collects the references of a text. It overwrites what it read with blanks, so that
// nothing is read twice and positions stay.
type finder struct {
	own   map[string]bool
	links map[string]string
	text  []byte
	found []found
}

// References returns the numbers, commits and comparisons in a text that belong to the
// reader's repository. Code spans, colours and numbers of other repositories do not count.
// links are the link definitions of the file.
func (r Reader) References(text string, links map[string]string) []schemas.Reference {
	return r.read(text, links).refs
}

// read returns the references, and the numbers of the change itself: those that the text
// begins or ends with. One in the middle of a sentence ("broken by #12") is a mention.
func (r Reader) read(text string, links map[string]string) (all known) {
	if !strings.ContainsAny(text, "#!`:/_") && !commitID.MatchString(text) && !spelled.MatchString(text) {
		return known{}
	}
	if r.known != nil {
		key := text + links[linksKey]
		if k, ok := r.known[key]; ok {
			return k
		}
		defer func() {
			if len(r.known) >= most {
				clear(r.known)
			}
			r.known[key] = all
		}()
	}
	f := &finder{own: r.own, links: links, text: []byte(text)}
	for _, pass := range []func(){f.roles, f.hrefs, f.names, f.commitsInCode, f.code, f.urls, f.qualified, f.spelled, f.hashes, f.commits} {
		pass()
	}
	slices.SortStableFunc(f.found, func(a, b found) int { return a.at - b.at })
	for _, x := range f.found {
		if !slices.ContainsFunc(all.refs, func(o schemas.Reference) bool {
			return o.Number == x.ref.Number && o.Commit == x.ref.Commit && (o.Number != 0 || o.Commit != "" || o.Text == x.ref.Text)
		}) {
			all.refs = append(all.refs, x.ref)
		}
	}
	all.named, all.pulls = f.named()
	return all
}

// known is the result for one text. It is kept because an entry is in hundreds of versions
// of its file.
type known struct {
	refs         []schemas.Reference
	named, pulls []int
}

const most = 20000 // remembered texts

// linksKey is the key of the digest of all link definitions in their map. No label is empty.
const linksKey = ""

func digestLinks(links map[string]string) {
	if len(links) == 0 {
		return
	}
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(links)) {
		_, _ = h.Write([]byte(name + "\x00" + links[name] + "\x00"))
	}
	links[linksKey] = "\x00" + string(h.Sum(nil))
}

// aside are words around references that mean nothing by themselves.
var aside = strings.Fields(`a an and also as at by closes closing contributed fix fixed fixes for from gh in issue issues original merge mr of on or patch per pr prs
	pull pulls refs reported reporting request requested requests resolved resolves see suggested suggestion thank thanks the ticket to via with work report idea
	help review catching spotting`)

// named returns the numbers at the two ends of a text, or the only one, and which of them
// are written as pull requests.
func (f *finder) named() (all, pulls []int) {
	silent := func(from, to int) bool {
		for _, w := range word.FindAllString(credit.ReplaceAllString(strings.ToLower(string(f.text[min(from, to):to])), " "), -1) {
			if !slices.Contains(aside, w) {
				return false
			}
		}
		return true
	}
	name := func(x found) {
		all = append(all, x.ref.Number)
		if x.pull {
			pulls = append(pulls, x.ref.Number)
		}
	}
	for i := len(f.found) - 1; i >= 0; i-- {
		end := len(f.text)
		if i+1 < len(f.found) {
			end = f.found[i+1].at
		}
		// "broken by #12. (#13)": #12 belongs to another sentence.
		another := end < len(f.text) && strings.HasPrefix(strings.TrimLeft(string(f.text[min(f.found[i].to, end):end]), " _"), ".")
		if another || !silent(f.found[i].to, end) {
			break
		}
		name(f.found[i])
	}
	for i := range f.found {
		begin := 0
		if i > 0 {
			begin = f.found[i-1].to
		}
		if !silent(begin, f.found[i].at) {
			break
		}
		name(f.found[i])
	}
	if len(f.found) == 1 {
		name(f.found[0])
	}
	tidy := func(numbers []int) []int {
		slices.Sort(numbers)
		return slices.DeleteFunc(slices.Compact(numbers), func(n int) bool { return n == 0 })
	}
	return tidy(all), tidy(pulls)
}

func (f *finder) add(at int, ref schemas.Reference) {
	f.found = append(f.found, found{at: at, to: at + len(ref.Text), ref: ref})
}

func (f *finder) blank(from, to int) {
	for i := from; i < to; i++ {
		f.text[i] = ' '
	}
}

// each calls visit with the groups of each match. visit reports whether it read the match.
func (f *finder) each(re *lazyregexp.Regexp, visit func(at int, m []string) bool) {
	for _, at := range re.FindAllSubmatchIndex(f.text, -1) {
		m := make([]string, len(at)/2)
		for g := range m {
			if at[2*g] >= 0 {
				m[g] = string(f.text[at[2*g]:at[2*g+1]])
			}
		}
		before := len(f.found)
		if visit(at[0], m) {
			f.blank(at[0], at[1])
		}
		for i := before; i < len(f.found); i++ {
			f.found[i].to = at[1]
		}
	}
}

func (f *finder) roles() {
	f.each(role, func(at int, m []string) bool {
		if slices.Contains(numbered, strings.ToLower(m[1]+m[2])) {
			if n := ofRole.FindStringSubmatch(strings.TrimSpace(m[3])); n != nil {
				f.add(at, schemas.Reference{Number: atoi(n[1] + n[2]), Text: m[0]})
				f.found[len(f.found)-1].pull = isPull(m[1] + m[2])
			}
		}
		return true
	})
}

// target records what a link points to, and reports whether that settles the link's label:
// "#12" that points to another repository does not count.
func (f *finder) target(at int, label, url string) bool {
	l := parseLink(url)
	switch {
	case l.repo == "":
		return false
	case !f.own[l.repo]:
		return true
	}
	ref := schemas.Reference{Number: l.number, Commit: l.commit, Text: url}
	label = strings.Trim(label, "`*()[] ")
	if short := strings.ToLower(label); l.number != 0 && hash.FindString(short)+spelled.FindString(short) != "" && !strings.ContainsAny(label, " ") ||
		l.commit != "" && hexID.MatchString(short) && strings.HasPrefix(l.commit, short) {
		ref.Text = label
	}
	if l.number != 0 || l.commit != "" || l.compare {
		f.add(at, ref)
		f.found[len(f.found)-1].pull = l.pull
	}
	return true
}

func (f *finder) hrefs() {
	for _, re := range []*lazyregexp.Regexp{restHref, mdHref} {
		f.each(re, func(at int, m []string) bool {
			url := m[2]
			if name, ok := strings.CutSuffix(url, "_"); ok {
				url = f.links[strings.ToLower(name)]
			}
			return f.target(at, m[1], url)
		})
	}
}

// names reads links whose targets are defined elsewhere in the file. A number in a link
// without a definition stays a number.
func (f *finder) names() {
	f.each(mdName, func(at int, m []string) bool {
		name := m[2]
		if name == "" {
			name = m[1] + m[3]
		}
		url := f.links[strings.ToLower(strings.Trim(name, "`"))]
		return url != "" && f.target(at, m[1]+m[3], url)
	})
	f.each(restName, func(at int, m []string) bool {
		label := m[1] + m[2]
		if url := f.links[strings.ToLower(label)]; url != "" {
			return f.target(at, label, url)
		}
		if n := hash.FindStringSubmatch(label); n != nil && n[0] == label {
			f.add(at, schemas.Reference{Number: atoi(n[1]), Text: label})
			return true
		}
		return false
	})
}

// commitsInCode reads commits in the form of forges: (`abc1234`).
func (f *finder) commitsInCode() {
	f.each(codeHash, func(at int, m []string) bool {
		if looksLikeCommit(m[1]) {
			f.add(at, schemas.Reference{Commit: m[1], Text: m[1]})
		}
		return false
	})
}

func (f *finder) code() { f.each(codeSpan, func(int, []string) bool { return true }) }

func (f *finder) urls() {
	f.each(bareURL, func(at int, m []string) bool {
		f.target(at, "", strings.TrimRight(m[0], ".,;:!?*_"))
		return true
	})
}

func (f *finder) qualified() {
	f.each(qualified, func(at int, m []string) bool {
		if f.own[strings.ToLower(m[1])] {
			f.add(at, schemas.Reference{Number: atoi(m[3]), Text: m[0]})
		}
		return true
	})
}

func (f *finder) spelled() {
	f.each(spelled, func(at int, m []string) bool {
		f.add(at, schemas.Reference{Number: atoi(m[1]), Text: m[0]})
		f.found[len(f.found)-1].pull = isPull(m[0])
		return true
	})
}

// hashes reads #12 and !12 that are not part of a word, a path, an entity, an anchor or a
// colour.
func (f *finder) hashes() {
	for _, at := range hash.FindAllSubmatchIndex(f.text, -1) {
		from, to := at[0], at[1]
		if f.insideWord(to) || from > 0 && !f.mayFollow(from) {
			continue
		}
		n := string(f.text[at[2]:at[3]])
		if len(n) != 3 && len(n) != 6 || !colour.Match(f.text[:from]) {
			f.add(from, schemas.Reference{Number: atoi(n), Text: string(f.text[from:to])})
		}
	}
}

// insideWord reports whether what ends before a place goes on as a word.
func (f *finder) insideWord(to int) bool {
	return to < len(f.text) && (isWord(f.text[to]) || f.text[to] == '-' && to+1 < len(f.text) && isWord(f.text[to+1]) && f.text[to+1] != '#')
}

// mayFollow reports whether a number may stand behind what is before it.
func (f *finder) mayFollow(from int) bool {
	prev := f.text[from-1]
	number := prev == '/' && from > 1 && f.text[from-2] >= '0' && f.text[from-2] <= '9' // #12/#13
	switch {
	case prev == '(' && from > 1 && f.text[from-2] == ']': // an anchor
		return false
	case isWord(prev) || strings.IndexByte("&.#-=!", prev) >= 0 || prev == '/' && !number || prev == '"' && f.text[from] == '!':
		return false
	}
	return f.text[from] != '!' || strings.IndexByte(" ([,", prev) >= 0
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// commits reads hex words in parentheses, at the start of an entry, or after a word for a
// commit.
func (f *finder) commits() {
	for _, at := range commitID.FindAllIndex(f.text, -1) {
		id := string(f.text[at[0]:at[1]])
		before, after := strings.TrimRight(string(f.text[:at[0]]), " "), string(f.text[at[1]:])
		inside := strings.LastIndexAny(before, "([") > strings.LastIndexAny(before, ")]") && strings.ContainsAny(after, ")]") &&
			!strings.ContainsFunc(before[strings.LastIndexAny(before, "([")+1:], func(r rune) bool { return r >= 'g' && r <= 'z' })
		leads := before == "" && (strings.HasPrefix(after, ":") || strings.HasPrefix(after, " "))
		said := strings.HasSuffix(strings.ToLower(before), "commit")
		if looksLikeCommit(id) && (inside || leads || said) {
			f.add(at[0], schemas.Reference{Commit: id, Text: id})
		}
	}
}

// looksLikeCommit reports whether a hex word is not an English word or a plain number.
func looksLikeCommit(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef")
}
