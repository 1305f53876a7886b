// Package config is what a user can set: one table of keys (keys.go), from which
// the reader, the environment variables, the example and the JSON Schema are made.
//
// It never reads an environment variable or a flag by itself (they are passed
// in), never holds a secret, and knows no key that does nothing.
package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/balance"
	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// DefaultFile is read from the working directory where -c is not given.
const DefaultFile = "benchmint.yaml"

// Config is one effective configuration.
type Config struct {
	Dataset   string
	Kinds     []string
	AsOf      Date // sources are read as they stood before this day; zero is now
	Sources   []Source
	Limits    Limits
	Filters   Filters
	Statement Statement
	Suite     Suite
	Library   Library
	Service   Service
	Redaction Redaction
	Citation  Citation
	Release   Release
	// Decontamination is what tasks are held against.
	Decontamination Decontamination
	Hidden          Hidden
	Build           Build
	Sandbox         Sandbox
	Proof           Proof
	Model           Model
	// MaxRequests bounds what a run asks of GitHub; 0 means no limit.
	MaxRequests int
	Jobs        int
	Wait        time.Duration
	// Overrides is a file of statements and interfaces written by hand; "" is none.
	Overrides string
	// Reviews are files of what people say of tasks.
	Reviews  []string
	Balance  Balance
	Store    string
	Blobs    string // a bucket, where workers exchange them; "" is from the run itself
	Output   string
	Releases string // the folder of the shelf

	// File is what was read; "" is none.
	File string

	origins map[string]Origin
}

// Source is one git repository and the window of it that is wanted, or how several are
// found: by a search, a list, a preset or projects of PyPI, which stand alone.
type Source struct {
	Git string
	// GitHub is owner/name where pull requests are asked of GitHub; Git is then its address
	// there where it is not set.
	GitHub string
	Search Search
	List   string // a file of owner/name by category
	Preset string
	PyPI   Projects
	Most   int // of PyPI's projects; 0 means all
	Name   string
	Since  Date // inclusive
	Until  Date // exclusive
	Only   []string
	Kinds  []string // empty: those of the configuration
}

// Finds reports whether a source stands for the repositories that are found by it.
func (s Source) Finds() bool { return s.Searches() || s.List != "" || !s.PyPI.IsZero() }

// Searches reports whether a source's repositories are searched on GitHub.
func (s Source) Searches() bool { return !s.Search.IsZero() || s.Preset != "" }

// Limits bound the work per repository.
type Limits struct {
	Changes, Releases int
	EditShare         float64 // from 0 to 1
}

// Filters say which changes are wanted.
type Filters struct {
	MinReleases    int
	MinReleaseText int
	ReleasedSince  Date
	MinStars       int
	MaxSize        Size
	PushedSince    Date
	Archived       bool
	TopicsNot      []string
	Tests          bool
	Licences       []string
	Languages      []string
	MaxSourceLines int
	ModifiesOnly   bool
	Labels         []string
	Thin           bool
	Unnoticed      bool
	MinNoticed     float64 // of edits, from 0 to 1
}

// Statement says what a statement has beside its text.
type Statement struct {
	Interface bool // the names that hidden tests need, with their signatures
}

// Suite says what is done for edits without tests.
type Suite struct {
	Write bool // a model writes their tests
	Tries int  // answers for one edit
}

// Library says which releases become library tasks, and what such a task must be.
type Library struct {
	Releases     int    // newest ones of a repository; 0 means all
	Profile      string // docs/mask.md
	Slices       []string
	MaxSlices    int     // of a release, of each kind; 0 means all
	MinLanguage  float64 // shares are from 0 to 1
	MaxLinesLeft float64
	MinPassing   float64
	MaxZeroWork  float64
	MinCoverage  float64
	Native       bool // no code of a compiled language beside it
	// Specification is the least documentation: docs, readme or signatures.
	Specification string
	MinGuideWords int  // of a user guide
	Reference     bool // documents describe the functions
	MinDocumented float64
	Preset        string // "" or PresetCommit0
	GPU           bool   // take those that install packages for graphics processors
}

// Service says which groups of a service's endpoints become tasks.
type Service struct {
	Frameworks   []string
	MinAnswered  float64 // share of a group's endpoints, 0 to 1
	MinF2P       int     // FAIL_TO_PASS cases of a task
	MinEndpoints int     // that these ask
	Env          bool    // make the environment variant of each task, too
	Hints        bool    // tell its solver how the Dockerfile is built and what it has to install
	WalkBack     int     // earlier commits that are tried where none of a commit's groups will do
}

