package changelog

import (
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/plainyaml"
)

var (
	stems = lazyregexp.New(`^(?:change[-_ ]?logs?|changes|history|news|releases?[-_ ]?notes?|releases|whats[-_ ]?new|version[-_ ]?history|release[-_ ]?history|versions)(?:[-_.]?v?\d[\w.]*|[-_.](?:old|archive|pre\w*))?$`)
	texts = strings.Fields(`.md .markdown .mdx .rst .rest .txt .adoc .asciidoc .textile`)

	fragmentDirs = strings.Fields(`changelog.d changes changelog changelogs news newsfragments newsfragment .changes .changeset .changelog changelog_unreleased
		upcoming_changes changelog_entries changelog-entries changelog-fragments news.d changes.d release-notes.d towncrier fragments unreleased notes`)
	// "notes" and the like are common names, and count only below a folder of release notes.
	needsParent = strings.Fields(`fragments unreleased notes towncrier`)
	parents     = strings.Fields(`releasenotes release-notes release_notes changelog changelogs changes .changes .changelog news docs doc changelog.d`)
	versionDirs = strings.Fields(`changelog changelogs changes releases release_notes release-notes releasenotes whatsnew whats_new whats-new history news notes .changes`)
	notFragment = lazyregexp.New(`(?i)^(?:readme|\w*template|index|\.git|contributing|conf|config|header|footer|changelog|changes|news|history|about|example)`)
	outside     = strings.Fields(`node_modules vendor third_party third-party testdata tests test __tests__ fixtures site-packages locale locales`)
	// releaseFile is a file at the root with the notes of the next release (autopub).
	releaseFile = strings.Fields(`release.md release.rst`)
	// kinds are the words that tools put into the name of a fragment.
	kinds = strings.Fields(`feature features feat bugfix bug bugfixes fix fixes fixed doc docs documentation removal removed remove misc trivial breaking break
		deprecation deprecations deprecated deprecate improvement improvements enhancement enhancements change changes changed added add new security
		vendor packaging contrib process internal performance perf refactor typing typo api backward backwards-incompatible significant refs fixups
		newfeature other dependency dependencies build ci test tests chore addition compatibility new_feature expired c_api highlight style major minor patch`)
)

// IsLog reports whether a path is that of a changelog: by its name, or by its folder if the
// file is named for a version.
func IsLog(name string) bool {
	dirs, file := dirsOf(name)
	for _, d := range dirs {
		if slices.Contains(outside, d) {
			return false
		}
	}
	file = strings.ToLower(file)
	ext := path.Ext(file)
	if !slices.Contains(texts, ext) && ext != "" && versionWord.FindString(file) != file {
		return false
	}
	stem := file
	if slices.Contains(texts, ext) {
		stem = strings.TrimSuffix(file, ext)
	}
	if stems.MatchString(stem) {
		// changelog/changes.md can be both; a folder of fragments has no other changelog.
		return true
	}
	return slices.Contains(texts, ext) && versionOfPath(name) != ""
}

// inManual reports whether a path lies in the documentation.
func inManual(name string) bool {
	dirs, _ := dirsOf(name)
	return len(dirs) > 0 && (dirs[0] == "docs" || dirs[0] == "doc" || dirs[0] == "documentation")
}

// IsFragment reports whether a path is that of a fragment: one change's note for the next
// release.
func IsFragment(name string) bool {
	dirs, file := dirsOf(name)
	if len(dirs) == 0 && slices.Contains(releaseFile, strings.ToLower(file)) {
		return true
	}
	if len(dirs) == 0 || notFragment.MatchString(file) || versionOfPath(name) != "" {
		return false
	}
	for _, d := range dirs {
		if slices.Contains(outside, d) {
			return false
		}
	}
	at := -1
	for i, d := range dirs {
		if slices.Contains(fragmentDirs, d) && (!slices.Contains(needsParent, d) || i > 0 && slices.Contains(parents, dirs[i-1])) {
			at = i
		}
	}
	const deepest = 2 // a folder for the package or the kind
	if at < 0 || len(dirs)-1-at > deepest {
		return false
	}
	ext := strings.ToLower(path.Ext(file))
	if isYAML(file) {
		return true
	}
	kind, number := fragmentName(name)
	if slices.Contains(texts, ext) || ext == "" {
		// In a folder with a common name, the name of the file has to be that of a fragment.
		return kind != "" || number != 0 || !slices.Contains(commonDirs, dirs[at])
	}
	return slices.Contains(kinds, strings.TrimPrefix(ext, ".")) // 123.bugfix
}

var commonDirs = strings.Fields(`changes changelog changelogs news notes docs`)

// bodyKeys are the keys of the text of a YAML fragment.
var bodyKeys = strings.Fields("body title note summary description message prelude")

