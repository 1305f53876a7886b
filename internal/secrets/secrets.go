// Package secrets finds credentials in texts and takes them out: those that services of
// this program give have forms of their own.
//
// It never finds what has no form (a password), and never changes a patch: a change that
// holds a credential is not for a dataset.
package secrets

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// forms are those that the services document: GitHub's tokens, OpenAI's and compatible keys,
// AWS access keys, Slack's and PyPI's tokens. Each is long enough to be no word of a test.
var forms = lazyregexp.New(`\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255}|sk-[A-Za-z0-9_-]{40,200}|AKIA[0-9A-Z]{16}|xox[abprs]-[0-9]{8,}-[A-Za-z0-9-]{16,}|pypi-[A-Za-z0-9_-]{80,300})\b`)

// hints are what each form begins with: most texts have none of them.
var hints = []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk-", "AKIA", "xox", "pypi-"}

// placeholder stands for a credential.
const placeholder = "<secret>"

// Find is the first credential of a text; "" where there is none.
func Find(text string) string {
	for _, h := range hints {
		if strings.Contains(text, h) {
			return forms.FindString(text)
		}
	}
	return ""
}

// Scrub is a text without its credentials, and without those that are known.
func Scrub(text string, known ...string) string {
	for _, k := range known {
		if k != "" {
			text = strings.ReplaceAll(text, k, placeholder)
		}
	}
	if Find(text) == "" {
		return text
	}
	return forms.ReplaceAllString(text, placeholder)
}