// Sliced reports whether tasks are made of parts of a release.
func (l Library) Sliced() bool {
	return slices.ContainsFunc(l.Slices, func(s string) bool { return s != schemas.WholeLibrary })
}

// Citation is what a release says of those who made it.
type Citation struct {
	Authors []string
	URL     string
}

// Release is what a release asks of the re-proof of new tasks (docs/releases.md).
type Release struct {
	Dates             int    // on so many dates; 1 asks for no re-proof
	Gold, Nop, Forged int    // runs with the own patch, with one that does nothing, with one that forges results
	Models            string // a file of what is known of models; "" is none
}

// Hidden says which share of the tasks of releases is hidden (docs/releases.md). The salt is in SaltVariable.
type Hidden struct {
	HeldOut, Private float64
	Keys             []string // of age: who opens held-out tasks
	Opens            string   // the version that publishes them
	Folder           string   // of their shelf
}

// Decontamination says against which sets tasks are held, and when one is taken for one of theirs.
type Decontamination struct {
	Against       []string
	Aliases       []string // OLD=NEW, names of repositories
	Remove, Label float64
}

// Options are the same as package contamination has them.
func (d Decontamination) Options() contamination.Options {
	o := contamination.Options{Aliases: map[string]string{}, Remove: d.Remove, Label: d.Label}
	for _, a := range d.Aliases {
		old, now, _ := strings.Cut(a, "=")
		o.Aliases[old] = now
	}
	return o
}

// Balance says which tasks of those that are there make up the dataset; without Tasks all do.
type Balance struct {
	Tasks, Seed int
	By          Shares
}

// Mix is the mix as it is drawn, nil where none is asked for.
func (b Balance) Mix() *balance.Mix {
	if b.Tasks == 0 {
		return nil
	}
	return &balance.Mix{Tasks: b.Tasks, Seed: b.Seed, By: b.By}
}

// Redaction is what is done about credentials.
type Redaction struct{ Allow []string }

// Build is what builds of environments may use.
type Build struct {
	CABundle   string
	Registries string
	Hosts      []string
	PinToDate  bool
}

// The values of build.registries.
const (
	RegistriesInherit = "inherit"
	RegistriesPublic  = "public"
)

// Sandbox is the kind of sandbox and the limits of each run.
type Sandbox struct {
	Kind      string
	Image     string
	CPUs      float64
	Memory    Size
	Processes int
	Disk      Size
	Output    Size
	Timeout   time.Duration
}

// The kinds of sandbox.
const (
	Docker = "docker"
	Bwrap  = "bwrap"
)

// Limits are the sandbox's, in the sandbox's own terms.
func (s Sandbox) Limits() sandbox.Limits {
	return sandbox.Limits{
		CPUs: s.CPUs, Memory: int64(s.Memory), Processes: s.Processes,
		Disk: int64(s.Disk), Output: int64(s.Output), Timeout: s.Timeout,
	}
}

// Model is who is asked where rules do not decide, and what that may cost. Without a name
// nobody is.
type Model struct {
	Endpoint    string
	Name        string
	Fallback    []string
	PriceInput  float64 // dollars per million tokens, of Name
	PriceOutput float64
	Prices      Prices  // by model; instead of the two above, and of Fallback
	MaxCost     float64 // dollars, of one store; 0 means no limit
	MaxCostItem float64 // dollars, of one question; 0 means no limit
	MaxTokens   int
	Tries       int
	Timeout     time.Duration
	Parallel    int    // questions open at one time; 0: Open says how many
	Useless     string // what follows useless answers: UselessStop, UselessRules
}

// The values of model.useless.
const (
	UselessStop  = "stop"
	UselessRules = "rules"
)

// Open is how many questions are open at one time: a server on this machine mostly gives one
// answer after another.
func (m Model) Open() int {
	switch {
	case m.Parallel > 0:
		return m.Parallel
	case m.Local():
		return 1
	}
	return 4
}

// Names are the models in the order in which they are asked.
func (m Model) Names() []string { return append([]string{m.Name}, m.Fallback...) }

// Local reports whether the endpoint is on this machine: it needs no key and no price.
func (m Model) Local() bool {
	u, err := url.Parse(m.Endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate())
}

