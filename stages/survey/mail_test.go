package survey

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// TestMailing: who asks for a mail server in its own tree has a sink in its next start, whether it got ready or not, with the variables
// that lead there.
func TestMailing(t *testing.T) {
	t.Parallel()
	s := schemas.Service{Port: 3000, Start: schemas.Command{Argv: []string{"serve"}, Env: map[string]string{"MAIL_PORT": "587"}}}
	r := schemas.Recipe{Service: &s, Build: append([]schemas.Command{{Argv: []string{"build"}}}, serve.Prepare(s)...)}
	asks := func(names ...string) (out []look.Fact) {
		for _, n := range names {
			out = append(out, look.Fact{Name: n, At: "/testbed/mail.go:3"})
		}
		return out
	}
	told := look.Report{Env: asks("MAIL_HOST", "MAIL_USERNAME", "MAIL_PASSWORD", "MAIL_FROM", "MAIL_FROM_NAME", "ADMIN_EMAIL")}
	empty, err := tree.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, more := settling{tree: empty, start: 1}.next(r, looked{told: told})
	if !more || !got.Service.Needs(schemas.BrokerSMTP) {
		t.Fatalf("no sink: %+v", got.Service)
	}
	want := map[string]string{
		"MAIL_HOST": "127.0.0.1", "MAIL_PORT": "1025", "MAIL_USERNAME": "service@example.com", "MAIL_PASSWORD": "service", "MAIL_FROM": "service@example.com", "MAIL_FROM_NAME": "Service",
	}
	if diff := cmp.Diff(want, got.Service.Start.Env); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"openssl", "python3"}, got.SystemPackages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, env := range map[string][]look.Fact{
		"others":      asks("EMAIL_VERIFY_URL", "FRONTEND_EMAIL_HOST", "MAIL_FROM", "USER_EMAIL", "HOST", "IMAP_HOST"),
		"not_its_own": {{Name: "SMTP_HOST", At: "/usr/lib/x.py:3"}},
	} {
		if got, found := mailing(r, look.Report{Env: env}); found {
			t.Errorf("%s: %v", name, got.Evidence)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	tr, err := tree.New([]tree.Entry{
		{Path: "db/migrations/2_users.up.sql", Mode: "100644", Data: []byte("INSERT INTO accounts VALUES ('User@example.com'), ('admin@example.com'), ('user@example.com');")},
		{Path: "docs/data.md", Mode: "100644", Data: []byte("write to jo@example.com")},
		{Path: "users.go", Mode: "100644", Data: []byte("// al@example.com")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"admin@example.com", "user@example.com"}, addresses(tr)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
