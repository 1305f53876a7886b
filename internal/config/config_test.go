package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/internal/llm"
)

// write puts a configuration into a folder of its own.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "benchmint.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

const whole = `
dataset: my-features
kinds: [feature]
sources:
  - git: ../clones/widget.git
    name: acme/widget
    since: 2025-01-01
    until: "2026-01-01"
    only: [123, 0012345, 1234567e8]
  - git: https://example.org/a/b.git
  - github: acme/kit
  - search: {language: python, stars: ">=5000", pushed: ">=2026-01-01", created: 2015-01-01..2020-01-01, topics: [web], topics_not: [tutorial], archived: true, forks: true, ranks: 100..200}
  - list: curated.yaml
  - {preset: featbench, since: 2025-01-01, kinds: [edit]}
  - {pypi: [requests, click], most: 1}
  - pypi: top.json
limits: {changes: 6, releases: 4, edit_share: 0.4}
filters: {min_releases: 2, licences: [MIT], languages: [go], max_source_lines: 50, modifies_only: false, labels: [fix], thin: true, unnoticed: true, min_noticed: 0.7,
  min_release_text: 30, released_since: 2025-01-01, min_stars: 100, max_size: 1GiB, pushed_since: 2025-01-01, archived: false, topics_not: [awesome], tests: true}
github: {max_requests: 12}
statement: {interface: false}
suite: {write: true, tries: 4}
library: {releases: 2, profile: commit0-all, slices: [whole, whole], max_slices: 3, min_language: 0.8, max_lines_left: 0.5, min_passing: 0.7, max_zero_work: 0.1, min_coverage: 0.6, specification: docs, native: true, min_guide_words: 40, reference: true, min_documented: 0.4, preset: commit0, gpu: true}
service: {frameworks: [gin], min_answered: 0.4, min_f2p: 5, min_endpoints: 4, env: true, hints: false, walk_back: 2}
redaction: {allow: [tests/certs/]}
build: {registries: public, hosts: [cdn.example.org], pin_to_date: false}
sandbox: {kind: docker, image: "debian:12", cpus: 1.5, memory: 512MiB, processes: 64, disk: 1GB, output: 1MiB, timeout: 1h30m}
proof: {runs: 5, parallel: 2, hunks: 7}
model: {endpoint: "https://models.example.org/v1", name: small, fallback: [large, night], price_input: 0.1, price_output: 0.5,
  prices: {large: {input: 1, output: 5, cached_input: 0.1, tiers: [{above: 100000, input: 2, output: 10}]}, night: {input: 3, output: 4, tiers: [{hours: ["01:00-04:00", "23:00-00:30"], input: 6, output: 8, cached_input: 0}]}}, max_cost: 7, max_cost_item: 0.2, max_tokens: 900, tries: 3, timeout: 30s, parallel: 2, useless: rules}
jobs: 3
wait: 90s
overrides: hand.yaml
reviews: [ana.csv, /ben.csv]
balance: {tasks: 40, seed: 7, by: {language: {python: 0.5, go: 0.5}, category: even}}
store: state
blobs: s3://mint/run
output: /out
releases: /shelf
citation: {authors: [The acme team], url: "https://example.org/acme"}
release: {dates: 1, gold: 4, nop: 2, forged: 3, models: models.yaml}
hidden: {held_out: 0.2, private: 0.1, keys: [age1acme], opens: "2027.07", folder: /hidden}
decontamination: {against: theirs.jsonl, aliases: [acme/widgets=acme/widget], remove: 0.9, label: 0.5}
`

