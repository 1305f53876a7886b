package describe

import (
	"strings"
	"sync"
)

// form is the form of a verb in a text.
type form int

const (
	base   form = iota // add
	third              // adds
	past               // added
	gerund             // adding
)

type verb struct {
	base string
	form form
}

// bases are the verbs that changes are described with.
const bases = `accept access account add address adjust adopt advertise align allow alter anchor annotate append apply arrange assign
	assume attach avoid await backport be block bound break bring bubble buffer build bump bypass cache calculate call cap capture
	carry cast catch change check clamp clarify clean clear clone close coerce collapse collect color colour combine compare compile complete
	compute configure consider consolidate consume control convert copy correct count cover create customize cut deal declare
	decode decouple decrease dedupe deduplicate defer define delay delegate delete deny depend deprecate derive describe deserialize
	detect determine disable disallow discard discover dispatch display distinguish document drop dump duplicate eliminate embed emit enable
	encode encourage enforce enhance ensure enumerate escape evaluate exclude execute exit expand expect explain expose extend extract
	factor fail fall fetch fill filter find finish fire fix flag flatten flush fold follow forbid force format forward free freeze
	generalize generate get give grant group guarantee guard guess hand handle hide highlight hold honor honour hook identify ignore implement
	import improve include increase indent indicate infer inherit inject inline insert inspect install integrate intercept interpret
	introduce invalidate invoke isolate iterate keep lazy leave let lift limit link list load localize lock log loosen lower make manage map mark
	mask match merge migrate mimic minimize mirror mock modernize modify move narrow nest normalize notify obey offer omit open
	optimize order output overload override overwrite pad parametrize parse pass permit persist pick pin place plug point populate port postpone
	preload prefer prepare prepend present preserve prevent print process produce prohibit promote propagate protect provide
	publish pull push put quote raise read rebuild recognize recognise record recover redirect redo reduce refactor refer reflect refresh refuse
	register reject relax release reload remember remove rename render reorder reorganize repair repeat replace report represent require reset
	reshape resolve respect respond restore restrict retain retrieve retry return reuse revert revise reword review revisit audit rewrite round route run
	sanitize save scale scan scope search seed select send separate serialize serve set settle share shift ship shorten show
	shrink silence simplify skip sort specify speed split squash stabilize start stop store strengthen strip style submit substitute suggest
	supply support suppress survive swallow swap switch sync synchronize take teach terminate throw tighten toggle tolerate trace track transform
	translate treat trigger trim truncate try tune turn unescape unify unlink unset unwrap update upgrade use validate vendor verify wait walk warn
	weaken wire work cope disclose perform mention instantiate interpolate encapsulate assert autodetect receive rework appear happen occur lose evict roll cull purge prune probe poll resume retire signal spawn subtract touch unlock upload wake wipe demand
	construct parameterize rewind decrypt defend dereference detach elide encrypt hoist reconcile schedule simulate subscribe unwind visit widen
	initialize initialise optimise normalise customise minimise organise organize sanitise summarise summarize coalesce tweak reformat say tell bind scrub fuse batch debounce throttle pause reach
	export join cancel abort begin undo mount kill multiply rely comply round patch crash end stringify memoize mutate nest pickle unpickle subclass iterate quote reserve redact wrap write yield`

// irregular are the past forms of irregular verbs.
var irregular = map[string]string{"be": "was", "begin": "began", "break": "broke", "bring": "brought", "build": "built", "catch": "caught", "cut": "cut", "deal": "dealt", "fall": "fell", "find": "found", "forbid": "forbade",
	"freeze": "froze", "get": "got", "give": "gave", "hide": "hid", "hold": "held", "keep": "kept", "leave": "left", "let": "let", "make": "made", "overwrite": "overwrote", "put": "put", "lose": "lost",
	"read": "read", "rebuild": "rebuilt", "redo": "redid", "rewrite": "rewrote", "run": "ran", "send": "sent", "set": "set", "show": "showed", "shrink": "shrank", "speed": "sped", "split": "split", "say": "said", "tell": "told", "bind": "bound",
	"take": "took", "teach": "taught", "throw": "threw", "write": "wrote", "unset": "unset", "reset": "reset", "override": "overrode"}

// doubled are verbs whose last consonant is written twice before "ed" and "ing".
const doubled = " begin scrub plug stop drop skip strip trim wrap unwrap swap map log pin pad cap clamp run set get put cut let reset unset split omit permit emit submit ship scan forbid tag step flag shut format_ "

// verbs returns all forms of all verbs.
var verbs = sync.OnceValue(allVerbs)

func allVerbs() map[string]verb {
	out := map[string]verb{}
	put := func(word string, v verb) {
		if _, ok := out[word]; !ok {
			out[word] = v
		}
	}
	for _, b := range strings.Fields(bases) {
		put(b, verb{b, base})
	}
	for _, b := range strings.Fields(bases) {
		put(thirdOf(b), verb{b, third})
		put(pastOf(b), verb{b, past})
		put(gerundOf(b), verb{b, gerund})
	}
	return out
}

