package config

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/schemas"
)

var (
	datasetName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	sourceName  = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$`)
	// tagEntry is what git takes for the name of a tag, as far as releases are called so.
	tagEntry  = lazyregexp.New(`^[A-Za-z0-9@_][A-Za-z0-9._/+@-]*$`)
	onlyEntry = lazyregexp.New(`^([1-9][0-9]{0,8}|[0-9a-fA-F]{7,64}(\.\.[0-9a-fA-F]{7,64})?)$`)
)

// checker collects what is wrong with values that could be read.
type checker struct {
	c        *Config
	now      time.Time
	problems Problems
}

// at reports a problem of a key where the key was written.
func (k *checker) at(path, form string, args ...any) {
	k.problems = append(k.problems, Problem{k.c.Origin(path).Where, path + ": " + fmt.Sprintf(form, args...)})
}

func (c *Config) validate(now time.Time) Problems {
	k := &checker{c: c, now: now}
	k.choices()
	if !datasetName.MatchString(c.Dataset) {
		k.at("dataset", "%q may hold A-Z a-z 0-9 . _ - only", c.Dataset)
	}
	k.numbers()
	if !now.IsZero() && c.AsOf.After(now) {
		k.at("as_of", "%s is in the future: nobody knows yet how sources stand before it", c.AsOf)
	}
	for _, err := range secrets.Allow(k.c.Redaction.Allow).Validate() {
		k.at("redaction.allow", "%v", err)
	}
	for i := range c.Sources {
		k.source(i)
	}
	k.sameName()
	k.model()
	for _, a := range c.Decontamination.Aliases {
		if !strings.Contains(a, "=") {
			k.at("decontamination.aliases", "%q is not OLD=NEW", a)
		}
	}
	if err := c.Decontamination.Options().Validate(); err != nil && len(k.problems) == 0 {
		k.at("decontamination", "%v", err)
	}
	if len(c.Balance.By) > 0 && c.Balance.Tasks == 0 {
		k.at("balance.by", "needs balance.tasks: how many tasks are drawn?")
	}
	k.places()
	if c.Store == c.Output && c.Store != "" {
		k.at("output", "is the folder of the store")
	}
	if c.Releases == c.Output || c.Releases == c.Store {
		k.at("releases", "is the folder of the dataset or of the store")
	}
	k.hidden()
	if b := c.Build.CABundle; b != "" {
		// Builds of strangers read it: a file that is something else must not reach them.
		if info, err := os.Stat(b); err != nil || !info.Mode().IsRegular() {
			k.at("build.ca_bundle", "%s: no such file", b)
		} else if data, err := os.ReadFile(b); err != nil || !x509.NewCertPool().AppendCertsFromPEM(data) {
			k.at("build.ca_bundle", "%s holds no certificate in PEM form", b)
		}
	}
	slices.SortStableFunc(k.problems, func(a, b Problem) int { return strings.Compare(a.Text, b.Text) })
	return k.problems
}

// hidden checks the hidden parts of releases.
func (k *checker) hidden() {
	h := k.c.Hidden
	if h.HeldOut+h.Private > 1 {
		k.at("hidden.private", "%g and hidden.held_out %g are more than 1 together", h.Private, h.HeldOut)
	}
	for _, other := range []string{k.c.Releases, k.c.Output, k.c.Store} {
		if h.Folder == other || strings.HasPrefix(h.Folder+"/", strings.TrimSuffix(other, "/")+"/") {
			k.at("hidden.folder", "is in %s, which is published or written again: hidden tasks need a folder of their own", other)
			break
		}
	}
}

// places checks where records, blobs and the dataset are kept.
func (k *checker) places() {
	c := k.c
	for path, v := range map[string]string{"store": c.Store, "output": c.Output, "releases": c.Releases, "hidden.folder": c.Hidden.Folder} {
		switch {
		case v == "":
			k.at(path, "is empty")
		case path == "store" && (strings.HasPrefix(v, "postgres://") || strings.HasPrefix(v, "postgresql://")):
			k.at(path, "PostgreSQL is not supported any more; use a folder, and add machines with `benchmint run --listen ADDR` and `benchmint work URL`")
		case strings.Contains(v, "://"):
			k.at(path, "%q: this version keeps it in a local folder", v)
		}
	}
	if b := c.Blobs; b != "" && !strings.HasPrefix(b, "s3://") {
		k.at("blobs", "%q is not s3://BUCKET/PREFIX; blobs of this machine are in the store", b)
	}
}

// choices checks the keys with a closed set of words.
func (k *checker) choices() {
	for _, key := range Keys {
		if len(key.Choices) == 0 || key.source != nil {
			continue
		}
		switch p := key.bind(k.c).(type) {
		case *string:
			if *p != "" && !slices.Contains(key.Choices, *p) {
				k.at(key.Path, "%q is not one of %s%s", *p, strings.Join(key.Choices, ", "), nearest.Hint(*p, key.Choices))
			}
		case *[]string:
			k.listChoices(key, *p)
		}
	}
	if l := k.c.Library; l.Sliced() && l.Profile != profileOfSlices {
		k.at("library.slices", "modules and functions go with library.profile %s only, not with %s", profileOfSlices, l.Profile)
	}
}

// profileOfSlices is the profile that masks a part of a library: others do what a published tool
// does, which is all.
const profileOfSlices = "strict"

func (k *checker) listChoices(key Key, words []string) {
	if len(words) == 0 {
		k.at(key.Path, "is empty; choose of %s", strings.Join(key.Choices, ", "))
	}
	for _, w := range words {
		if !slices.Contains(key.Choices, w) {
			k.at(key.Path, "%q is not one of %s%s", w, strings.Join(key.Choices, ", "), nearest.Hint(w, key.Choices))
		}
	}
}

func (k *checker) numbers() {
	c, s := k.c, k.c.Sandbox
	for path, n := range map[string]int{
		"filters.min_release_text": c.Filters.MinReleaseText, "filters.min_stars": c.Filters.MinStars, "github.max_requests": c.MaxRequests,
		"limits.changes": c.Limits.Changes, "library.releases": c.Library.Releases, "library.max_slices": c.Library.MaxSlices, "library.min_guide_words": c.Library.MinGuideWords, "limits.releases": c.Limits.Releases, "filters.min_releases": c.Filters.MinReleases,
		"filters.max_source_lines": c.Filters.MaxSourceLines, "service.walk_back": c.Service.WalkBack, "service.min_f2p": c.Service.MinF2P, "service.min_endpoints": c.Service.MinEndpoints, "proof.hunks": c.Proof.Hunks, "jobs": c.Jobs,
		"balance.tasks": c.Balance.Tasks, "balance.seed": c.Balance.Seed, "release.nop": c.Release.Nop, "release.forged": c.Release.Forged,
	} {
		if n < 0 {
			k.at(path, "%d is below 0", n)
		}
	}
	for path, n := range map[string]int{"release.dates": c.Release.Dates, "release.gold": c.Release.Gold} {
		if n < 1 {
			k.at(path, "%d is below 1", n)
		}
	}
	for path, share := range map[string]float64{
		"library.min_language": c.Library.MinLanguage, "library.max_lines_left": c.Library.MaxLinesLeft,
		"library.min_passing": c.Library.MinPassing, "library.max_zero_work": c.Library.MaxZeroWork,
		"library.min_coverage": c.Library.MinCoverage, "library.min_documented": c.Library.MinDocumented, "service.min_answered": c.Service.MinAnswered,
		"limits.edit_share": c.Limits.EditShare, "filters.min_noticed": c.Filters.MinNoticed,
		"hidden.held_out": c.Hidden.HeldOut, "hidden.private": c.Hidden.Private,
	} {
		if share < 0 || share > 1 {
			k.at(path, "%g is not between 0 and 1", share)
		}
	}
	if c.Service.Env && s.Kind != "" && s.Kind != Docker {
		k.at("service.env", "needs sandbox.kind docker, and it is %s", s.Kind)
	}
	if c.Proof.Parallel < 1 {
		k.at("proof.parallel", "%d is below 1", c.Proof.Parallel)
	}
	if c.Wait < 0 {
		k.at("wait", "%s is below 0", formatDuration(c.Wait))
	}
	if c.Proof.Runs < 1 || c.Proof.Runs > 100 {
		k.at("proof.runs", "%d is not between 1 and 100", c.Proof.Runs)
	}
	if s.CPUs < 0.1 {
		k.at("sandbox.cpus", "%g is below 0.1", s.CPUs)
	}
	// Below these, no interpreter starts: every item would be rejected for it.
	if s.Processes < 16 {
		k.at("sandbox.processes", "%d is below 16", s.Processes)
	}
	for path, v := range map[string]struct{ have, least Size }{
		"sandbox.memory": {s.Memory, 64 << 20},
		"sandbox.disk":   {s.Disk, 16 << 20},
		"sandbox.output": {s.Output, 64 << 10},
	} {
		if v.have < v.least {
			k.at(path, "%s is below %s", v.have, v.least)
		}
	}
	if s.Timeout < time.Second {
		k.at("sandbox.timeout", "%s is below 1s", formatDuration(s.Timeout))
	}
}

func (k *checker) source(i int) {
	s := k.c.Sources[i]
	k.pypi(i)
	_, searched := k.c.origins[sourcePath(i, "search")]
	_, listed := k.c.origins[sourcePath(i, "pypi")]
	if s.Finds() || searched || listed {
		k.finds(i)
		return
	}
	if s.Git == "" {
		k.problems = append(k.problems, Problem{k.c.Origin(sourcePath(i, "")).Where, sourcePath(i, "git") + ": is missing"})
	}
	if strings.HasPrefix(s.Git, "-") {
		k.at(sourcePath(i, "git"), "%q looks like an option, not like a path or URL", s.Git)
	}
	if what := credential(s.Git); what != "" {
		k.at(sourcePath(i, "git"), "the URL holds %s; secrets come from the environment only: an SSH agent, or a helper that GIT_ASKPASS names", what)
	}
	if s.GitHub != "" && !sourceName.MatchString(s.GitHub) {
		k.at(sourcePath(i, "github"), "%q is not owner/name", s.GitHub)
	}
	if s.Name != "" && !sourceName.MatchString(s.Name) {
		k.at(sourcePath(i, "name"), "%q is not owner/name", s.Name)
	}
	k.window(i)
	if len(s.Kinds) > 0 {
		k.listChoices(Key{Path: sourcePath(i, "kinds"), Choices: madeKinds}, s.Kinds)
	}
}

// credential says which part of a URL holds a secret; "" for none. A name that a server
// wants of everybody (git@) is none.
func credential(source string) string {
	u, err := url.Parse(source)
	if err != nil || u.Scheme == "" {
		if name, _, ok := strings.Cut(source, "@"); ok && len(secrets.Scan("", name)) > 0 {
			return "a token before its @"
		}
		return ""
	}
	if _, password := u.User.Password(); password {
		return "a password"
	}
	if name := u.User.Username(); name != "" && (u.Scheme == "http" || u.Scheme == "https" || len(name) >= longName || secrets.Scrub(name) != name) {
		return "a name or token before its @"
	}
	for key, values := range u.Query() {
		if secretWord.MatchString(key) || slices.ContainsFunc(values, func(v string) bool { return len(v) >= longName }) {
			return "what looks like a token in its query"
		}
	}
	if secrets.Scrub(source) != source {
		return "a token"
	}
	return ""
}

// secretWord is what parameters are called that hold one.
var secretWord = lazyregexp.New(`(?i)token|key|secret|passw|auth|signature|credential`)

// longName is longer than the names of users, and shorter than tokens.
const longName = 20

// window checks which changes of a source are wanted.
func (k *checker) window(i int) {
	s := k.c.Sources[i]
	if !s.Since.IsZero() && !s.Until.IsZero() && !s.Since.Before(s.Until.Time) {
		k.at(sourcePath(i, "until"), "%s is not after since (%s): no commit can lie between them", s.Until, s.Since)
	}
	if as := k.c.AsOf; !as.IsZero() && !s.Since.IsZero() && !s.Since.Before(as.Time) {
		k.at(sourcePath(i, "since"), "%s is not before as_of (%s): no commit can lie between them", s.Since, as)
	}
	if !k.now.IsZero() && s.Since.After(k.now) {
		k.at(sourcePath(i, "since"), "%s is in the future: no commit is that new", s.Since)
	}
	for _, entry := range s.Only {
		if (k.c.makesOf(s, schemas.KindLibrary) || k.c.makesOf(s, schemas.KindService)) && tagEntry.MatchString(entry) {
			continue
		}
		if _, err := schemas.ParseInstanceID(entry); err != nil && !onlyEntry.MatchString(entry) {
			k.at(sourcePath(i, "only"), "%q is not a pull request number, commit (7 hex digits or more), range of commits or ID", entry)
		}
	}
}

// model checks who is asked and what it may cost.
func (k *checker) model() {
	m := k.c.Model
	for path, v := range map[string]float64{"model.price_input": m.PriceInput, "model.price_output": m.PriceOutput, "model.max_cost": m.MaxCost, "model.max_cost_item": m.MaxCostItem} {
		if v < 0 {
			k.at(path, "%g is below 0", v)
		}
	}
	if m.Tries < 1 || m.Tries > 10 {
		k.at("model.tries", "%d is not between 1 and 10", m.Tries)
	}
	if m.MaxTokens < 100 {
		k.at("model.max_tokens", "%d is below 100", m.MaxTokens)
	}
	if m.Parallel < 0 {
		k.at("model.parallel", "%d is below 0", m.Parallel)
	}
	if m.Timeout < time.Second {
		k.at("model.timeout", "%s is below 1s", formatDuration(m.Timeout))
	}
	if n := k.c.Suite.Tries; n < 1 || n > 10 {
		k.at("suite.tries", "%d is not between 1 and 10", n)
	}
	if k.c.Suite.Write && m.Name == "" {
		k.at("suite.write", "needs model.name: which model writes the suites?")
	}
	if m.Name == "" && m.Endpoint == "" {
		return
	}
	u, err := url.Parse(m.Endpoint)
	switch {
	case m.Name == "":
		k.at("model.name", "is missing: which model of %s is asked?", m.Endpoint)
	case m.Endpoint == "":
		k.at("model.endpoint", "is missing: where is %s asked?", m.Name)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		k.at("model.endpoint", "is not a URL (https://HOST/v1)")
	case u.User != nil:
		k.at("model.endpoint", "the URL holds a secret; the key comes from OPENAI_API_KEY")
	default:
		k.prices()
	}
}

// sameName refuses two sources of one name: their IDs would be mixed.
func (k *checker) sameName() {
	first := map[string]int{}
	for i, s := range k.c.Sources {
		if s.Name == "" {
			continue
		}
		if j, taken := first[strings.ToLower(s.Name)]; taken {
			k.at(sourcePath(i, "name"), "%q is also the name of sources[%d]", s.Name, j)
			continue
		}
		first[strings.ToLower(s.Name)] = i
	}
}