func TestLoadReadsEveryKey(t *testing.T) {
	t.Parallel()
	file := write(t, whole)
	got, err := Load(Input{File: file})
	if err != nil {
		t.Fatal(err)
	}
	day := func(y int) Date { return Date{time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)} }
	want := &Config{
		File: file, Dataset: "my-features", Kinds: []string{"feature"},
		Sources: []Source{
			{Git: filepath.Join(filepath.Dir(file), "../clones/widget.git"), Name: "acme/widget", Since: day(2025), Until: day(2026), Only: []string{"123", "0012345", "1234567e8"}},
			{Git: "https://example.org/a/b.git"},
			{Git: "https://github.com/acme/kit.git", GitHub: "acme/kit", Name: "acme/kit"},
			{Search: Search{"python", ">=5000", ">=2026-01-01", "2015-01-01..2020-01-01", []string{"web"}, []string{"tutorial"}, true, true, "100..200"}},
			{List: filepath.Join(filepath.Dir(file), "curated.yaml")},
			{Preset: PresetPaper, Since: day(2025), Kinds: []string{"edit"}},
			{PyPI: Projects{Names: []string{"requests", "click"}}, Most: 1},
			{PyPI: Projects{File: filepath.Join(filepath.Dir(file), "top.json")}},
		},
		Limits: Limits{6, 4, 0.4}, Filters: Filters{2, 30, day(2025), 100, 1 << 30, day(2025), false, []string{"awesome"}, true, []string{"MIT"}, []string{"go"}, 50, false, []string{"fix"}, true, true, 0.7},
		Statement: Statement{false}, Suite: Suite{true, 4},
		Library:   Library{2, "commit0-all", []string{"whole", "whole"}, 3, 0.8, 0.5, 0.7, 0.1, 0.6, true, "docs", 40, true, 0.4, "commit0", true},
		Service:   Service{[]string{"gin"}, 0.4, 5, 4, true, false, 2},
		Redaction: Redaction{Allow: []string{"tests/certs/"}},
		Build:     Build{Registries: RegistriesPublic, Hosts: []string{"cdn.example.org"}},
		Sandbox:   Sandbox{Docker, "debian:12", 1.5, 512 << 20, 64, 1e9, 1 << 20, 90 * time.Minute},
		Proof:     Proof{5, 2, 7},
		Model: Model{"https://models.example.org/v1", "small", []string{"large", "night"}, 0.1, 0.5, Prices{
			"large": {Rates: llm.Rates{Input: 1, Cached: 0.1, Output: 5}, Tiers: []llm.Tier{{Above: 100_000, Rates: llm.Rates{Input: 2, Cached: 2, Output: 10}}}},
			"night": {Rates: llm.Rates{Input: 3, Cached: 3, Output: 4}, Tiers: []llm.Tier{{Hours: []llm.Hours{{From: 60, Until: 240}, {From: 23 * 60, Until: 30}}, Rates: llm.Rates{Input: 6, Output: 8}}}},
		}, 7, 0.2, 900, 3, 30 * time.Second, 2, UselessRules},
		MaxRequests: 12, Overrides: filepath.Join(filepath.Dir(file), "hand.yaml"), Jobs: 3,
		Reviews: []string{filepath.Join(filepath.Dir(file), "ana.csv"), "/ben.csv"}, Balance: Balance{40, 7, Shares{"language": {"python": 0.5, "go": 0.5}, "category": nil}},
		Wait:  90 * time.Second,
		Store: filepath.Join(filepath.Dir(file), "state"), Blobs: "s3://mint/run", Output: "/out",
		Releases: "/shelf", Citation: Citation{[]string{"The acme team"}, "https://example.org/acme"}, Release: Release{1, 4, 2, 3, filepath.Join(filepath.Dir(file), "models.yaml")},
		Hidden:          Hidden{0.2, 0.1, []string{"age1acme"}, "2027.07", "/hidden"},
		Decontamination: Decontamination{[]string{filepath.Join(filepath.Dir(file), "theirs.jsonl")}, []string{"acme/widgets=acme/widget"}, 0.9, 0.5},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
}

// remote is a model of an endpoint elsewhere, with its prices.
const remote = "model:\n  name: small\n  endpoint: https://models.example.org/v1\n  price_input: 1\n  price_output: 2\n"

