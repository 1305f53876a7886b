package secrets

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// RulesVersion is where gitleaks/rules.toml comes from. Stages that scan have it in
// their fingerprint.
const RulesVersion = "gitleaks v8.30.0 + 2"

//go:embed gitleaks/rules.toml
var gitleaks []byte

// Kind says how sure a rule is.
type Kind string

// The kinds of rules.
const (
	// Specific rules know a form that one service alone gives its tokens.
	Specific Kind = "specific"
	// Context rules take a value for a secret by the words before it.
	Context Kind = "context"
)

// rule is one form of a credential.
type rule struct {
	id      string
	kind    Kind
	regex   lazy
	group   int
	entropy float64 // bits for each character; less is not random
	path    lazy    // of files that it is for; nil for all
	allowed []allowlist
	reach   int  // lines after that of a keyword that a match may take
	begins  bool // a match begins with a keyword, so that no other place is tried
	word    bool // no letter or digit stands before a match
}

// allowlist says what is not a secret.
type allowlist struct {
	all         bool // every criterion must hold; else one is enough
	target      string
	paths       []lazy
	regexes     []lazy
	stopwords   []string
	hasCriteria int
}

// file is the form of gitleaks/rules.toml.
type file struct {
	Allowlist fileAllowlist
	Rules     []struct {
		ID          string
		Regex       string
		Path        string
		SecretGroup int
		Entropy     float64
		Keywords    []string
		Allowlists  []fileAllowlist
	}
}

type fileAllowlist struct {
	Condition   string
	RegexTarget string
	Paths       []string
	Regexes     []string
	Stopwords   []string
}

// ruleSet is all rules, ready to be asked.
type ruleSet struct {
	rules    []rule
	global   allowlist
	keywords index
}

// loaded is made at the first use, once.
var loaded = sync.OnceValue(func() *ruleSet {
	set, err := load(gitleaks)
	if err != nil {
		panic(err) // TestRules reads the same bytes
	}
	return set
})

func load(data []byte) (*ruleSet, error) {
	var f file
	if err := toml.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("reading the rules of gitleaks: %w", err)
	}
	set := &ruleSet{global: allowlistOf(f.Allowlist)}
	for _, r := range f.Rules {
		if r.Regex == "" { // of file names: what is in a key store is not text
			continue
		}
		made := rule{id: r.ID, kind: kindOf(r.ID, r.Regex), group: r.SecretGroup, entropy: r.Entropy, reach: reachOf(r.Regex)}
		// What may stand before the words is no part of the secret, and costs most of the time.
		expr := strings.Replace(r.Regex, anyName, "", 1)
		if made.begins = slices.Contains(frequent, r.ID); made.begins {
			made.word = strings.HasPrefix(expr, `\b`)
			expr = "^(?:" + expr + ")"
		}
		made.regex = compiled(expr)
		if r.Path != "" {
			made.path = compiled(r.Path)
		}
		for _, a := range r.Allowlists {
			made.allowed = append(made.allowed, allowlistOf(a))
		}
		set.add(made, r.Keywords)
	}
	for _, r := range own {
		set.add(rule{id: r.id, kind: Specific, regex: compiled(r.regex), entropy: r.entropy, reach: reachOf(r.regex)}, r.keywords)
	}
	return set, nil
}

func (s *ruleSet) add(r rule, keywords []string) {
	s.rules = append(s.rules, r)
	for _, k := range keywords {
		s.keywords.add(strings.ToLower(k), len(s.rules)-1)
	}
}

// own are rules beside those of gitleaks: forms that its newest rules are narrower for,
// and passwords in URLs, which it has no rule for.
var own = []struct {
	id, regex string
	entropy   float64
	keywords  []string
}{
	{"token-form", `\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255}|sk-[A-Za-z0-9_-]{40,200}|AKIA[0-9A-Z]{16}|xox[abprs]-[0-9]{8,}-[A-Za-z0-9-]{16,}|pypi-[A-Za-z0-9_-]{80,300})\b`,
		3, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk-", "akia", "xox", "pypi-"}},
	{urlPassword, `\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'"<>\x60{}$()\[\]]{0,64}:([^\s/:@'"<>\x60{}$()\[\]%]{8,100})@([A-Za-z0-9][A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+(?:%[^\s\]]*)?\])`,
		3, []string{"://"}},
}

// urlPassword is the rule of passwords in URLs. Its second group is the host.
const urlPassword = "url-password"

// unsure are rules of a fixed form that is not one service's own: test keys, examples
// and answers of mock servers have it as well.
var unsure = []string{"private-key", "jwt", "jwt-base64", "curl-auth-header", "curl-auth-user", "generic-api-key", "kubernetes-secret-yaml", "hashicorp-tf-password", "nuget-config-password"}

// anyName is how the expressions of gitleaks begin that look for a word in a name.
const anyName = `[\w.-]{0,50}?`

// frequent are rules whose keywords stand in every text, and whose matches begin with one.
var frequent = []string{"generic-api-key", "jwt"}

// kindOf: rules that gitleaks makes of a service's name and a length begin with room for
// other words of the name.
func kindOf(id, regex string) Kind {
	if slices.Contains(unsure, id) || strings.Contains(regex, anyName) {
		return Context
	}
	return Specific
}

// reachOf: most matches are on a line or two; those of keys are a page.
func reachOf(regex string) int {
	const lines, page = 2, 200
	if strings.Contains(regex, `[\s\S`) || strings.Contains(regex, "(?s") {
		return page
	}
	return lines
}

// lazy is an expression that is compiled once it is needed.
type lazy func() *regexp.Regexp

// compiled compiles an expression at its first use: of the rules most are never asked.
func compiled(expr string) lazy {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func allowlistOf(f fileAllowlist) allowlist {
	a := allowlist{all: strings.EqualFold(f.Condition, "AND"), target: f.RegexTarget}
	for _, p := range f.Paths {
		a.paths = append(a.paths, compiled(p))
	}
	for _, r := range f.Regexes {
		a.regexes = append(a.regexes, compiled(r))
	}
	for _, w := range f.Stopwords {
		a.stopwords = append(a.stopwords, strings.ToLower(w))
	}
	for _, n := range []int{len(a.paths), len(a.regexes), len(a.stopwords)} {
		a.hasCriteria += min(n, 1)
	}
	return a
}

// holds reports whether a match is not a secret by the list.
func (a allowlist) holds(path, secret, match, line string) bool {
	target := secret
	switch a.target {
	case "match":
		target = match
	case "line":
		target = line
	}
	n := 0
	if slices.ContainsFunc(a.paths, func(r lazy) bool { return path != "" && r().MatchString(path) }) {
		n++
	}
	if slices.ContainsFunc(a.regexes, func(r lazy) bool { return r().MatchString(target) }) {
		n++
	}
	lower := strings.ToLower(secret)
	if slices.ContainsFunc(a.stopwords, func(w string) bool { return strings.Contains(lower, w) }) {
		n++
	}
	if a.all {
		return n == a.hasCriteria && n > 0
	}
	return n > 0
}

// Rules are the IDs of all rules, sorted.
func Rules() []string {
	set := loaded()
	out := make([]string, len(set.rules))
	for i, r := range set.rules {
		out[i] = r.id
	}
	slices.Sort(out)
	return out
}