func dirsOf(name string) (dirs []string, file string) {
	parts := strings.Split(name, "/")
	for _, d := range parts[:len(parts)-1] {
		dirs = append(dirs, strings.ToLower(d))
	}
	return dirs, parts[len(parts)-1]
}

func isYAML(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

var (
	fragmentNumber = lazyregexp.New(`^(?:pr|gh|issue|bpo)?[-_#]?([1-9]\d{0,6})(?:$|[-_.])`)
	trailingNumber = lazyregexp.New(`[-_](?:pr|gh)?([1-9]\d{0,6})$`)
)

// fragmentName reads kind and number from the name of a fragment (123.bugfix.rst,
// +orphan.feature.md, 705.bugfix.2.rst, Added-20240101.yaml), or the kind from its folder.
func fragmentName(name string) (kind string, number int) {
	dirs, file := dirsOf(name)
	words := strings.Split(file, ".")
	if m := fragmentNumber.FindStringSubmatch(strings.ToLower(file)); m != nil {
		number = atoi(m[1])
	} else if m := trailingNumber.FindStringSubmatch(strings.ToLower(words[0])); m != nil {
		number = atoi(m[1])
	}
	for _, w := range words[1:] {
		if w = strings.ToLower(w); slices.Contains(kinds, w) {
			return w, number
		}
	}
	if len(words) > 2 && !strings.ContainsAny(words[1], "0123456789+") && words[1] != "" {
		return strings.ToLower(words[1]), number // a kind that only this project uses
	}
	if len(dirs) > 0 && slices.Contains(kinds, dirs[len(dirs)-1]) && !slices.Contains(fragmentDirs, dirs[len(dirs)-1]) {
		return dirs[len(dirs)-1], number
	}
	if first, _, ok := strings.Cut(words[0], "-"); ok && slices.Contains(kinds, strings.ToLower(first)) {
		return first, number
	}
	return "", number
}

// frontMatter cuts off the head of a fragment for changesets or autopub. It returns the
// highest bump that the head asks for, the text, and the number of lines it cut.
func frontMatter(text string) (kind, body string, lines int) {
	if m := releaseType.FindStringSubmatch(text); m != nil {
		return strings.ToLower(m[1]), text[len(m[0]):], strings.Count(m[0], "\n")
	}
	if !strings.HasPrefix(text, "---\n") {
		return "", text, 0
	}
	head, body, ok := strings.Cut(text[len("---\n"):], "\n---")
	if !ok {
		return "", text, 0
	}
	for _, bump := range []string{"major", "minor", "patch"} {
		if kind == "" && strings.Contains(head, bump) {
			kind = bump
		}
	}
	return kind, strings.TrimPrefix(body, "\n"), strings.Count(text[:len(text)-len(body)], "\n") + 1
}

var releaseType = lazyregexp.New(`(?i)^release type: *(\w+)\s*\n`)

// maxYAML is far above the fragment of one change. The parser's time grows with the
// square of keys, documents and depth.
const maxYAML = 32 << 10

// yamlFragment reads the fragments of changie, reno and similar tools: a kind and a body,
// or lists by kind. One that is made to cost a parser more than its size says nothing.
func (r Reader) yamlFragment(text, kind string) []Entry {
	if len(text) > maxYAML {
		return nil
	}
	if tokens := lexer.Tokenize(text); plainyaml.Deep(tokens) || plainyaml.Aliased(tokens) {
		return nil
	}
	var doc yaml.MapSlice
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil // a fragment that its own tool cannot read
	}
	var out []Entry
	add := func(heading, body string) {
		if body = strings.TrimSpace(body); body != "" {
			line := strings.Count(text[:max(strings.Index(text, strings.SplitN(body, "\n", 2)[0]), 0)], "\n") + 1
			joined := joinPieces([]piece{{lines: strings.Split(body, "\n")}})
			e := Entry{Heading: heading, Text: joined, Line: line}
			e.point(r.read(joined, nil))
			out = append(out, e)
		}
	}
	for _, item := range doc {
		if s, ok := item.Value.(string); ok && (item.Key == "kind" || item.Key == "type") {
			kind = s
		}
	}
	for _, item := range doc {
		key, _ := item.Key.(string)
		heading, bodies := fragmentField(key, item.Value, kind)
		for _, body := range bodies {
			add(heading, body)
		}
	}
	return out
}

// fragmentField are the texts of one field of a fragment, and their heading.
func fragmentField(key string, value any, kind string) (heading string, bodies []string) {
	isKind := slices.Contains(kinds, key)
	switch value := value.(type) {
	case string:
		switch {
		case slices.Contains(bodyKeys, key):
			return kind, []string{value}
		case isKind:
			return key, []string{value}
		}
	case []any:
		for _, v := range value {
			if s, ok := v.(string); ok && (isKind || key == "upgrade" || key == "issues") {
				bodies = append(bodies, s)
			}
		}
	}
	return key, bodies
}
