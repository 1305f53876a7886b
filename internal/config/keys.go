package config

import (
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/schemas"
)

// Key is one row of the table that everything is made from. The type of what
// bind points to is the key's type.
type Key struct {
	Path    string // as in the file: sandbox.memory, sources[].git
	Doc     string
	Example string   // YAML of a sample
	Choices []string // closed set of words, also of a list's entries
	IsPath  bool     // relative to the file that names it
	Alone   bool     // of a source: it stands in an entry of its own
	Forge   bool     // it holds for sources that GitHub is asked of, and for no others
	IsLocal bool     // how this machine works, which changes no byte of a dataset
	bind    func(*Config) any
	source  func(*Source) any // instead of bind: a key of one source
}

// sections are the comments over the groups of the example.
var sections = map[string]string{
	"release":         "What a release asks of new tasks beside their proof (docs/releases.md).",
	"hidden":          "Parts of releases that are not public (docs/releases.md). They are drawn by the salt in BENCHMINT_SALT, which no file has.",
	"sources":         "Where changes come from: git repositories, by path or URL. GitHub is asked where github, search, list or preset is set.",
	"github":          "What a run may ask of GitHub. The token comes from GITHUB_TOKEN; several are separated by commas.",
	"limits":          "Per repository, newest first.",
	"filters":         "Which changes are wanted.",
	"statement":       "What a statement of kind feature or edit has.",
	"suite":           "Tests for edits that have none: a model writes them, rules judge them (docs/dataset.md).",
	"library":         "Of kind library: which releases are taken, and what a starter and its tests must be. Shares are from 0 to 1.",
	"service":         "Of kind service: which groups of endpoints are taken, and what their recorded cases must show.",
	"redaction":       "Credentials are kept out of a dataset: masked in prose, and a change whose diff holds one is left out.",
	"build":           "What builds of environments may use.",
	"sandbox":         "Where strangers' code runs, and the limits of each run.",
	"proof":           "How a change is proved.",
	"model":           "A model to ask where rules do not decide: any endpoint that speaks OpenAI's chat API. No model is asked without a name. The key comes from OPENAI_API_KEY.",
	"balance":         "Which tasks make up the dataset: a number of them, drawn to a mix by a seed (docs/dataset.md). Without balance.tasks all do.",
	"decontamination": "Published tasks that a dataset is held against (benchmint decontaminate). Shares are from 0 to 1.",
	"citation":        "What a release says of those who made it.",
}

// madeKinds are the kinds of this version.
var madeKinds = []string{string(schemas.KindFeature), string(schemas.KindEdit), string(schemas.KindLibrary), string(schemas.KindService)}

