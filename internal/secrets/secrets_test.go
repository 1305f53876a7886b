package secrets

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/tree"
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

// TestURLs: a password is one where somebody can reach its host, and where it does not say of
// itself that it is none.
func TestURLs(t *testing.T) {
	t.Parallel()
	password := planted(0)["url"][len("postgres://admin:"):][:16]
	for _, host := range []string{
		"192.168.0.8", "10.1.2.3:5432", "172.16.0.1", "172.31.255.255", "127.0.0.1:5432", "0.0.0.0", "169.254.1.1", "100.64.0.1", "192.0.2.7", "198.51.100.7", "203.0.113.7", "198.18.0.1",
		"[::1]:5432", "[::]", "[fe80::1%25eth0]", "[fe80::1]", "[fd12:3456::1]", "[fc00::1]", "[2001:db8::1]", "[::ffff:10.0.0.1]",
		"localhost", "LOCALHOST:5432", "localhost.", "db", "postgres:5432", "my_db", "app.localhost", "localhost.localdomain",
		"db.test", "a.b.invalid", "printer.local", "db.default.svc.cluster.local", "host.docker.internal", "nas.lan", "nas.home.arpa", "ldap.corp", "db.svc",
		"example.com", "www.example.com.", "example.org", "db.example.net", "example.io", "api.example.co.uk", "db.example",
	} {
		for _, form := range []string{"%s", "see <%s>", "URL = '%s/app'", "`%s?ssl=1`", "%s."} {
			if text := strings.Replace(form, "%s", "postgresql://admin:"+password+"@"+host, 1); len(ScanSpecific(text)) > 0 || len(Scan("docs/a.rst", text)) > 0 {
				t.Errorf("%q is an alarm", text)
			}
		}
		if text := "postgresql://admin:" + password + "@" + host; strings.Contains(Scrub(text), password) {
			t.Errorf("%q is not masked in prose", text)
		}
	}
	for _, host := range []string{
		"8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.0.1", "11.0.0.1", "100.128.0.1", "128.0.0.1", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "2130706433", "10.0.0.1.nip.io",
		"db.corp.com", "db.internal.net", "internal.io", "my-example.com", "example.acme.com", "example.com.acme.io", "test.com", "local.dev", "localhost.acme.com", "a_b.acme.com", "acme.co.uk", "db.eu-west-1.rds.amazonaws.com", "acme.onion",
		"word@db.acme.com",
	} {
		text := "URL = 'postgresql://admin:" + password + "@" + host + "/app'"
		if len(ScanSpecific(text)) != 1 || len(Scan("docs/a.rst", text)) != 1 {
			t.Errorf("%q is no alarm", text)
		}
	}
	for _, none := range []string{
		"password", "<password>", "${PASSWORD}", "$PASSWORD", "%(password)s", "%PASSWORD%", "{password}", "{{ password }}", "[password]", "changeme", "change-me", "changethis", "CHANGE_ME", "replace_me",
		"your-password", "yourpassword", "********", "xxxxxxxx", "s3cret-pw", "p4ssw0rd", "pa55word", "my-secret-pw", "test1234", "letmein123", "personal-access-token", "%s",
	} {
		if text := "https://user:" + none + "@db.acme.com/x"; len(ScanSpecific(text)) > 0 || len(Scan("docs/a.rst", text)) > 0 {
			t.Errorf("%q is an alarm", text)
		}
	}
}

// TestTrees: what neighbours share is looked at once, and said of each by its own name.
func TestTrees(t *testing.T) {
	t.Parallel()
	key := planted(0)["github"]
	of := func(paths ...string) *tree.Tree {
		entries := []tree.Entry{{Path: "lib", Mode: tree.ModeModule, Data: []byte(strings.Repeat("1", 40))}, {Path: "a.py", Mode: tree.ModeFile, Data: []byte("password = 'q9K2vLx7Rt5bW1'\n")}}
		for _, p := range paths {
			entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte("\n" + key)})
		}
		made, err := tree.New(entries)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	var s Trees
	for _, paths := range [][]string{{"x"}, {"y", "z/\xff"}, nil} {
		var got []string
		for _, f := range s.Scan(of(paths...), nil) {
			got = append(got, f.Path)
			if f.Line != 2 || !strings.HasPrefix(f.Fingerprint, f.Rule) {
				t.Errorf("%+v", f)
			}
		}
		if len(got) != len(paths) || len(paths) > 0 && got[0] != paths[0] {
			t.Errorf("%q, want %q", got, paths)
		}
	}
	if len(s.seen) != 2 {
		t.Errorf("%d contents were looked at, want 2", len(s.seen))
	}
}

// TestModuleSum: the checksum of a Go module is no key, whatever the module is called.
func TestModuleSum(t *testing.T) {
	t.Parallel()
	const sum = "Wj44p9A0V0PJ+AUg0BWdyGcsS1LY18U+0rCuPQgK0+o="
	for _, text := range []string{
		"github.com/deepmap/oapi-codegen v1.3.6 h1:" + sum + "\n",
		"github.com/acme/access-token v1.2.3-0.20200101000000-0123456789ab/go.mod h1:" + sum,
		`{"data":"github.com/acme/apikey v1.0.0 h1:` + sum + `\n"}`,
	} {
		if found := Scan("", strings.ReplaceAll(text, `\n`, "\n")); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
	if found := Scan("a.py", `api_key = "`+sum+"\"\n"); len(found) != 1 {
		t.Errorf("a key of that form: %v", found)
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
