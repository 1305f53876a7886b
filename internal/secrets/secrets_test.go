package secrets

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("aB3", 40)
	for _, tc := range []struct{ text, want string }{
		{"no secret: ghp_short, sk-test, AKIA, pypi-token, xoxb-1", "no secret: ghp_short, sk-test, AKIA, pypi-token, xoxb-1"},
		{"it is ghp_" + a[:36] + ".", "it is <secret>."},
		{"gho_" + a[:40] + " and ghs_" + a[:36], "<secret> and <secret>"},
		{"github_pat_" + a[:82], "<secret>"},
		{"key=sk-proj-" + a[:60] + "&x", "key=<secret>&x"},
		{"AKIA" + strings.Repeat("Q", 16), "<secret>"},
		{"xoxb" + "-123456789012-" + a[:24], "<secret>"},
		{"pypi-" + a[:100], "<secret>"},
		{"the password hunter2 is known", "the password <secret> is known"},
	} {
		if got := Scrub(tc.text, "hunter2", ""); got != tc.want {
			t.Errorf("%q: %q", tc.text, got)
		}
	}
}

func BenchmarkScrub(b *testing.B) {
	text := strings.Repeat("the ghost asks for a token of high quality. ", 500)
	for b.Loop() {
		Scrub(text)
	}
}

// TestRules: the data are read, every expression compiles, and they are those that
// RulesVersion names.
func TestRules(t *testing.T) {
	t.Parallel()
	set, err := load(gitleaks)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(set.rules); n != 223 {
		t.Errorf("%d rules: name their version in RulesVersion", n)
	}
	specific := 0
	for _, r := range set.rules {
		r.regex()
		for _, a := range append(r.allowed, set.global) {
			for _, e := range slices.Concat(a.paths, a.regexes) {
				e()
			}
		}
		if r.kind == Specific {
			specific++
		}
	}
	if specific < 80 || specific > 160 {
		t.Errorf("%d specific rules of %d", specific, len(set.rules))
	}
}

// planted are 17 kinds of credentials, made here so that no file holds one.
func planted(n int) map[string]string {
	r := rand.New(rand.NewPCG(25, uint64(n)))
	random := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	const digits, upper = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hex, letters, base32 := "0123456789abcdef", upper+strings.ToLower(upper)+digits, upper+"234567"
	return map[string]string{
		"github":        "ghp_" + random(letters, 36),
		"github fine":   "github_pat_" + random(letters, 82),
		"gitlab":        "glpat-" + random(letters, 20),
		"aws":           "AKIA" + random(base32, 16),
		"aws secret":    "aws_secret_access_key = \"" + random(letters, 40) + "\"",
		"slack":         "xoxb-" + random(digits, 12) + "-" + random(digits, 12) + "-" + random(letters, 24),
		"slack hook":    "https://hooks.slack.com/services/T" + random(letters, 8) + "/B" + random(letters, 8) + "/" + random(letters, 28),
		"stripe":        "sk_live_" + random(letters, 24),
		"google":        "AIza" + random(letters, 35),
		"npm":           "npm_" + strings.ToLower(random(letters, 36)),
		"pypi":          "pypi-AgEIcHlwaS5vcmc" + random(letters, 80),
		"openai":        "sk-proj-" + random(letters, 60),
		"sendgrid":      "SG." + random(letters, 22) + "." + random(letters, 43),
		"hugging face":  "hf_" + random(strings.ToLower(upper), 34),
		"private key":   "-----BEGIN RSA " + "PRIVATE KEY-----\n" + random(letters, 64) + "\n" + random(letters, 64) + "\n-----END RSA PRIVATE KEY-----",
		"jwt":           "eyJhbGciOiJIUzI1NiJ9." + "eyJ" + random(letters, 40) + "." + random(letters, 43),
		"url":           "postgres://admin:" + random(letters, 16) + "@db.internal.net/app",
		"generic (hex)": "api_key = '" + random(hex, 40) + "'",
	}
}

