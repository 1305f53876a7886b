package schemas_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

func TestFeatureID(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, tc := range []struct {
		name, repo string
		number     int
		want       string
	}{
		{"numbered", "acme/widget", 12, "acme__widget-12"},
		{"by_commit", "acme/widget", 0, "acme__widget-c0123456789ab"},
		{"no_owner", "widget", 3, "local__widget-3"},
		{"dots_and_dashes", "a-b/c.d_e", 1, "a-b__c.d_e-1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := schemas.FeatureID(tc.repo, tc.number, commit).String(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestRepoSlugKeepsNamesApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{
		"a/b", "a/b_c", "a/b c", "a/b+c", "a/b/c", "a/b__c", "a__b/c", "ä/b", "local/b", "b",
		"o/" + strings.Repeat("n", 150), "o/" + strings.Repeat("n", 151),
	} {
		slug := schemas.RepoSlug(name)
		if old, ok := seen[slug]; ok && !(old == "local/b" || name == "local/b" || name == "b") {
			t.Errorf("%q and %q share %s", old, name, slug)
		}
		seen[slug] = name
	}
}

func FuzzInstanceID(f *testing.F) {
	f.Add("acme/widget", 12, "0123456789abcdef0123456789abcdef01234567")
	f.Add("a b/ü", 0, "ffffffffffffffffffffffffffffffffffffffff")
	f.Add("no-owner", 0, "00000000000000000000000000000000000000ff")
	shape := regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	hex := regexp.MustCompile(`^[0-9a-f]{40}$`)
	f.Fuzz(func(t *testing.T, repo string, number int, commit string) {
		if !hex.MatchString(commit) || number < 0 {
			t.Skip()
		}
		id := schemas.FeatureID(repo, number, commit)
		if s := id.String(); !shape.MatchString(s) {
			t.Fatalf("%q is outside the alphabet or too long", s)
		}
		back, err := schemas.ParseInstanceID(id.String())
		if err != nil || back != id {
			t.Fatalf("%+v came back as %+v, %v", id, back, err)
		}
	})
}

func TestParseInstanceIDRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "acme-1", "acme__widget", "acme__widget-", "acme__widget-01", "acme__widget-cXYZ", "a/b__c-1", strings.Repeat("a", 60) + "__" + strings.Repeat("b", 60) + "-1"} {
		if id, err := schemas.ParseInstanceID(s); err == nil {
			t.Errorf("%q was read as %+v", s, id)
		}
	}
}

func TestReasonsTableIsWhole(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^(crawl|link|classify|provision|validate|describe|export|engine)/[a-z0-9_]+$`)
	seen := map[schemas.Reason]bool{}
	for _, r := range schemas.Reasons {
		if !shape.MatchString(string(r.Reason)) || r.Meaning == "" || r.Do == "" || seen[r.Reason] {
			t.Errorf("row %+v", r)
		}
		seen[r.Reason] = true
	}
}
