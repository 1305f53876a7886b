// Package plugins is the one list of the plugins that are built into the program: the
// languages of which environments are made, and the maskers of those and of others.
// What can be said of a language without its plugin is in package languages.
//
// It never decides anything by a language's name.
package plugins

import (
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/csharp"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/java"
	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/lang/php"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/lang/ruby"
	"github.com/benchmint/benchmint/internal/lang/rust"
	"github.com/benchmint/benchmint/internal/lang/typescript"
	"github.com/benchmint/benchmint/internal/mask"
)

// Languages are the plugins by the name that records and configuration use.
func Languages() map[string]lang.Language {
	out := map[string]lang.Language{}
	for _, l := range []lang.Language{python.Language{}, golang.Language{}} {
		out[l.Name()] = l
	}
	return out
}

// Distribution is the project of PyPI that a Python module most likely comes from.
func Distribution(module string) string { return python.Distribution(module) }

// Runners are those of test suites, by the report format that recipes name.
func Runners() map[string]lang.Runner {
	return map[string]lang.Runner{
		python.ReportFormat: python.Language{}, golang.ReportFormat: golang.Language{}, httpsuite.ReportFormat: httpsuite.Runner{},
	}
}

// Maskers are the languages of which code can be masked. The first that knows a path has
// it.
func Maskers() []mask.Language {
	return []mask.Language{
		python.Masker{}, golang.Masker{}, javascript.Masker{}, typescript.Masker{}, java.Masker{}, rust.Masker{},
		csharp.Masker{}, ruby.Masker{}, php.Masker{},
	}
}
