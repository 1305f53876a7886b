package describe

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

// TestMessages reports what the rules make of each message of messages.txt: "== " and a
// message, "--" and its statement, which is empty where nothing in it can be asked for.
func TestMessages(t *testing.T) {
	t.Parallel()
	const file = "testdata/messages.txt"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	records := strings.Split("\n"+string(b), "\n== ")[1:]
	if len(records) < 60 {
		t.Errorf("%d messages, want 60 or more", len(records))
	}
	var got strings.Builder
	for _, r := range records {
		message, _, _ := strings.Cut(r+"\n", "\n--\n")
		subject, body, _ := strings.Cut(message, "\n")
		draft, err := Rules{}.Draft(context.Background(), Material{Change: schemas.Change{Subject: subject, Body: body}})
		if err != nil {
			t.Fatal(err)
		}
		if strays := prose.Strays(draft.Text, message); len(strays) > 0 {
			t.Errorf("%q: the message has no %q", subject, strays)
		}
		got.WriteString("== " + message + "\n--\n")
		if draft.Text != "" {
			got.WriteString(draft.Text + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(b), got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestFaithful(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, source string
		want               bool
	}{
		{"another_form_of_the_verb", "I want to keep `x`.", "Keeps `x`", true},
		{"words_of_a_template", "I want to be able to use lambdas.", "Support lambdas", true},
		{"another_word", "I want to delete `x`.", "Keeps `x`", false},
		{"another_call", "I want to keep `x`.", "Keeps `x(1)`", true},
		{"longer_code", "I want to keep `x(1)`.", "Keeps `x`", false},
		{"cut_quotation", "I want to keep \"a b\".", `Keeps "a c b"`, false},
		{"scope", "I want to keep x in `soft`.", "soft: keep x", true},
	} {
		if got := faithful(tc.text, tc.source); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

func TestUntestable(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"I want to bump version for 20.2.1 release.", "I also want to build Windows ARM64 wheels.", "I want to ship wheels for every platform.", "Also bump the minimum version to Go 1.21.", "I want to add Python 3.13 support.",
		"I want to fix the typo in docs.", "I want to have initial commit.", "I want to be able to use Python 3.12.", "I want to update the license headers.", "I want to update dev dependencies.", "I want to migrate to poetry.", "I want to drop Go versions prior to 1.7 in CI.",
	} {
		if !untestable(s) {
			t.Errorf("kept: %s", s)
		}
	}
	for _, s := range []string{
		"I want to make the wheels round.", "I want to update the loader to support nested modules.", "I want to be able to use conda environments.", "I want to use docstrings as help texts.",
		"I want to remove comments from the output.", "I want to raise an error for unknown versions.", "I want to use ASCII case folding in same origin test.", "I want to add a first version of the rrule module.", "I want to print the version of the protocol.", "I want to bump the default timeout to 45 seconds.",
		"I want to have a black theme.", "I want to release the lock in Close.", "I want to support comments in the parser.", "I want to tag each message with its key.",
	} {
		if untestable(s) {
			t.Errorf("dropped: %s", s)
		}
	}
}

// What is left between two references that are removed is no sentence.
func TestJoint(t *testing.T) {
	t.Parallel()
	draft, err := Rules{}.Draft(context.Background(), Material{Change: schemas.Change{Notes: []schemas.Note{{
		Text: "Added support for VALUE=DATE-TIME in rrulestr. Reported by @jaraco (gh issue #401) and fixed by @Unrud (gh pr #429)", Form: schemas.NoteChangelog,
	}}}})
	if want := "I want to be able to use VALUE=DATE-TIME in rrulestr."; err != nil || draft.Text != want {
		t.Errorf("%q, want %q, %v", draft.Text, want, err)
	}
}