// TestPlanted: each kind is found in code, in a patch and in prose, where it is masked.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for n := range 3 {
		for kind, secret := range planted(n) {
			if len(Scan("src/a.py", "import os\nx = 1\nvalue = f("+secret+")\n")) == 0 && len(Scan("src/a.py", "value = \""+secret+"\"\n")) == 0 {
				t.Errorf("%s is not found in code", kind)
			}
			patch := "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+\"" + strings.ReplaceAll(secret, "\n", "\n+") + "\"\n"
			found := ScanPatch([]byte("diff --git a/b b/b\n--- a/b\n" + patch))
			if len(found) != 1 || found[0].Path != "src/a.py" || found[0].Line < 7 {
				t.Errorf("%s in a patch: %+v", kind, found)
			}
			if !strings.ContainsAny(secret, "\n\"'") {
				for _, form := range []string{"By %s.", "https://example.org/%s?a=b", "(%s)", "is it %s?"} {
					if text := strings.Replace(form, "%s", secret, 1); kind != "url" && Scrub(text) == text {
						t.Errorf("%s is not found in %q", kind, form)
					}
				}
			}
			said := Tell("patch", found)
			text := Scrub("It says `" + secret + "` here.")
			for _, word := range strings.FieldsFunc(secret, func(r rune) bool { return strings.ContainsRune(" \"'=:@/\n", r) }) {
				if len(word) >= 16 && !strings.HasPrefix(word, "aws_") && (strings.Contains(text, word) || strings.Contains(said, word)) {
					t.Errorf("%s: %q %q", kind, text, said)
				}
			}
		}
	}
}

func TestFakesAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"AKIA" + "IOSFODNN7EXAMPLE", "token = \"ghp_" + strings.Repeat("x", 36) + "\"", "https://user:password@example.org/x",
		"https://user:${PASSWORD}@example.org", "DATABASE_URL=postgresql://hello_fastapi:hello_fastapi@db/hello_fastapi_dev", "password = \"correct-horse\"", "cache_key = make_key(request.user)",
	} {
		if found := Scan("src/a.py", text+"\n"); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	f := Finding{Rule: "jwt", Path: "tests/certs/a.pem", Fingerprint: "jwt:01234567"}
	for entry, want := range map[string]bool{
		"jwt:01234567": true, "jwt:01234568": false, "tests/certs/": true, "tests/certs/a.pem": true, "tests/cert": false, "tests": false,
	} {
		if got := (Allow{entry}).Has(f); got != want {
			t.Errorf("%s: %v", entry, got)
		}
	}
	for entry, want := range map[string]string{
		"jwtt:01234567": `did you mean jwt?`, "jwt:0123": "8 hex digits", "tests/*": "without patterns", "": "is not", "/etc/x": "relative",
	} {
		errs := (Allow{entry}).Validate()
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%s: %v", entry, errs)
		}
	}
	if errs := (Allow{"jwt:01234567", "tests/", "a.py"}).Validate(); errs != nil {
		t.Error(errs)
	}
}

func BenchmarkScanCode(b *testing.B) {
	text := strings.Repeat("func key(token string) error { return api.Get(\"/secret\", token) } // passes the access token\n", 5000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Scan("a.go", text)
	}
}

// A line without end costs each match of it no more than its surroundings.
func TestLineAround(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct {
		before, match, after string
		want                 int
	}{
		"one_line":    {"a = ", "b", " # c", 9},
		"among_lines": {"x\na = ", "b", " # c\ny", 9},
		"ends_below":  {"a\n", "b\nc", "d\ne", 1},
		"endless":     {long, "b", long, 2*longest + 1},
		"begins_far":  {"y\n" + long, "b", "\n" + long, longest + 1},
	} {
		text := c.before + c.match + c.after
		if got := lineAround(text, len(c.before), len(c.before)+len(c.match)); len(got) != c.want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), c.want)
		}
	}
}
