package describe

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

// An instruction is the first wish as an order.
func TestLazy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ subject, want string }{
		{"Adds a `strict` option to the reader. Unknown keys were dropped.", "Add a `strict` option to the reader."},
		{"feat: let sessions time out (#12)", "Let sessions time out."},
		{"Fixed the end of long lines", "Fix the end of long lines."},
		{"Issue 869: Add a steps argument to circular_shifts", "Add a steps argument to circular_shifts."},
		{"release 1.2", ""},
		{"tarfs: construct a new bytes.Reader per Open call", "Construct a new bytes.Reader per Open call in `tarfs`."},
		{"Prepare for 2.15.0 release", ""},
		{"Prepare for release 2.15.0", ""},
		{"Bump version", ""},
		{"chore(release): bump version to 1.2", ""},
		{"Release 1.2", ""},
		{"Release connections on close", "Release connections on close."},
		{"Prepare versions of a table before its release is shown", "Prepare versions of a table before its release is shown."},
		{"Internal: let sessions time out", "Let sessions time out."},
		{"ENH: Add a `strict` option to the reader", "Add a `strict` option to the reader."},
		{"PI: Use iterative search in sweep_references", "Use iterative search in sweep_references."},
		{"CSV: let rows be empty", "Let rows be empty in `CSV`."},
		{"Enhanced support for @Property decorator in trees", "Enhance support for @Property decorator in trees."},
		{"pxssh.login require either username or ssh_config", "Make sure that pxssh.login requires either username or ssh_config."},
		{"reader.rows support", "Add reader.rows support."},
		{"Fix long line", ""},
		{"Appease flake8", ""},
		{"Add gray_product to docs", ""},
		{"Report typos", "Report typos."},
		{"repeat_each itertool", "Add repeat_each itertool."},
		{"GetMany result incorrect, fixes #47", "Fix GetMany result incorrect."},
		{"minor optimizations", ""},
		{"docstring cleanup", ""},
		{"Rewind readable body before POST redirect", "Rewind readable body before POST redirect."},
		{"Give the linter a name", "Give the linter a name."},
		{"Don't call Apply() twice", "Do not call Apply() twice."},
		{"Never show the prompt when quiet", "Do not show the prompt when quiet."},
		{"Only append the suffix to names", "Only append the suffix to names."},
		{"Export the names of all codecs", "Export the names of all codecs."},
		{"Abort reads of closed files", "Abort reads of closed files."},
	} {
		d, err := Lazy{}.Draft(t.Context(), Material{Change: schemas.Change{Kind: schemas.KindEdit, Subject: tc.subject}})
		if err != nil || d.Text != tc.want || d.Hints != "" || (len(d.From) > 0) != (tc.want != "") {
			t.Errorf("%q: %q, %v", tc.subject, d.Text, err)
		}
		if tc.want != "" && ordered(d.Text) != nil {
			t.Errorf("%q: %v", d.Text, ordered(d.Text))
		}
	}
	ranged := schemas.Change{Kind: schemas.KindEdit, Subject: "Add a limit to areas", Range: []schemas.RangeCommit{
		{Subject: "Add a limit to areas"}, {Subject: "Fix the limit to areas"}, {Subject: "release 1.2"}, {Subject: "Fix typo"}, {Subject: "Let readers stop early (#4)"}, {Subject: "Rename `Reader.end` to `Reader.close`"}, {Subject: "Support names in upper case"},
	}}
	d, err := Lazy{}.Draft(t.Context(), Material{Change: ranged})
	if want := "Add a limit to areas. Let readers stop early. Rename `Reader.end` to `Reader.close`."; err != nil || d.Text != want || !slices.Equal(d.From, []string{fromSubject}) {
		t.Errorf("%q of %q, %v", d.Text, d.From, err)
	}
	// What else the author says is wanted stands behind the order, as far as an instruction goes.
	long := " It " + strings.Repeat("was long and ", 25) + "long."
	for body, want := range map[string]string{
		"A file of many lines stayed open.":                            "Let readers stop early. A file of many lines stayed open.",
		"Readers that stop early close the file.\n\nFixes #4.":         "Let readers stop early. Readers that stop early close the file.",
		"from_text() read all of it.":                                  "Let readers stop early. from_text() read all of it.",
		"Allows readers to close early or late. Add a limit to areas.": "Let readers stop early. Allow readers to close early or late.",
		"Also, areas are sorted.\n\n- one\n- two":                      "Let readers stop early.",
		"It was slow." + long + " It was wrong.":                       "Let readers stop early. It was slow.",
		"It was slow.\n\nThis commit also renames the scanner.":        "Let readers stop early. It was slow.",
		"Move the check into `_stop`. It was slow.":                    "Let readers stop early. It was slow.",
	} {
		d, err := Lazy{}.Draft(t.Context(), Material{Change: schemas.Change{Kind: schemas.KindEdit, Subject: "Let readers stop early", Body: body}})
		if err != nil || d.Text != want || slices.Contains(d.From, fromBody) != (want != "Let readers stop early.") || ordered(d.Text) != nil {
			t.Errorf("%q: %q of %q, %v, want %q", body, d.Text, d.From, err, want)
		}
	}
	// What the first commit does not wish for, a later one may: each says what it was made of.
	for _, first := range []string{"release 1.2", "Drop Python 2", "Fix typo", "Appease flake8"} {
		c := schemas.Change{Kind: schemas.KindEdit, Subject: first, Range: []schemas.RangeCommit{{Subject: first}, {Subject: "Let readers stop early"}}}
		d, err := Lazy{}.Draft(t.Context(), Material{Change: c})
		if err != nil || !strings.Contains(strings.ToLower(d.Text), "let readers stop early") || !slices.Equal(d.From, []string{fromSubject}) {
			t.Errorf("%q: %q of %q, %v", first, d.Text, d.From, err)
		}
	}
	for _, order := range []string{
		"Surface the error of the hook.", "Do not show help twice.", "Don't show help twice.", "Never show help twice.", "Only append to open files.", "Default the limit to 3.",
		"Join lines; undo it on error.", "Silently kill idle workers.", "Mount the folder read-only.", "Multiply by the factor.", "Reply with `</b>` where a tag ends.", "Pass rows on.",
	} {
		if err := ordered(order); err != nil {
			t.Errorf("%q: %v", order, err)
		}
	}
	for _, text := range []string{"Options are read.", "The reader stops.", "It stops.", "Reading stops early.", "Renamed x to y.", "Support", "Parameter for names.", "`Reader` stops.", "When x is set, stop.", "Validation of names.", "Not the reader."} {
		if ordered(text) == nil {
			t.Errorf("%q counts as an order", text)
		}
	}
	for text, wrong := range map[string]string{
		"I want to have it.":                              "does not begin with an order",
		"Adds a thing to the reader.":                     "does not begin with an order",
		"Add " + strings.Repeat("a thing and ", 40) + "x": "is to be short",
		"Add it:\n\n    raise ValueError(x)":              "holds code",
	} {
		if err := ordered(text); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	for _, tc := range []struct {
		text   string
		stated int
		thin   bool
	}{{"Add WalkDir.", 1, false}, {"Add WalkDir.", 0, true}, {"Add it.", 0, true}, {"Extend.", 1, false}, {"Let sessions time out.", 0, false}} {
		if got := lazyThin(tc.text, tc.stated); got != tc.thin {
			t.Errorf("%q with %d: thin %v", tc.text, tc.stated, got)
		}
	}
}