// Proof is how much is run, and how much of it at one time.
type Proof struct{ Runs, Parallel, Hunks int }

// Default is the configuration of a user who wrote none.
func Default() *Config {
	return &Config{
		Dataset: "benchmint",
		Kinds:   []string{string(schemas.KindFeature)},
		Limits:  Limits{Changes: 200, EditShare: 0.2},
		Filters: Filters{
			Archived: true, MaxSourceLines: 1000, Languages: languages.Built(),
			ModifiesOnly: true, Labels: []string{"feature", "improvement"}, MinNoticed: 0.5,
		},
		Library:   Library{Releases: 1, Profile: "strict", Slices: []string{schemas.WholeLibrary}, MaxSlices: 10, MinLanguage: 0.9, MaxLinesLeft: 0.25, MinPassing: 0.98, MaxZeroWork: 0.05, MinCoverage: 0.9, Specification: "readme"},
		Statement: Statement{Interface: true},
		Suite:     Suite{Tries: 2},
		Service:   Service{Frameworks: schemas.Frameworks, MinAnswered: 0.6, MinF2P: 3, MinEndpoints: 2, Hints: true, WalkBack: 10},
		Build:     Build{Registries: RegistriesInherit, PinToDate: true},
		Sandbox: Sandbox{
			CPUs: 2, Memory: sandbox.DefaultMemory, Processes: sandbox.DefaultProcs,
			Disk: sandbox.DefaultDisk, Output: sandbox.DefaultOutput, Timeout: sandbox.DefaultTimeout,
		},
		Proof:           Proof{Runs: 3, Parallel: 1, Hunks: 30},
		Model:           Model{MaxCost: 5, MaxCostItem: 0.2, MaxTokens: 8000, Tries: 2, Timeout: 2 * time.Minute, Useless: UselessStop},
		Wait:            5 * time.Minute, // several pauses of what was put off (stages: Budget)
		Store:           "benchmint-state",
		Output:          "benchmint-out",
		Decontamination: Decontamination{Remove: contamination.Default().Remove, Label: contamination.Default().Label},
		Releases:        "releases", Hidden: Hidden{Folder: "hidden-releases"}, Release: Release{Dates: 2, Gold: 10, Nop: 3, Forged: 1},
		origins: map[string]Origin{},
	}
}

// Layer says which of the four places a value came from.
type Layer string

// The layers, weakest first.
const (
	FromDefault Layer = "default"
	FromFile    Layer = "file"
	FromEnv     Layer = "environment"
	FromFlag    Layer = "flag"
)

// Origin is where one value came from.
type Origin struct {
	Layer Layer
	Where string // benchmint.yaml:12, BENCHMINT_STORE, --store
}

func (o Origin) String() string {
	if o.Where == "" {
		return string(FromDefault)
	}
	return o.Where
}

// Origin of a key's value; the zero Layer reads as the default.
func (c *Config) Origin(path string) Origin {
	if o, ok := c.origins[path]; ok {
		return o
	}
	return Origin{Layer: FromDefault}
}

// Setting is one value that a flag gave.
type Setting struct {
	Key   string // of the table; sources[].since is set for every source
	Value string
	Flag  string // --since
}

// Input is everything that decides a configuration.
type Input struct {
	File    string   // "": none
	Environ []string // NAME=value; only BENCHMINT_* is looked at
	// Sources are those of the command line, each as PATH-OR-URL, owner/name=PATH-OR-URL or
	// github:owner/name:
	// they replace the file's, except that the name or address of one of the file's takes
	// it with its window.
	Sources []string
	Flags   []Setting
	// GitHub is the base of addresses of repositories there; "" is hosts.GitHub.
	GitHub string
	// Now is the present, which no window begins after; the zero time is not compared.
	Now time.Time
}

// Load reads and checks a configuration: defaults < file < environment < flags.
// An error is a Problems with all that is wrong, or the fault of reading the file.
func Load(in Input) (*Config, error) {
	c := Default()
	c.File = in.File
	var problems Problems
	if in.File != "" {
		b, err := os.ReadFile(in.File)
		if err != nil {
			return nil, fmt.Errorf("reading configuration: %w", err)
		}
		problems = append(problems, c.readFile(in.File, b)...)
	}
	problems = append(problems, c.readEnviron(in.Environ)...)
	c.takeSources(in.Sources)
	c.completeSources(cmp.Or(in.GitHub, hosts.GitHub))
	problems = append(problems, c.readFlags(in.Flags)...)
	c.takePreset()
	problems = append(problems, c.validate(in.Now)...)
	if len(problems) > 0 {
		slices.SortStableFunc(problems, Problem.compare)
		return nil, problems
	}
	return c, nil
}