// Prices that were read are written so that a variable holds them.
func TestPrices(t *testing.T) {
	t.Parallel()
	c, err := Load(Input{File: write(t, whole)})
	if err != nil {
		t.Fatal(err)
	}
	text := c.Model.Prices.String()
	again, err := Load(Input{File: write(t, ""), Environ: []string{
		"BENCHMINT_MODEL_NAME=small", "BENCHMINT_MODEL_ENDPOINT=http://127.0.0.1:1/v1", "BENCHMINT_MODEL_FALLBACK=large,night", "BENCHMINT_MODEL_PRICE_INPUT=1", "BENCHMINT_MODEL_PRICES=" + text,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Model.Prices, again.Model.Prices); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
	for text, want := range map[string]string{
		"{small: {inptu: 1, output: 2}}": `unknown key "model.prices.small.inptu"; did you mean input?; model.prices.small: input is missing`,
		"cheap":                          "model.prices must hold prices by model",
		"{":                              `"{" is not YAML of prices`,
		"":                               "",
	} {
		_, err := Load(Input{File: write(t, ""), Environ: []string{"BENCHMINT_MODEL_PRICES=" + text}})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestLoadNamesEveryProblem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, yaml string
		want       []string // after the file's name
	}{
		{"unknown_key", "dataset: x\nsandbx: {}\n", []string{`:2: unknown key "sandbx"; did you mean sandbox?`}},
		{"unknown_in_section", "sandbox:\n  cpus: 1\n  memroy: 4GiB\n", []string{`:3: unknown key "sandbox.memroy"; did you mean memory?`}},
		{"unknown_in_source", "sources:\n- git: x\n  sinec: 2025-01-01\n", []string{`:3: unknown key "sources[0].sinec"; did you mean since?`}},
		{"key_of_another_section", "memory: 4GiB\n", []string{`:1: unknown key "memory"; did you mean sandbox.memory?`}},
		{"far_off", "limits: {frobnicate: 3}\n", []string{`:1: unknown key "limits.frobnicate" (known: changes, edit_share, releases)`}},
		{"shares_of_edits", "limits: {edit_share: -0.1}\nfilters: {min_noticed: 1.5}\n", []string{`:1: limits.edit_share: -0.1 is not between 0 and 1`, `:2: filters.min_noticed: 1.5 is not between 0 and 1`}},
		{"kind_misspelt", "kinds: [featrue]\n", []string{`:1: kinds: "featrue" is not one of feature, edit, library, service; did you mean feature?`}},
		{"share_of_a_library", "library: {max_zero_work: 1.5, releases: -1}\n", []string{`:1: library.max_zero_work: 1.5 is not between 0 and 1`, `:1: library.releases: -1 is below 0`}},
		{"profile_of_nobody", "library: {profile: comit0-all}\n", []string{`:1: library.profile: "comit0-all" is not one of strict, commit0-all, commit0-docstring, commit0-combined; did you mean commit0-all?`}},
		{"slice_misspelt", "library: {slices: [whole, modlues], max_slices: -1}\n", []string{`:1: library.max_slices: -1 is below 0`, `:1: library.slices: "modlues" is not one of whole, modules, functions; did you mean modules?`}},
		{"slices_of_another_profile", "library: {slices: [functions], profile: commit0-all}\n", []string{`:1: library.slices: modules and functions go with library.profile strict only, not with commit0-all`}},
		{"framework_misspelt", "service: {frameworks: [falsk], min_answered: 2, walk_back: -1}\n", []string{`:1: service.frameworks: "falsk" is not one of flask, fastapi, django, aiohttp, starlette, gin, chi, net/http, gorilla/mux, echo, fiber, httprouter; did you mean flask?`, `:1: service.min_answered: 2 is not between 0 and 1`, `:1: service.walk_back: -1 is below 0`}},
		{"environment_without_images", "service: {env: true}\nsandbox: {kind: bwrap}\n", []string{`:1: service.env: needs sandbox.kind docker, and it is bwrap`}},
		{"tag_of_no_library", "sources:\n- {git: x, only: [v1.0]}\n- {git: y, name: a/b, kinds: [library], only: [v1.0]}\n", []string{`:2: sources[0].only: "v1.0" is not a pull request number, commit (7 hex digits or more), range of commits or ID`}},
		{"empty_window", "sources:\n- git: x\n  since: 2026-01-01\n  until: 2025-01-01\n", []string{`:4: sources[0].until: 2025-01-01 is not after since (2026-01-01): no commit can lie between them`}},
		{"bad_memory", "sandbox:\n  memory: 4\n", []string{`:2: sandbox.memory: "4" is not a size (a number and B, KiB, MiB, GiB or TiB, such as 4GiB)`}},
		{"negative_memory", "sandbox: {memory: -4GiB}\n", []string{`:1: sandbox.memory: "-4GiB" is not a size (a number and B, KiB, MiB, GiB or TiB, such as 4GiB)`}},
		{"little_memory", "sandbox: {memory: 1MiB}\n", []string{`:1: sandbox.memory: 1MiB is below 64MiB`}},
		{"bad_timeout", "sandbox: {timeout: soon}\n", []string{`:1: sandbox.timeout: "soon" is not a duration (such as 90s, 30m, 1h30m)`}},
		{"bad_date", "sources:\n- git: x\n  since: 2025-13-01\n", []string{`:3: sources.since: "2025-13-01" is not a date (YYYY-MM-DD, UTC)`}},
		{"model_without_a_name", "model: {endpoint: \"http://127.0.0.1:1/v1\"}\n", []string{`model.name: is missing: which model of http://127.0.0.1:1/v1 is asked?`}},
		{"suite_without_a_model", "suite: {write: true, tries: 0}\n", []string{`:1: suite.tries: 0 is not between 1 and 10`, `:1: suite.write: needs model.name: which model writes the suites?`}},
		{"model_without_an_endpoint", "model: {name: small}\n", []string{`model.endpoint: is missing: where is small asked?`}},
		{"model_without_prices", "model: {name: small, endpoint: \"https://models.example.org/v1\"}\n", []string{`model.price_output: the prices of an endpoint elsewhere are needed: without them model.max_cost holds nothing back`}},
		{"model_fallback_without_a_price", remote + "  fallback: [large]\n", []string{`model.prices: the price of "large" is missing: model.price_input and model.price_output are those of model.name alone`}},
		{"model_of_this_machine_with_half_the_prices", "model: {name: small, endpoint: \"http://127.0.0.1:1/v1\", fallback: [large], prices: {large: {input: 1, output: 2}}}\n", []string{`:1: model.prices: the price of "small" is missing: model.price_input and model.price_output are those of model.name alone`}},
		{"price_of_another_model", remote + "  prices: {smal: {input: 1, output: 2}}\n", []string{`:6: model.prices: "smal" is neither model.name nor in model.fallback; did you mean small?`}},
		{"price_told_twice", remote + "  prices: {small: {input: 1, output: 2}}\n", []string{`:6: model.prices: "small" has a price in model.price_input and model.price_output as well`}},
		{"price_misspelt", "model:\n  prices:\n    small:\n      input: 1\n      outptu: 2\n", []string{
			`:4: model.prices.small: output is missing, in dollars per million tokens`, `:5: unknown key "model.prices.small.outptu"; did you mean output?`}},
		{"price_below_nothing", "model: {prices: {small: {input: -1, output: cheap}}}\n", []string{
			`:1: model.prices.small.input: "-1" is not a number of dollars`, `:1: model.prices.small.output: "cheap" is not a number of dollars`}},
		{"price_is_a_number", "model: {prices: {small: 1}}\n", []string{`:1: model.prices.small must hold input and output, in dollars per million tokens`}},
		{"prices_without_models", "model: {prices: [1]}\n", []string{`:1: model.prices must hold prices by model, such as {small-model: {input: 0.10, output: 0.50}}`}},
		{"tier_of_always", "model: {prices: {small: {input: 1, output: 1, tiers: [{input: 2, output: 2}]}}}\n", []string{`:1: model.prices.small.tiers[0]: above (input tokens) or hours (of the day in UTC) is missing: it would hold always`}},
		{"tier_misspelt", "model: {prices: {small: {input: 1, output: 1, tiers: [{abvoe: 9, input: 2, output: 2, hours: [\"1-2\"]}, {above: many, input: 1, output: 1}]}}}\n", []string{
			`:1: unknown key "model.prices.small.tiers[0].abvoe"; did you mean above?`,
			`:1: model.prices.small.tiers[0].hours: "1-2" is not a part of a day in UTC (such as 01:00-04:00)`,
			`:1: model.prices.small.tiers[1].above: "many" is not a number of input tokens`}},
		{"model_with_a_secret", "model: {name: small, endpoint: \"http://a:b@127.0.0.1/v1\"}\n", []string{`:1: model.endpoint: the URL holds a secret; the key comes from OPENAI_API_KEY`}},
		{"model_tries", "model: {tries: 0}\n", []string{`:1: model.tries: 0 is not between 1 and 10`}},
		{"token_as_user", "sources: [{git: 'http://ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX@example.org/a/b'}]\n", []string{`:1: sources[0].git: the URL holds a name or token before its @; secrets come from the environment only: an SSH agent, or a helper that GIT_ASKPASS names`}},
		{"token_in_query", "sources: [{git: 'https://example.org/a/b?access_token=x1'}]\n", []string{`:1: sources[0].git: the URL holds what looks like a token in its query; secrets come from the environment only: an SSH agent, or a helper that GIT_ASKPASS names`}},
		{"redaction_rule", "redaction: {allow: ['github-patt:01234567']}\n", []string{`:1: redaction.allow: "github-patt:01234567": there is no rule "github-patt"; did you mean github-pat?`}},
		{"bad_bool", "build: {pin_to_date: maybe}\n", []string{`:1: build.pin_to_date: "maybe" is not true or false`}},
		{"no_runs", "proof: {runs: 0}\n", []string{`:1: proof.runs: 0 is not between 1 and 100`}},
		{"list_wanted", "kinds: feature\n", []string{`:1: kinds must be a list`}},
		{"scalar_wanted", "store: [a]\n", []string{`:1: store must be a single value`}},
		{"source_without_git", "sources:\n- name: a/b\n", []string{`:2: sources[0].git: is missing`}},
		{"sources_of_one_name", "sources:\n- {git: x, name: a/b}\n- {git: y, name: A/B}\n", []string{`:3: sources[1].name: "A/B" is also the name of sources[0]`}},
		{"bad_only", "sources:\n- {git: x, only: [12a]}\n", []string{`:2: sources[0].only: "12a" is not a pull request number, commit (7 hex digits or more), range of commits or ID`}},
		{"git_is_an_option", "sources:\n- {git: --upload-pack=x, name: a/b}\n", []string{`:2: sources[0].git: "--upload-pack=x" looks like an option, not like a path or URL`}},
		{"remote_store", "store: s3://h/db\n", []string{`:1: store: "s3://h/db": this version keeps it in a local folder`}},
		{"database", "store: postgres://me:secret@h/db\n", []string{":1: store: PostgreSQL is not supported any more; use a folder, and add machines with `benchmint run --listen ADDR` and `benchmint work URL`"}},
		{"database_by_its_other_name", "store: postgresql://h/db\n", []string{":1: store: PostgreSQL is not supported any more; use a folder, and add machines with `benchmint run --listen ADDR` and `benchmint work URL`"}},
		{"blobs_in_a_folder", "blobs: ./blobs\n", []string{`:1: blobs: "./blobs" is not s3://BUCKET/PREFIX; blobs of this machine are in the store`}},
		{"search_misspelt", "sources:\n- search:\n    language: go\n    star: 5\n", []string{`:4: unknown key "search.star"; did you mean stars?`}},
		{"search_without_a_range", "sources:\n- search: {stars: many}\n", []string{`:2: search.stars: "many": it is not a range (>=10, >10, <=10, <10, 10..20 or 10)`}},
		{"search_of_a_day", "sources:\n- search: {pushed: \">=2026\"}\n", []string{`:2: search.pushed: ">=2026" is not a range of days (>=2026-01-31, <2026-01-31, 2025-01-31..2026-01-31)`}},
		{"search_of_nothing", "sources:\n- search: {stars: 20..10}\n", []string{`:2: search.stars: "20..10" is empty: no number lies in it`}},
		{"search_without_words", "sources:\n- search: {}\n", []string{`:2: search: is empty: it would find all of GitHub`}},
		{"search_beside_git", "sources:\n- {search: {language: go}, git: x, since: 2025-01-01}\n", []string{`:2: sources[0]: git and search cannot stand together: an entry is one repository, or one way of finding some`}},
		{"preset_misspelt", "sources:\n- preset: featbenh\n", []string{`:2: sources[0].preset: "featbenh" is not one of featbench, featbench-code; did you mean featbench?`}},
		{"pypi_beside_search", "sources:\n- {pypi: [six], search: {language: go}}\n", []string{`:2: sources[0]: search and pypi cannot stand together: an entry is one repository, or one way of finding some`}},
		{"pypi_of_nothing", "sources:\n- pypi: []\n", []string{`:2: sources.pypi: names no project`}},
		{"pypi_with_a_version", "sources:\n- pypi: [six==1.16]\n", []string{`:2: sources[0].pypi: "six==1.16" is not a name of a project`}},
		{"most_of_nothing", "sources:\n- {git: \"https://example.org/a/b.git\", most: 3}\n", []string{`:2: sources[0].most: says how many projects of pypi are taken, and the entry has no pypi`}},
		{"most_below_0", "sources:\n- {pypi: [six], most: -1}\n", []string{`:2: sources[0].most: -1 is below 0`}},
		{"label_misspelt", "filters: {labels: [feture]}\n", []string{`:1: filters.labels: "feture" is not one of feature, improvement, fix, other; did you mean feature?`}},
		{"bundle_of_something_else", "build: {ca_bundle: /etc/passwd}\n", []string{`:1: build.ca_bundle: /etc/passwd holds no certificate in PEM form`}},
		{"missing_bundle", "build: {ca_bundle: /does/not/exist}\n", []string{`:1: build.ca_bundle: /does/not/exist: no such file`}},
		{"balance_of_nothing", "balance: {by: {language: even}}\n", []string{`:1: balance.by: needs balance.tasks: how many tasks are drawn?`}},
		{"balance_misspelt", "balance:\n  tasks: 4\n  by:\n    languages: even\n    language: {pyhton: 0.5, go: 0.6}\n    kind: evn\n    framework: {flask: 0.5, gin: 0.7}\n", []string{
			`:4: unknown property "languages" of balance.by; did you mean language?`,
			`:5: balance.by.language: "pyhton" is not one of ` + strings.Join(languages.Built(), ", ") + `; did you mean python?`,
			`:6: balance.by.kind must be even, or shares by value such as {python: 0.5, go: 0.5}`,
			`:7: balance.by.framework: the shares sum to 1.2, not to 1`}},
		{"balance_without_a_share", "balance: {tasks: -1, by: {repository: {a/b: 0, c/d: many}}}\n", []string{
			`:1: balance.by.repository.a/b: "0" is not a share (above 0, at most 1)`, `:1: balance.by.repository.c/d: "many" is not a share (above 0, at most 1)`, `:1: balance.tasks: -1 is below 0`}},
		{"reviews_of_no_file", "reviews: {a: b}\n", []string{`:1: reviews must be a file, or a list of files`}},
		{"all_at_once", "sandbx: {}\nproof: {runs: x}\nlanguages: [go]\n", []string{
			`:1: unknown key "sandbx"; did you mean sandbox?`,
			`:2: proof.runs: "x" is not a whole number`,
			`:3: unknown key "languages"; did you mean filters.languages?`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, tt.yaml)
			_, err := Load(Input{File: file})
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.Split(strings.ReplaceAll(err.Error(), file, ""), "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	file := write(t, "store: from-file\noutput: /from-file\nproof: {runs: 4}\nsources:\n- git: /a\n  name: x/a\n  since: 2024-01-01\n- git: /b\n")
	c, err := Load(Input{
		File:    file,
		Environ: []string{"BENCHMINT_OUTPUT=from-env", "BENCHMINT_PROOF_RUNS=6", "HOME=/x", "BENCHMINT_TEST_CACHE=/y", "BENCHMINT_TOKEN_FILE=/z", "BENCHMINT_STORE=", "BENCHMINT_FILTERS_LANGUAGES=go, python"},
		Flags:   []Setting{{"proof.runs", "7", "--runs"}, {"sources[].since", "2025-06-01", "--since"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Output, c.Origin("output").String(), c.Origin("store").String(), c.Origin("proof.runs").String(), c.Origin("limits.changes").String(), c.Sources[0].Since.String(), c.Origin("sources[1].since").String()}
	want := []string{"from-env", "BENCHMINT_OUTPUT", file + ":1", "--runs", "default", "2025-06-01", "--since"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.Proof.Runs != 7 || len(c.Filters.Languages) != 2 {
		t.Errorf("runs %d, languages %q", c.Proof.Runs, c.Filters.Languages)
	}
}

func TestLoadTakesSourcesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	file := write(t, "sources:\n- git: /a\n- {git: /b, name: x/b, since: 2024-01-01}\n")
	c, err := Load(Input{File: file, Sources: []string{"x/b", "./new"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Source{{Git: "/b", Name: "x/b", Since: Date{time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}}, {Git: "./new"}}
	if diff := cmp.Diff(want, c.Sources); diff != "" {
		t.Error(diff)
	}
	if got := c.Origin("sources[0].since").String(); got != file+":3" {
		t.Errorf("origin of the window: %s", got)
	}
}

func TestLoadRefusesUnknownVariables(t *testing.T) {
	t.Parallel()
	_, err := Load(Input{Environ: []string{"BENCHMINT_SANDBOX_MEMROY=1GiB"}})
	if want := "BENCHMINT_SANDBOX_MEMROY: unknown variable; did you mean BENCHMINT_SANDBOX_MEMORY?"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestLoadMissingAndBrokenFiles(t *testing.T) {
	t.Parallel()
	if _, err := Load(Input{File: filepath.Join(t.TempDir(), "none.yaml")}); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("missing file: %v", err)
	}
	file := write(t, "a: [1\nb: }\n")
	if _, err := Load(Input{File: file}); err == nil || !strings.HasPrefix(err.Error(), file+":") {
		t.Errorf("broken file: %v", err)
	}
	if _, err := Load(Input{File: write(t, "# nothing\n")}); err != nil {
		t.Errorf("empty file: %v", err)
	}
	if _, err := Load(Input{File: write(t, "- a\n")}); err == nil {
		t.Error("a list was taken for a configuration")
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = u.Unwrap()
	}
}

func TestExampleHasEveryKeyAndParses(t *testing.T) {
	t.Parallel()
	c, err := Load(Input{File: write(t, Example())})
	if err != nil {
		t.Fatalf("%v\n%s", err, Example())
	}
	if diff := cmp.Diff(Default(), c, cmpopts.IgnoreUnexported(Config{}), cmpopts.IgnoreFields(Config{}, "File", "Store", "Output", "Releases", "Hidden.Folder"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the example is not the default (-default +example):\n%s", diff)
	}
	if c, err = Load(Input{File: write(t, sampled(Example()))}); err != nil {
		t.Fatalf("%v\n%s", err, Example())
	}
	source := 0
	for _, k := range Keys {
		if k.Alone {
			source++
		}
		path := strings.Replace(k.Path, "[]", fmt.Sprintf("[%d]", source), 1)
		if c.Origin(path).Layer != FromFile {
			t.Errorf("the example lacks %s", k.Path)
		}
	}
}

// sampled is the example with its samples.
func sampled(example string) string {
	return regexp.MustCompile(`(?m)^# (sources:|  - |    )`).ReplaceAllString(example, "$1")
}

func TestShowParsesToTheSame(t *testing.T) {
	t.Parallel()
	c, err := Load(Input{File: write(t, whole)})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Load(Input{File: write(t, c.Show())})
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Show())
	}
	again.File, c.File = "", ""
	again.Store, c.Store = "", "" // relative to each file's own folder
	again.Sources[0].Git, c.Sources[0].Git = "", ""
	again.Reviews[0], c.Reviews[0] = "", ""
	if diff := cmp.Diff(c, again, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("%s\n%s", diff, c.Show())
	}
}

func TestSchemaNamesEveryKey(t *testing.T) {
	t.Parallel()
	b, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root struct {
		Properties map[string]struct {
			Properties map[string]any
			Items      struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys {
		section, name := k.split()
		where := root.Properties[section]
		_, ok := where.Properties[name]
		if section == "" {
			_, ok = root.Properties[name]
		} else if k.source != nil {
			_, ok = where.Items.Properties[name]
		}
		if !ok {
			t.Errorf("the schema lacks %s", k.Path)
		}
	}
}

// The example has every key, so it is a document for each of the schema's rules.
func TestSchemaAllowsTheExample(t *testing.T) {
	t.Parallel()
	b, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	// An empty word is "not set", and in no closed set.
	example := strings.Replace(sampled(Example()), `kind: ""`, "kind: bwrap", 1)
	example = strings.Replace(example, `preset: ""`, "preset: commit0", 1)
	for _, tc := range []struct{ old, new, wrong string }{
		{"", "", ""},
		{"memory: ", "memroy: ", `additional properties ["memroy"]`},
		{"  - git: ", "  - title: ", "/properties/sources"},
		{"timeout: 30m", "timeout: soon", "does not match"},
		{"kind: bwrap", "kind: jail", "does not equal any"},
		{"prices: {}", "prices: {small: {input: 1, cached_input: 0.1, output: 2, tiers: [{above: 9, hours: [\"01:00-04:00\"], input: 1, output: 2}]}}", ""},
		{"prices: {}", "prices: {small: {input: 1, outptu: 2}}", "/properties/model"},
		{"by: {}", "by: {language: {go: 0.5, java: 0.5}, kind: even}", ""},
		{"by: {}", "by: {language: {go: much}}", "/properties/balance"},
		{"reviews: []", "reviews: ana.csv", ""},
		{"prices: {}", "prices: {small: {input: 1, output: 2, tiers: [{above: 0, input: 1, output: 2}]}}", "/properties/model"},
	} {
		text := strings.Replace(example, tc.old, tc.new, 1)
		if tc.old != "" && text == example {
			t.Errorf("the example has no %q", tc.old)
		}
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if b, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
			t.Errorf("%q for %q: %v, want %q", tc.new, tc.old, err, tc.wrong)
		}
	}
}

func TestValuesRoundTrip(t *testing.T) {
	t.Parallel()
	size := func(s string) string {
		v, err := ParseSize(s)
		if err != nil {
			return err.Error()
		}
		return v.String()
	}
	for in, want := range map[string]string{"4GiB": "4GiB", "1.5GiB": "1536MiB", "512 MiB": "512MiB", "1GB": "1000000000B", "0B": "0B"} {
		if got := size(in); got != want {
			t.Errorf("size %q = %q, want %q", in, got, want)
		}
	}
	for d, want := range map[time.Duration]string{30 * time.Minute: "30m", time.Hour: "1h", 90 * time.Second: "1m30s", 10 * time.Second: "10s"} {
		if got := formatDuration(d); got != want {
			t.Errorf("duration %v = %q, want %q", d, got, want)
		}
	}
}

func TestPortableNamesNoPath(t *testing.T) {
	t.Parallel()
	c, err := Load(Input{File: write(t, whole)})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"dataset": "my-features", "kinds": []string{"feature"}, "limits.changes": 6, "limits.releases": 4, "limits.edit_share": 0.4,
		"filters.min_releases": 2, "filters.licences": []string{"MIT"}, "filters.languages": []string{"go"}, "filters.max_source_lines": 50,
		"filters.modifies_only": false, "filters.labels": []string{"fix"}, "filters.thin": true, "filters.unnoticed": true, "filters.min_noticed": 0.7, "redaction.allow": []string{"tests/certs/"}, "proof.hunks": 7,
		"build.registries": "public", "build.pin_to_date": false,
		"sandbox.kind": "bwrap", "sandbox.image": "debian:12", "sandbox.cpus": 1.5, "sandbox.memory": "512MiB", "sandbox.processes": 64,
		"model.name": "small", "model.fallback": []string{"large", "night"}, "model.max_tokens": 900, "model.tries": 3, "model.useless": "rules",
		"sandbox.disk": "1000000000B", "sandbox.output": "1MiB", "sandbox.timeout": "1h30m",
		"statement.interface": false, "suite.write": true, "suite.tries": 4, "proof.runs": 5, "decontamination.aliases": []string{"acme/widgets=acme/widget"},
		"sources": []map[string]any{
			{"name": "acme/widget", "since": "2025-01-01", "until": "2026-01-01", "only": []string{"123", "0012345", "1234567e8"}},
			{"git": "https://example.org/a/b.git"},
			{"git": "https://github.com/acme/kit.git", "github": "acme/kit", "name": "acme/kit"},
			{"search": map[string]any{
				"language": "python", "stars": ">=5000", "pushed": ">=2026-01-01", "created": "2015-01-01..2020-01-01", "topics": []string{"web"},
				"topics_not": []string{"tutorial"}, "archived": true, "forks": true, "ranks": "100..200",
			}},
			{}, // a list lies on this machine
			{"preset": "featbench", "since": "2025-01-01", "kinds": []string{"edit"}},
			{"pypi": []string{"requests", "click"}, "most": 1},
			{}, // a file of projects, too
		},
		"filters.min_release_text": 30, "filters.released_since": "2025-01-01", "filters.min_stars": 100, "filters.max_size": "1GiB",
		"balance.tasks": 40, "balance.seed": 7, "balance.by": map[string]any{"language": map[string]float64{"python": 0.5, "go": 0.5}, "category": "even"},
		"filters.pushed_since": "2025-01-01", "filters.archived": false, "filters.topics_not": []string{"awesome"}, "filters.tests": true,
	}
	if diff := cmp.Diff(want, c.Portable("bwrap")); diff != "" {
		t.Error(diff)
	}
}

// Manifests of datasets without slices keep their bytes.
func TestPortableNamesSlices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		yaml string
		want any
	}{{"[library]", nil}, {"[library]\nlibrary: {slices: [whole], max_slices: 3}", nil}, {"[library]\nlibrary: {slices: [whole, modules]}", []string{"whole", "modules"}}} {
		got, err := Load(Input{File: write(t, "sources: [{git: x}]\nkinds: "+c.yaml+"\n")})
		if err != nil {
			t.Fatal(err)
		}
		portable := got.Portable("bwrap")
		_, bound := portable["library.max_slices"]
		if diff := cmp.Diff(c.want, portable["library.slices"]); diff != "" || bound != (c.want != nil) {
			t.Errorf("%s: library.max_slices %t, library.slices (-want +got):\n%s", c.yaml, bound, diff)
		}
	}
}

func TestIsURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"https://h/a": true, "git@h:a/b": true, "./a": false, "/a:b": false, "a/b": false, "file:///x": true} {
		if IsURL(in) != want {
			t.Errorf("IsURL(%q) = %v", in, !want)
		}
	}
}

// TestPreset: library.preset sets what nobody gave, and nothing else.
func TestPreset(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "benchmint.yaml")
	if err := os.WriteFile(file, []byte("sources: [{git: /tmp/a, name: a/b}]\nlibrary: {preset: commit0, min_coverage: 0.5}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Input{File: file, Flags: []Setting{{Key: "library.reference", Value: "false", Flag: "--set"}}})
	if err != nil {
		t.Fatal(err)
	}
	if l := c.Library; l.MinLanguage != 0.95 || !l.Native || l.MinPassing != 0.98 || l.MinCoverage != 0.5 || l.Specification != "docs" || l.MinGuideWords != guideWords || l.Reference {
		t.Errorf("%+v", l)
	}
	_, err = Load(Input{File: file, Flags: []Setting{{Key: "library.preset", Value: "comit0", Flag: "--set"}}})
	if err == nil || !strings.Contains(err.Error(), `"comit0" is not one of commit0; did you mean commit0?`) {
		t.Error(err)
	}
}