// A title that a forge cut has its rest in the body; one without a rest says nothing.
func TestCutTitles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ subject, body, want string }{
		{"Let pages of the catalogue be sorted by the name of the… (#12)", "…ir author.", "Let pages of the catalogue be sorted by the name of their author."},
		{"Let pages of the catalogue be sorted by the name of the…", "… author\n\nCloses #3.", "Let pages of the catalogue be sorted by the name of the author."},
		{"MAINT: Add a warning to Stream.initializeFromD… (#27)", "* MAINT: Add a warning to Stream.initializeFromDictionary\n\n* fix lint", "Add a warning to Stream.initializeFromDictionary."},
		{"Merge pull request #4 from ann/sort", "Let pages be sorted by the na…\n\n…me of their author.", "Let pages be sorted by the name of their author."},
		{"Let pages of the catalogue be sorted by the name of the… (#12)", "Something else.", ""},
		{"Let readers wait ...", "", "Let readers wait."},
	} {
		d, err := Lazy{}.Draft(t.Context(), Material{Change: schemas.Change{Kind: schemas.KindEdit, Subject: tc.subject, Body: tc.body}})
		if got, _, _ := strings.Cut(d.Text, ". "); err != nil || strings.TrimSuffix(got, ".") != strings.TrimSuffix(tc.want, ".") {
			t.Errorf("%q: %q, %v", tc.subject, d.Text, err)
		}
	}
}