// PresetCommit0 is library.preset: the gates of section 3.1 of Commit0's paper.
const PresetCommit0 = "commit0"

// takePreset gives the keys of library that nobody set the values of library.preset.
func (c *Config) takePreset() {
	if c.Library.Preset != PresetCommit0 {
		return
	}
	unset := func(name string) bool { return c.Origin("library."+name).Layer == FromDefault }
	l := &c.Library
	for name, set := range map[string]func(){
		"min_language": func() { l.MinLanguage = 0.95 }, "native": func() { l.Native = true },
		"min_passing": func() { l.MinPassing = 0.98 }, "min_coverage": func() { l.MinCoverage = 0.9 },
		"specification": func() { l.Specification = "docs" }, "min_guide_words": func() { l.MinGuideWords = guideWords }, "reference": func() { l.Reference = true },
	} {
		if unset(name) {
			set()
		}
	}
}

// guideWords is what library.preset takes for a user guide: a page of text. The paper names no length.
const guideWords = 500

// OnGitHub begins a source of the command line that GitHub is asked of.
const OnGitHub = "github:"

// completeSources gives sources that name a repository on GitHub their address and name.
func (c *Config) completeSources(base string) {
	for i := range c.Sources {
		s := &c.Sources[i]
		if s.GitHub == "" || !sourceName.MatchString(s.GitHub) {
			continue
		}
		from := c.Origin(sourcePath(i, "github"))
		if s.Git == "" {
			s.Git, c.origins[sourcePath(i, "git")] = base+s.GitHub+".git", from
		}
		if s.Name == "" {
			s.Name, c.origins[sourcePath(i, "name")] = s.GitHub, from
		}
	}
}

// takeSources applies the sources of the command line.
func (c *Config) takeSources(args []string) {
	if len(args) == 0 {
		return
	}
	var taken []Source
	origins := map[string]Origin{}
	for i, arg := range args {
		s := Source{Git: arg}
		if name, git, ok := strings.Cut(arg, "="); ok && sourceName.MatchString(name) {
			s.Name, s.Git = name, git
			origins[sourcePath(i, "name")] = Origin{FromFlag, "command line"}
		}
		if name, ok := strings.CutPrefix(arg, OnGitHub); ok {
			s.GitHub, s.Git = name, ""
			origins[sourcePath(i, "github")] = Origin{FromFlag, "command line"}
		}
		prefix, from := sourcePath(i, ""), c.sourceNamed(arg)
		if from >= 0 {
			s = c.Sources[from]
		} else if s.Git != "" {
			origins[prefix+"git"] = Origin{FromFlag, "command line"}
		}
		for path, o := range c.origins {
			if key, ok := strings.CutPrefix(path, sourcePath(from, "")); ok && from >= 0 {
				origins[prefix+key] = o
			}
		}
		taken = append(taken, s)
	}
	for path := range c.origins {
		if strings.HasPrefix(path, "sources[") {
			delete(c.origins, path)
		}
	}
	for path, o := range origins {
		c.origins[path] = o
	}
	c.Sources = taken
}

// sourceNamed is the last source that a word of the command line names; -1 where none is.
func (c *Config) sourceNamed(arg string) int {
	for j, have := range slices.Backward(c.Sources) {
		if have.Name == arg || have.Git == arg || have.GitHub == arg {
			return j
		}
	}
	return -1
}

func sourcePath(i int, key string) string { return fmt.Sprintf("sources[%d].%s", i, key) }

// IsURL reports whether a source is an address and not a path, as git does: a scheme, or host:path.
func IsURL(s string) bool {
	if strings.Contains(s, "://") {
		return true
	}
	colon, slash := strings.IndexByte(s, ':'), strings.IndexByte(s, '/')
	return colon > 1 && (slash < 0 || colon < slash)
}

// beside resolves a path of the file against the file's folder, so that a
// configuration means the same from everywhere.
func beside(file, path string) string {
	if path == "" || filepath.IsAbs(path) || IsURL(path) || strings.HasPrefix(path, "-") {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}