// Keys is the table, in the order of the file. Only what does something is here.
var Keys = []Key{
	{Path: "dataset", Doc: "name in the manifest and the card", Example: "my-features", bind: func(c *Config) any { return &c.Dataset }},
	{Path: "kinds", Doc: "kinds of tasks: feature (a landed change), edit (the commits of one wish, asked for in an order), library (a release without the bodies of its functions), service (a web service without the handlers of a group of endpoints)", Choices: madeKinds, bind: func(c *Config) any { return &c.Kinds }},
	{Path: "as_of", Doc: "read each source as it stood before this day (UTC): its history and the tags merged into that; of GitHub what is dated (docs/dataset.md)", Example: "2025-07-01", bind: func(c *Config) any { return &c.AsOf }},

	{Path: "sources[].git", Doc: "path (bare or not) or URL", Example: "https://example.org/acme/widget.git", source: func(s *Source) any { return &s.Git }},
	{Path: "sources[].github", Doc: "owner/name: GitHub is asked for titles, texts and labels of pull requests (GITHUB_TOKEN); without git the code comes from there too", Example: "acme/widget", source: func(s *Source) any { return &s.GitHub }},
	{Path: "sources[].name", Doc: "owner/name for IDs; inferred where it can be", Example: "acme/widget", source: func(s *Source) any { return &s.Name }},
	{Path: "sources[].since", Doc: "by commit date of the change, UTC; inclusive", Example: "2025-01-01", source: func(s *Source) any { return &s.Since }},
	{Path: "sources[].until", Doc: "exclusive", Example: "2026-01-01", source: func(s *Source) any { return &s.Until }},
	{Path: "sources[].only", Doc: "pull request numbers or commits, for exact selections; of edits BASE..COMMIT, of libraries tags, of services tags, commits and names of groups", Example: "[123, 4567, 1a2b3c4d]", source: func(s *Source) any { return &s.Only }},

	{Path: "sources[].kinds", Doc: "of this source", Example: "[feature, edit]", Choices: madeKinds, source: func(s *Source) any { return &s.Kinds }},

	{Path: "sources[].search", Alone: true, Doc: "repositories of GitHub: language, stars, pushed, created, topics, topics_not, archived, forks, ranks (by stars)", Example: `{language: python, stars: ">=5000", pushed: ">=2026-01-01", topics_not: [tutorial]}`, source: func(s *Source) any { return &s.Search }},
	{Path: "sources[].list", Alone: true, Doc: "file of repositories by category: {web: [acme/widget, acme/gadget]}", Example: "curated.yaml", IsPath: true, source: func(s *Source) any { return &s.List }},
	{Path: "sources[].preset", Alone: true, Doc: "thresholds of FeatBench's paper, or those of its code", Example: PresetPaper, Choices: []string{PresetPaper, PresetCode}, source: func(s *Source) any { return &s.Preset }},

	{Path: "sources[].pypi", Alone: true, Doc: "projects of PyPI, or a file of them (names, or JSON or CSV with project and download_count): their repositories on GitHub", Example: "[requests, click]", source: func(s *Source) any { return &s.PyPI }},
	{Path: "sources[].most", Doc: "of pypi: so many projects, those with the most downloads first; 0 means all", Example: "100", source: func(s *Source) any { return &s.Most }},

	{Path: "limits.changes", Doc: "at most this many candidates are taken; 0 means all", bind: func(c *Config) any { return &c.Limits.Changes }},

	{Path: "limits.releases", Doc: "changes of so many newest releases are taken, and unreleased ones; 0 means all", bind: func(c *Config) any { return &c.Limits.Releases }},
	{Path: "limits.edit_share", Doc: "of a source that both features and edits are made of: share of its changes with code and tests that are left to edits; the others are features' (docs/dataset.md)", bind: func(c *Config) any { return &c.Limits.EditShare }},

	{Path: "filters.min_releases", Doc: "a repository with fewer releases is left out", bind: func(c *Config) any { return &c.Filters.MinReleases }},
	{Path: "filters.min_release_text", Forge: true, Doc: "GitHub: releases with a shorter text (characters) do not count", bind: func(c *Config) any { return &c.Filters.MinReleaseText }},
	{Path: "filters.released_since", Forge: true, Doc: "GitHub: older releases do not count", Example: "2025-06-01", bind: func(c *Config) any { return &c.Filters.ReleasedSince }},
	{Path: "filters.min_stars", Forge: true, Doc: "GitHub: a repository with fewer stars is left out", bind: func(c *Config) any { return &c.Filters.MinStars }},
	{Path: "filters.max_size", Forge: true, Doc: "GitHub: a repository with more to fetch is left out; 0B means no limit", bind: func(c *Config) any { return &c.Filters.MaxSize }},
	{Path: "filters.pushed_since", Forge: true, Doc: "GitHub: a repository without a push since this day is left out", Example: "2026-01-01", bind: func(c *Config) any { return &c.Filters.PushedSince }},
	{Path: "filters.archived", Forge: true, Doc: "GitHub: keep archived repositories", bind: func(c *Config) any { return &c.Filters.Archived }},
	{Path: "filters.topics_not", Forge: true, Doc: "GitHub: a repository with one of these topics is left out", Example: "[tutorial, course, awesome]", bind: func(c *Config) any { return &c.Filters.TopicsNot }},
	{Path: "filters.tests", Forge: true, Doc: "GitHub: a repository whose root shows no tests is left out", bind: func(c *Config) any { return &c.Filters.Tests }},
	{Path: "filters.licences", Doc: "SPDX identifiers; a repository under another licence is left out; empty: any", Example: "[MIT, Apache-2.0, BSD-3-Clause]", bind: func(c *Config) any { return &c.Filters.Licences }},
	{Path: "filters.languages", Doc: "languages of the code part", Choices: languages.Built(), bind: func(c *Config) any { return &c.Filters.Languages }},
	{Path: "filters.max_source_lines", Doc: "at most this many added and removed lines of the code part; 0 means no limit", bind: func(c *Config) any { return &c.Filters.MaxSourceLines }},
	{Path: "filters.modifies_only", Doc: "only changes that add and remove no function and no class (FeatBench)", bind: func(c *Config) any { return &c.Filters.ModifiesOnly }},
	{Path: "filters.labels", Doc: "a change must have one of these labels", Choices: []string{"feature", "improvement", "fix", "other"}, bind: func(c *Config) any { return &c.Filters.Labels }},
	{Path: "filters.thin", Doc: "keep tasks whose statement says too little; they are marked thin", bind: func(c *Config) any { return &c.Filters.Thin }},
	{Path: "filters.unnoticed", Doc: "keep tasks whose FAIL_TO_PASS tests notice no single code hunk", bind: func(c *Config) any { return &c.Filters.Unnoticed }},
	{Path: "filters.min_noticed", Doc: "of edits some of whose hunks FAIL_TO_PASS tests notice: share of the tried hunks that they notice at least; 0 keeps all", bind: func(c *Config) any { return &c.Filters.MinNoticed }},

	{Path: "statement.interface", Doc: "list below a statement the names that hidden tests need; false is FeatBench's own form, and each row says which names are not given then", bind: func(c *Config) any { return &c.Statement.Interface }},

	{Path: "suite.write", Doc: "of kind edit: take ranges without tests, too, and have the model of model.name write a suite for each; their rows say so", bind: func(c *Config) any { return &c.Suite.Write }},
	{Path: "suite.tries", Doc: "suites that are asked for, for one range, before it is left out", bind: func(c *Config) any { return &c.Suite.Tries }},

	{Path: "library.preset", Doc: "gates of a paper, for the keys below that are not given: commit0 (its section 3.1: 0.95 in one language, native, docs with a guide of 500 words and a reference)", Choices: []string{PresetCommit0}, bind: func(c *Config) any { return &c.Library.Preset }},
	{Path: "library.releases", Doc: "newest final releases of a repository in its window; 0 means all", bind: func(c *Config) any { return &c.Library.Releases }},
	{Path: "library.profile", Doc: "how bodies are masked: strict, or as Commit0 does it (docs/mask.md)", Choices: []string{"strict", "commit0-all", "commit0-docstring", "commit0-combined"}, bind: func(c *Config) any { return &c.Library.Profile }},
	{Path: "library.slices", Doc: "tasks to make of a release: whole (the release), modules (a source file each), functions (one each); the last two go with profile strict", Choices: []string{schemas.WholeLibrary, schemas.ModuleSlices, schemas.FunctionSlices}, bind: func(c *Config) any { return &c.Library.Slices }},
	{Path: "library.max_slices", Doc: "modules of a release that are taken (those with most body lines), and as many functions (at equal steps from the longest to the shortest); 0 means all", bind: func(c *Config) any { return &c.Library.MaxSlices }},
	{Path: "library.min_language", Doc: "share of the code lines that are in a language of filters.languages", bind: func(c *Config) any { return &c.Library.MinLanguage }},
	{Path: "library.native", Doc: "take only libraries without code of C, C++, Cython, Rust or Fortran beside their language: no wrappers", bind: func(c *Config) any { return &c.Library.Native }},
	{Path: "library.max_lines_left", Doc: "share of the body lines that stay in the starter, because they run when the code is loaded or are in a language without a mask; for a slice, of its own lines", bind: func(c *Config) any { return &c.Library.MaxLinesLeft }},
	{Path: "library.min_passing", Doc: "share of the tests that pass in the release", bind: func(c *Config) any { return &c.Library.MinPassing }},
	{Path: "library.max_zero_work", Doc: "share of the tests that pass in the starter with nothing done; for a slice, of the tests that run it", bind: func(c *Config) any { return &c.Library.MaxZeroWork }},
	{Path: "library.min_coverage", Doc: "share of the lines of the code that the suite of the release runs; 0 also takes libraries whose coverage cannot be measured", bind: func(c *Config) any { return &c.Library.MinCoverage }},
	{Path: "library.specification", Doc: "least documentation: docs (a folder of documents), readme, signatures (none)", Choices: []string{"docs", "readme", "signatures"}, bind: func(c *Config) any { return &c.Library.Specification }},
	{Path: "library.min_guide_words", Doc: "words of a user guide: of documents beside the readme that describe no function; 0 takes libraries without one", bind: func(c *Config) any { return &c.Library.MinGuideWords }},
	{Path: "library.reference", Doc: "take only libraries whose documentation describes functions (in Go, that have doc comments)", bind: func(c *Config) any { return &c.Library.Reference }},
	{Path: "library.min_documented", Doc: "share of the public functions and classes with a docstring or doc comment, or that a document describes", bind: func(c *Config) any { return &c.Library.MinDocumented }},
	{Path: "library.gpu", Doc: "take libraries that install packages for graphics processors", bind: func(c *Config) any { return &c.Library.GPU }},

	{Path: "service.frameworks", Doc: "web frameworks whose services are taken", Choices: schemas.Frameworks, bind: func(c *Config) any { return &c.Service.Frameworks }},
	{Path: "service.min_answered", Doc: "share of a group's endpoints that answer a good request (2xx, 3xx)", bind: func(c *Config) any { return &c.Service.MinAnswered }},
	{Path: "service.min_f2p", Doc: "FAIL_TO_PASS cases that a task has", bind: func(c *Config) any { return &c.Service.MinF2P }},
	{Path: "service.min_endpoints", Doc: "endpoints of the group that these cases call", bind: func(c *Config) any { return &c.Service.MinEndpoints }},
	{Path: "service.env", Doc: "make a second task of each group (.service.env), whose solver also writes the Dockerfile; needs sandbox.kind docker", bind: func(c *Config) any { return &c.Service.Env }},
	{Path: "service.hints", Doc: "tell the solver of the second task how its Dockerfile is built and what it has to install; false is ABC-Bench's instruction without hints", bind: func(c *Config) any { return &c.Service.Hints }},
	{Path: "service.walk_back", Doc: "earlier commits to try, one after another, if a service does not start or no group of it becomes a task", bind: func(c *Config) any { return &c.Service.WalkBack }},

	{Path: "redaction.allow", Doc: "false alarms of the secrets scan to ignore: RULE:HEX (as in rejects and redactions.jsonl), files, folders/", Example: "[\"jwt:1a2b3c4d\", tests/certs/]", bind: func(c *Config) any { return &c.Redaction.Allow }},

	{Path: "build.ca_bundle", Doc: "trusted inside builds, never left in an image; empty: the host's bundle", IsPath: true, bind: func(c *Config) any { return &c.Build.CABundle }},
	{Path: "build.registries", Doc: "inherit: mirrors and proxies as the environment has them (UV_DEFAULT_INDEX, PIP_INDEX_URL, GOPROXY, HTTPS_PROXY and the like); public: the well-known ones", Choices: []string{RegistriesInherit, RegistriesPublic}, bind: func(c *Config) any { return &c.Build.Registries }},
	{Path: "build.hosts", Doc: "hosts that builds may reach beside the registries, as host or host:port: where a mirror keeps its files", Example: "[files.example.org, cdn.example.org:8443]", IsLocal: true, bind: func(c *Config) any { return &c.Build.Hosts }},
	{Path: "build.pin_to_date", Doc: "dependencies as they were on the base commit's date", bind: func(c *Config) any { return &c.Build.PinToDate }},

	{Path: "sandbox.kind", Doc: "docker or bwrap; empty: the first that works, then fixed in the store", Choices: []string{Docker, Bwrap}, bind: func(c *Config) any { return &c.Sandbox.Kind }},
	{Path: "sandbox.image", Doc: "docker: start from this image, based on Debian; empty: a Debian made here from packages", bind: func(c *Config) any { return &c.Sandbox.Image }},
	{Path: "sandbox.cpus", Doc: "processors of one run", bind: func(c *Config) any { return &c.Sandbox.CPUs }},
	{Path: "sandbox.memory", Doc: "of one run, all its processes together", bind: func(c *Config) any { return &c.Sandbox.Memory }},
	{Path: "sandbox.processes", Doc: "at one time, threads included", bind: func(c *Config) any { return &c.Sandbox.Processes }},
	{Path: "sandbox.disk", Doc: "written in one run", bind: func(c *Config) any { return &c.Sandbox.Disk }},
	{Path: "sandbox.output", Doc: "standard output and error of one run", bind: func(c *Config) any { return &c.Sandbox.Output }},
	{Path: "sandbox.timeout", Doc: "of one run", bind: func(c *Config) any { return &c.Sandbox.Timeout }},

	{Path: "proof.runs", Doc: "whole suites in the start and in the solution state", bind: func(c *Config) any { return &c.Proof.Runs }},
	{Path: "proof.parallel", Doc: "suites and builds at one time; timing tests of strangers fail beside others", IsLocal: true, bind: func(c *Config) any { return &c.Proof.Parallel }},
	{Path: "proof.hunks", Doc: "code hunks of a task that are reverted one at a time to see whether FAIL_TO_PASS tests notice; 0 means none", bind: func(c *Config) any { return &c.Proof.Hunks }},

	{Path: "model.endpoint", Doc: "base URL", Example: "http://127.0.0.1:8000/v1", IsLocal: true, bind: func(c *Config) any { return &c.Model.Endpoint }},
	{Path: "model.name", Doc: "as the endpoint calls it", Example: "qwen3-32b", bind: func(c *Config) any { return &c.Model.Name }},
	{Path: "model.fallback", Doc: "asked where the one before refuses or has no quota left", Example: "[qwen3-8b]", bind: func(c *Config) any { return &c.Model.Fallback }},
	{Path: "model.price_input", Doc: "dollars per million tokens of model.name; an endpoint elsewhere needs both prices", IsLocal: true, bind: func(c *Config) any { return &c.Model.PriceInput }},
	{Path: "model.price_output", Doc: "likewise, of answers", IsLocal: true, bind: func(c *Config) any { return &c.Model.PriceOutput }},
	{Path: "model.prices", Doc: "instead of these two, and for fallback: prices by model, with cached input, and tiers above so many input tokens or at hours of the day (UTC)", Example: `{qwen3-8b: {input: 0.10, cached_input: 0.01, output: 0.50, tiers: [{above: 100000, input: 0.50, output: 2.50}, {hours: ["01:00-04:00"], input: 0.20, output: 1.00}]}}`, IsLocal: true, bind: func(c *Config) any { return &c.Model.Prices }},
	{Path: "model.max_cost", Doc: "dollars that all runs of a store may spend; 0 means no limit", IsLocal: true, bind: func(c *Config) any { return &c.Model.MaxCost }},
	{Path: "model.max_cost_item", Doc: "dollars that one question may cost; dearer ones are answered by the rules; 0 means no limit", IsLocal: true, bind: func(c *Config) any { return &c.Model.MaxCostItem }},
	{Path: "model.max_tokens", Doc: "of one answer, with what the model thinks before it", bind: func(c *Config) any { return &c.Model.MaxTokens }},
	{Path: "model.tries", Doc: "how often an answer is asked for if a schema or a gate refuses it", bind: func(c *Config) any { return &c.Model.Tries }},
	{Path: "model.timeout", Doc: "of one question", IsLocal: true, bind: func(c *Config) any { return &c.Model.Timeout }},
	{Path: "model.parallel", Doc: "questions open at one time; 0: 1 for a server on this machine, else 4", IsLocal: true, bind: func(c *Config) any { return &c.Model.Parallel }},
	{Path: "model.useless", Doc: "what follows ten answers of no use in a row: stop defers what waits, rules goes on without the model", Choices: []string{UselessStop, UselessRules}, bind: func(c *Config) any { return &c.Model.Useless }},

	{Path: "github.max_requests", Doc: "requests that a run may send; 0 means no limit", IsLocal: true, bind: func(c *Config) any { return &c.MaxRequests }},

	{Path: "jobs", Doc: "steps at one time, cheap ones included; 0: the number of processors", IsLocal: true, bind: func(c *Config) any { return &c.Jobs }},
	{Path: "wait", Doc: "how long a run waits for deferred items when nothing else is left to do", IsLocal: true, bind: func(c *Config) any { return &c.Wait }},

	{Path: "overrides", Doc: "file of statements and interfaces written by hand, by ID (docs/dataset.md)", IsPath: true, bind: func(c *Config) any { return &c.Overrides }},
	{Path: "reviews", Doc: "file, or list of files, of what people say of tasks (benchmint review; docs/dataset.md)", Example: "[ana.csv, ben.csv]", IsPath: true, bind: func(c *Config) any { return &c.Reviews }},

	{Path: "balance.tasks", Doc: "tasks that are drawn; 0 means all", bind: func(c *Config) any { return &c.Balance.Tasks }},
	{Path: "balance.seed", Doc: "another seed draws other tasks", bind: func(c *Config) any { return &c.Balance.Seed }},
	{Path: "balance.by", Doc: "shares of values, which sum to 1, or even, by language, framework, category, kind and repository", Example: shareSample, bind: func(c *Config) any { return &c.Balance.By }},

	{Path: "store", Doc: "folder of records (SQLite) and blobs; a run resumes where it stopped", IsPath: true, bind: func(c *Config) any { return &c.Store }},
	{Path: "blobs", Doc: "bucket in which workers of --listen exchange blobs and environments; empty: they get them from the run", Example: "s3://mint/run", IsLocal: true, bind: func(c *Config) any { return &c.Blobs }},
	{Path: "output", Doc: "folder of the dataset", IsPath: true, bind: func(c *Config) any { return &c.Output }},
	{Path: "releases", Doc: "folder of the shelf of releases (docs/releases.md)", IsPath: true, bind: func(c *Config) any { return &c.Releases }},

	{Path: "release.dates", Doc: "dates on which benchmint reprove has proved each new task of a release; 1: the proof of the dataset is enough", IsLocal: true, bind: func(c *Config) any { return &c.Release.Dates }},
	{Path: "release.gold", Doc: "runs of a new task with its own patch, over all dates; a published task has at most 3", IsLocal: true, bind: func(c *Config) any { return &c.Release.Gold }},
	{Path: "release.nop", Doc: "runs with a patch that does nothing; a published task has at most 1", IsLocal: true, bind: func(c *Config) any { return &c.Release.Nop }},
	{Path: "release.forged", Doc: "runs with a patch that only forges results; a published task has none", IsLocal: true, bind: func(c *Config) any { return &c.Release.Forged }},
	{Path: "release.models", Doc: "YAML file of models with their cut-offs, as --models of eval has it: what a release says of tasks after each", Example: "models.yaml", IsPath: true, IsLocal: true, bind: func(c *Config) any { return &c.Release.Models }},

	{Path: "hidden.held_out", Doc: "share of new tasks of which statement and base tree are published, and all else is encrypted; it stays as it is in the first version that hides tasks", IsLocal: true, bind: func(c *Config) any { return &c.Hidden.HeldOut }},
	{Path: "hidden.private", Doc: "share of new tasks of which only a commitment is published; it stays, too", IsLocal: true, bind: func(c *Config) any { return &c.Hidden.Private }},
	{Path: "hidden.keys", Doc: "public keys of age (age-keygen) that open held-out tasks", Example: "[age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p]", IsLocal: true, bind: func(c *Config) any { return &c.Hidden.Keys }},
	{Path: "hidden.opens", Doc: "version that publishes the held-out tasks that come now", Example: `"2027.07"`, IsLocal: true, bind: func(c *Config) any { return &c.Hidden.Opens }},
	{Path: "hidden.folder", Doc: "folder of the shelf of hidden tasks, outside of releases: publish it nowhere", IsPath: true, IsLocal: true, bind: func(c *Config) any { return &c.Hidden.Folder }},

	{Path: "decontamination.against", Doc: "files and folders of published tasks that no task may be one of (docs/releases.md)", Example: "[swe-bench-verified.parquet, theirs/]", IsPath: true, bind: func(c *Config) any { return &c.Decontamination.Against }},
	{Path: "decontamination.aliases", Doc: "names that repositories had before: OLD=NEW", Example: "[acme/widgets=acme/widget]", bind: func(c *Config) any { return &c.Decontamination.Aliases }},
	{Path: "decontamination.remove", Doc: "share of added lines or of the statement from which on a task is taken out", IsLocal: true, bind: func(c *Config) any { return &c.Decontamination.Remove }},
	{Path: "decontamination.label", Doc: "share from which on a task is named in decontamination.jsonl", IsLocal: true, bind: func(c *Config) any { return &c.Decontamination.Label }},

	{Path: "citation.authors", Doc: "who made the dataset, for CITATION.cff of a release; empty: its maintainers", Example: "[The acme team]", IsLocal: true, bind: func(c *Config) any { return &c.Citation.Authors }},
	{Path: "citation.url", Doc: "where the dataset is published", Example: "https://example.org/acme-tasks", IsLocal: true, bind: func(c *Config) any { return &c.Citation.URL }},
}

