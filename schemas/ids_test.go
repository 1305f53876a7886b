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
		"o/" + strings.Repeat("n", 150), "o/" + strings.Repeat("n", 151), strings.Repeat("o", 150) + "/n", strings.Repeat("o", 151) + "/n", "/b", "a/",
	} {
		slug := schemas.RepoSlug(name)
		if old, ok := seen[slug]; ok && !(old == "local/b" || name == "local/b" || name == "b") {
			t.Errorf("%q and %q share %s", old, name, slug)
		}
		seen[slug] = name
	}
}

func TestIDsOfKinds(t *testing.T) {
	t.Parallel()
	const commit, base = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
	for _, tc := range []struct {
		name string
		id   schemas.InstanceID
		want string
	}{
		{"edit", schemas.EditID("acme/widget", commit, ""), "acme__widget-e0123456789ab"},
		{"edit_of_a_range", schemas.EditID("acme/widget", commit, base), "acme__widget-e0123456789ab.bfedcba98"},
		{"library", schemas.LibraryID("acme/widget", "v1.2.0", "", ""), "acme__widget-v1.2.0.library"},
		{"profile", schemas.LibraryID("acme/widget", "v1.2.0", "commit0-all", ""), "acme__widget-v1.2.0.library.commit0_all"},
		{"slice", schemas.LibraryID("acme/widget", "v1.2.0", "", "core"), "acme__widget-v1.2.0.library.strict.core"},
		{"slice_with_a_slash", schemas.LibraryID("acme/widget", "v1.2.0", "", "src/core"), "acme__widget-v1.2.0.library.strict.src_core_2ac6"},
		{"tag_with_a_dash", schemas.LibraryID("acme/widget", "v1.0-rc1", "", ""), "acme__widget-v1.0_rc1_db43.library"},
		{"tag_of_a_package", schemas.LibraryID("acme/widget", "core/v1.0+b", "", ""), "acme__widget-core_v1.0_b_8107.library"},
		{"long_tag", schemas.LibraryID("acme/widget", "release-of-the-whole-suite-2026.11", "", ""), "acme__widget-release_of_the__5db5a017.library"},
		{"service", schemas.ServiceID("acme/widget", "1.0", "users", ""), "acme__widget-1.0.users.service"},
		{"service_with_environment", schemas.ServiceID("acme/widget", "1.0", "users", "env"), "acme__widget-1.0.users.service.env"},
	} {
		if got := tc.id.String(); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

// Equal parts of other things never make one ID.
func TestIDsKeepTasksApart(t *testing.T) {
	t.Parallel()
	words := []string{"v1", "v1.a", "V1.0", "v1.library", "v1.users.service", "library", "service", "env", "strict", "commit0_all", "a.b", "a_b", "a-b", "a/b", "b", "", "e0123456789ab", "12"}
	seen := map[string]string{}
	add := func(id schemas.InstanceID, of ...string) {
		what := strings.Join(of, "|")
		if other, ok := seen[id.String()]; ok {
			t.Errorf("%s and %s are both %s", other, what, id)
		}
		seen[id.String()] = what
	}
	for _, tag := range words {
		add(schemas.LibraryID("a/b", tag, "", ""), "library", tag)
		add(schemas.LibraryID("a/b", tag, "commit0-all", ""), "library", tag, "commit0-all")
		for _, part := range words {
			if part != "" {
				add(schemas.LibraryID("a/b", tag, "", part), "slice", tag, part)
				add(schemas.LibraryID("a/b", tag, "commit0-all", part), "slice", tag, "commit0-all", part)
			}
			add(schemas.ServiceID("a/b", tag, part, ""), "service", tag, part)
			add(schemas.ServiceID("a/b", tag, part, "env"), "service", tag, part, "env")
		}
	}
}

func FuzzInstanceID(f *testing.F) {
	const commit, base = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
	long := strings.Repeat("long-", 40)
	f.Add("acme/widget", 12, commit, "v1.0", "users")
	f.Add("a b/ü", 0, base, "v1.0-rc1", "src/core")
	f.Add("no-owner", 0, "00000000000000000000000000000000000000ff", "core/v1+x", "é")
	f.Add(long+"/x", 1<<60, commit, long, long)
	f.Add("x/"+long, 0, commit, "1.0.library", "service")
	f.Add("/x", 0, commit, "", "")
	f.Add("x/", 1, commit, ".", ".")
	shape := regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	hex := regexp.MustCompile(`^[0-9a-f]{40}$`)
	f.Fuzz(func(t *testing.T, repo string, number int, commit, tag, part string) {
		if !hex.MatchString(commit) || number < 0 {
			t.Skip()
		}
		for _, id := range []schemas.InstanceID{
			schemas.FeatureID(repo, number, commit), schemas.EditID(repo, commit, ""), schemas.EditID(repo, commit, base),
			schemas.LibraryID(repo, tag, "", ""), schemas.LibraryID(repo, tag, "commit0-docstring", part), schemas.LibraryID(repo, tag, "", part),
			schemas.ServiceID(repo, tag, part, ""), schemas.ServiceID(repo, tag, part, "env"),
		} {
			if s := id.String(); !shape.MatchString(s) {
				t.Fatalf("%q is outside the alphabet or too long", s)
			}
			back, err := schemas.ParseInstanceID(id.String())
			if err != nil || back != id {
				t.Fatalf("%+v came back as %+v, %v", id, back, err)
			}
		}
	})
}

func TestParseInstanceIDRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "acme-1", "acme__widget", "acme__widget-", "acme__widget-01", "acme__widget-cXYZ", "acme__widget-e12", "acme__widget-e0123456789ab.b12", "acme__widget-v1", "acme__widget-.library", "acme__widget-v1.service", "acme__widget-v1.users.service.lib", "acme__widget-v1.library.strict.a.b.c.", "a/b__c-1", strings.Repeat("a", 60) + "__" + strings.Repeat("b", 60) + "-1"} {
		if id, err := schemas.ParseInstanceID(s); err == nil {
			t.Errorf("%q was read as %+v", s, id)
		}
	}
}

func TestReasonsTableIsWhole(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^[a-z]+/[a-z0-9_]+$`)
	seen := map[schemas.Reason]bool{}
	for _, r := range schemas.Reasons {
		if !shape.MatchString(string(r.Reason)) || r.Meaning == "" || r.Do == "" || seen[r.Reason] {
			t.Errorf("row %+v", r)
		}
		seen[r.Reason] = true
	}
}
