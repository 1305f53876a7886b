package describe

import (
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
)

// unseen matches wishes that no test of the project can see: packages and wheels, the versions that a project supports or needs, continuous
// integration, documents, licences. It is read without "I want to".
var unseen = []*lazyregexp.Regexp{
	// Packages.
	lazyregexp.New(`(?i)\b(?:(?:binary|python|pypi|universal2?|abi3|windows|linux|macos|osx|arm64|aarch64|x86_64|riscv64|pypy|platform) wheels?\b|(?:build|publish|upload|ship|release|distribute|provide)\b[^.]{0,30}\bwheels?\b)`),
	lazyregexp.New(`(?i)^[^.]{0,80}\b(?:sdists?|manylinux\w*|musllinux\w*|cibuildwheel|pyproject(?:\.toml)?|setup\.(?:py|cfg)|MANIFEST\.in|trove classifiers?|(?:on|to) PyPI)\b`),
	lazyregexp.New(`(?i)^(?:use|switch|migrate|move|adopt|drop|build|package|publish|fix|update|improve|remove use of|modernize)\b[^.]{0,40}\b(?:packaging|build backend|conda(?:-forge)?|setuptools|flit|hatch(?:ling)?|poetry|twine)\b`),
	// Versions that the project supports or needs.
	lazyregexp.New(`(?i)\b(?:minimum|minimal|lowest|oldest|supported)\b[^.]{0,40}\b(?:version|go|python|cpython)\b`),
	lazyregexp.New(`(?i)^(?:(?:be able to )?(?:drop|remove|add|end|stop|deprecate|use|support|declare|require|test|enable|allow|bump|update|upgrade|raise)\b)[^.]{0,40}\b(?:cpython|pypy|python|go|golang|go\.mod|django|node)\b(?: ?version)?[\s<>=]*(?:to )?(?:v|py)?\d[\w.]*(?:(?:,| and| or|,? \&)* ?v?\d[\w.]*)*(?: support| and (?:later|newer|older|up|below))?\.?$`),
	lazyregexp.New(`(?i)^(?:bump|update|upgrade|pin|unpin|raise) (?:(?:the|all|some|our|go|golang|python|dev|development|build|test|docs|direct|indirect|outdated|required|minimum|package|module|project|library) )*(?:dependenc(?:y|ies)|deps|requirements?|versions?|lock ?files?|go\.(?:mod|sum)|modules)\b(?: (?:number|of|for|to|in)\b.*|:? v?\d.*)?\.?$`),
	lazyregexp.New(`(?i)^(?:bump|upgrade) \S+(?: \S+)? (?:from|to) v?\d`),
	// Continuous integration and tools of the project's authors.
	lazyregexp.New(`(?i)\b(?:travis|appveyor|circle ?ci|github actions?|gitlab ci|azure pipelines?|codecov|coveralls|tox(?:\.ini)?|nox(?:file)?|pre-commit|dependabot|renovate|golangci(?:-lint)?|ruff|flake8|isort|pylint|ci (?:config|jobs?|builds?|workflows?|pipelines?|matrix)|(?:release|test|lint|build) workflows?)\b`),
	lazyregexp.New(`(?i)\b(?:in|on|for|to|the) CI\b|^(?:fix|add|update|improve|enable|make) CI\b`),
	// Documents.
	lazyregexp.New(`(?i)^(?:add|update|fix|improve|correct|clarify|clean up|rework|revise|expand|extend|have|reword|rewrite|polish|tweak)\b[^.]{0,50}\b(?:docs?|documentation|docstrings?|readme\S*|changelog\S*|change ?log|changes\.\w+|news|authors|contributing\S*|typos?|spelling(?: mistakes?| errors?)?|grammar|comments?|badges?|licen[cs]e(?: files?| headers?| text)?|copyright|godoc|release notes?|code of conduct|history\.\w+)\b(?: (?:for|of|in|on|to|about)\b[^.]*)?\.?$`),
	lazyregexp.New(`(?i)^(?:fix|correct) (?:a |an |some |the |several |more |minor |few |typo)*typos?\b`),
	lazyregexp.New(`(?i)^document\b`),
	// Tests.
	lazyregexp.New(`(?i)^(?:add|fix|update|improve|have|remove|increase|extend|run|skip|expand)\b[^.]{0,40}\b(?:tests?|test[- ](?:cases?|suites?|coverage|data|files?)|unit ?tests?|benchmarks?|coverage|fuzz(?:ing)?|doctests?|tests? (?:for|of|on|in)\b[^.]*)\.?$`),
	lazyregexp.New(`(?i)^(?:add|fix|update|improve|have|remove|increase|extend) (?:an? |the |some |more |missing |new |unit |failing |regression )*(?:tests?|test[- ]cases?|unit ?tests?|benchmarks?) (?:for|of|on|in|to|that|with)\b`),
}

var wanting = lazyregexp.New(`^I (?:also )?want to `)

// untestable reports whether a sentence asks for what no test can see.
func untestable(sentence string) bool {
	wish := wanting.ReplaceAllString(sentence, "")
	if prose.Release(wish) {
		return true
	}
	for _, m := range unseen {
		if m.MatchString(wish) {
			return true
		}
	}
	return false
}