// pointer is what the key sets in c; i is the source's index where it is a source's key.
func (k Key) pointer(c *Config, i int) any {
	if k.source != nil {
		return k.source(&c.Sources[i])
	}
	return k.bind(c)
}

// zero is a value of the key's type, for what only asks for the type.
func (k Key) zero() any {
	if k.source != nil {
		return k.source(&Source{})
	}
	return k.bind(Default())
}

func (k Key) isList() bool { _, ok := k.zero().(*[]string); return ok }

// split is the section and the name within it; dataset has no section.
func (k Key) split() (section, name string) {
	section, name, ok := strings.Cut(k.Path, ".")
	if !ok {
		return "", section
	}
	return strings.TrimSuffix(section, "[]"), name
}

// env is the variable that sets the key; a source's keys have none.
func (k Key) env() string {
	if k.source != nil {
		return ""
	}
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Path, ".", "_"))
}

const envPrefix = "BENCHMINT_"

func findKey(path string) (Key, bool) {
	for _, k := range Keys {
		if k.Path == path {
			return k, true
		}
	}
	return Key{}, false
}

// Value is one key with its effective value and where it came from.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"-"`     // as in the file
	Typed  any    `json:"value"` // as JSON has it; sizes, durations and dates as in the file
	Origin string `json:"origin"`
}