// verbOf looks a word up as a verb, also behind a usual prefix ("auto-detect").
func verbOf(word string) (verb, bool) {
	if v, ok := verbs()[word]; ok {
		return v, true
	}
	for _, before := range []string{"auto-", "re-", "pre-", "de-", "un-", "double-", "hard-", "soft-", "lazy-", "re"} {
		if rest, ok := strings.CutPrefix(word, before); ok && verbs()[rest].base != "" && len(rest) > 3 {
			v := verbs()[rest]
			v.base = before + v.base
			return v, true
		}
	}
	return verb{}, false
}

func thirdOf(b string) string {
	switch {
	case consonantY(b):
		return b[:len(b)-1] + "ies"
	case strings.HasSuffix(b, "s") || strings.HasSuffix(b, "sh") || strings.HasSuffix(b, "ch") || strings.HasSuffix(b, "x") || strings.HasSuffix(b, "z") || strings.HasSuffix(b, "do"):
		return b + "es"
	}
	return b + "s"
}

func pastOf(b string) string {
	switch {
	case irregular[b] != "":
		return irregular[b]
	case strings.HasSuffix(b, "e"):
		return b + "d"
	case consonantY(b):
		return b[:len(b)-1] + "ied"
	case strings.Contains(doubled, " "+b+" "):
		return b + b[len(b)-1:] + "ed"
	}
	return b + "ed"
}

func gerundOf(b string) string {
	switch {
	case b == "be":
		return "being"
	case strings.HasSuffix(b, "e") && !strings.HasSuffix(b, "ee"):
		return b[:len(b)-1] + "ing"
	case strings.Contains(doubled, " "+b+" "):
		return b + b[len(b)-1:] + "ing"
	}
	return b + "ing"
}

func consonantY(b string) bool {
	n := len(b)
	return n > 1 && b[n-1] == 'y' && !strings.ContainsRune("aeiou", rune(b[n-2]))
}

var (
	// finite are verbs that make a sentence of the noun before them.
	finite = strings.Fields(`is are was were has have had can could may might must will would should does do did doesn't don't isn't aren't wasn't weren't
		won't can't cannot shouldn't hasn't haven't now no-longer always never
		accepts allows appends applies assumes becomes behaves calls causes closes contains converts copies creates deals defaults defers detects
		determines disables drops emits enables ensures evaluates exposes expands fails falls finds follows forwards generates gets gives goes
		handles holds honors honours ignores implements imports includes indicates inherits invokes keeps lacks lets loads logs looks loses makes
		matches needs normalizes offers opens overrides parses passes preserves prevents prints produces propagates provides raises reads
		recognizes reflects refuses registers rejects removes renders replaces reports represents requires resets resolves respects respects
		restores retains retries returns runs sends serializes sets settles ships shows skips sorts starts stays stops stores strips supports
		survives takes treats tries unlinks uses validates verifies waits warns works wraps writes yields`)
	// relative are words that begin a subordinate clause, whose verb is not the main verb.
	relative = strings.Fields(`that which who whose where when whenever if while because since unless until although though so whether after before`)
	// nouny are verbs that can be nouns at the start of a note.
	nouny = strings.Fields(`access build cache call change check color colour copy count cover default display dump fix format group hook import list lock log map mark
		match output override pass place point port print process quote record release report return route run scope search set share show sort
		start stop store style support sync trace track update upgrade use work wrap yield release file filter order link limit load mirror patch crash end round mount`)
	determiners = strings.Fields(`a an the this that these those its their his her our your my any all some each every both no more most such another other several many two three
		it them they us him as when if to with for in on and or not only correct how what whether`)
	// countable are nouns that need an article.
	countable = strings.Fields(`option parameter argument keyword flag method function class validator field attribute property type hook decorator setting
		command error exception handler helper module package interface implementation fixture filter formatter processor parser
		encoder decoder converter constant variable warning message check mode way test tag step plugin context manager fallback cache
		alias wrapper callback key value header scheme route middleware level limit timeout backend provider strategy
		primitive utility generator iterator protocol base mixin subclass version api extension format rule shortcut subcommand builder
		writer reader logger adapter sampler container widget column style theme template endpoint resource loader dumper serializer`)
	// proper are words that keep their capital within a sentence.
	proper = strings.Fields(`Python Windows Linux Unix Go Markdown Django Flask Rich Click Sphinx Jupyter Unicode English French German Japanese Chinese Atom
		Bash Zsh Fish PowerShell Emacs Vim Docker Kubernetes Git GitHub Redis Postgres Mozilla Chrome Firefox Apple Google Amazon Microsoft Darwin
		Trio Twisted Tornado Pygments Jinja Cython Boolean I ReStructuredText`)
)