// Values lists every effective value in the table's order; sources one after another.
func (c *Config) Values() []Value {
	var out []Value
	sourcesDone := false
	for _, k := range Keys {
		if k.source == nil {
			out = append(out, Value{k.Path, format(k.bind(c)), jsonOf(k.bind(c)), c.Origin(k.Path).String()})
			continue
		}
		if sourcesDone {
			continue
		}
		sourcesDone = true
		for i := range c.Sources {
			out = append(out, c.sourceValues(i)...)
		}
	}
	return out
}

// sourceValues leaves out what is not set: an empty date is not a value that can be written.
func (c *Config) sourceValues(i int) []Value {
	var out []Value
	for _, k := range Keys {
		if k.source == nil {
			continue
		}
		_, name := k.split()
		path := sourcePath(i, name)
		if _, set := c.origins[path]; set {
			out = append(out, Value{path, format(k.source(&c.Sources[i])), jsonOf(k.source(&c.Sources[i])), c.Origin(path).String()})
		}
	}
	return out
}

// schemaOf is the JSON Schema of one key's type.
func schemaOf(k Key) *jsonschema.Schema {
	s := &jsonschema.Schema{Description: k.Doc}
	switch k.zero().(type) {
	case *string:
		s.Type = "string"
	case *int:
		s.Type, s.Minimum = "integer", new(float64)
	case *float64:
		s.Type = "number"
	case *bool:
		s.Type = "boolean"
	case *Size:
		s.Type, s.Pattern = "string", sizePattern
	case *time.Duration:
		s.Type, s.Pattern = "string", durationPattern
	case *Date:
		s.Type, s.Pattern = "string", datePattern
	case *Search:
		s.Type, s.Properties = "object", searchSchema()
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // false
	case *Projects: // one file, or names
		s.Types, s.Items = []string{"array", "string"}, &jsonschema.Schema{Type: "string"}
	case *Prices:
		s.Type, s.AdditionalProperties = "object", pricesSchema()
	case *Shares:
		s.Type, s.Properties = "object", sharesSchema()
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // false
	case *[]string:
		s.Type, s.Items = "array", &jsonschema.Schema{Types: []string{"string", "integer"}}
		if k.IsPath { // one file needs no list
			s.Type, s.Types = "", []string{"array", "string"}
		}
	}
	var choices []any
	for _, c := range k.Choices {
		choices = append(choices, c)
	}
	switch {
	case len(choices) > 0 && k.isList():
		s.Items = &jsonschema.Schema{Enum: choices}
	case len(choices) > 0:
		s.Enum = choices
	}
	return s
}
