package contamination_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/contamination"
)

// change is a diff of one file: some context, removed and added lines.
func change(path string, at int, context, removed, added []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%[1]s\nindex 1111111..2222222 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%d,%d +%d,%d @@ class Widget:\n", path, at, len(context)+len(removed), at, len(context)+len(added))
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", context}, {"-", removed}, {"+", added}} {
		for _, l := range part.lines {
			b.WriteString(part.sign + l + "\n")
		}
	}
	return b.String()
}

var (
	around  = []string{"class Widget:", "    size = 3", "    def paint(self):"}
	removed = []string{"        return self.size"}
	added   = []string{"        shade = self.shades.get(self.size, 'plain')", "        if shade == 'plain':", "            return self.default_colour", "        return self.mix(shade, 0.5)", "    def mix(self, shade, amount):", "        tone = shade.tone * amount", "        return Colour(tone, shade.name)", "    default_colour = Colour(0, 'grey')", "    shades = {1: LIGHT, 2: DARK}", "    amounts = (0.1, 0.5, 0.9)", "    limits = {'tone': 255}"}
)

// tests are the tests of a task whose patch may be half, the lines of ours with every second one renamed.
var (
	tests = change("tests/test_widget.py", 5, nil, []string{"    assert paint() == 3"}, formOf(8))
	half  = change("gadget.py", 300, nil, removed, renamed(added))
)

const statement = "Widgets come in one colour alone, and whoever wants a shade has to paint the widget by hand after it was made, which takes long; please let a widget mix its own shade from the size it has, with a plain default for those that have none, so that nobody needs a brush and every widget of one size looks the same as its neighbours on the shelf"

func ours() contamination.Task {
	return contamination.Task{
		ID: "acme__widget-12", Repo: "acme/widget", Number: 12, Bases: []string{strings.Repeat("a1", 20)}, Commit: strings.Repeat("b2", 20),
		Patch: change("widget.py", 10, around, removed, added), Statement: statement, Kind: contamination.Change,
	}
}

// other is a task that shares nothing with ours.
func other() contamination.Task {
	return contamination.Task{
		ID: "other__thing-7", Repo: "other/thing", Number: 7, Bases: []string{strings.Repeat("c3", 20)}, Commit: strings.Repeat("d4", 20), Kind: contamination.Change,
		Patch:     change("thing.py", 99, []string{"def thing():", "    pass_on()", "    stop()"}, []string{"    go_left()"}, []string{"    for step in steps:", "        go_right(step)", "    wait(seconds=2)"}),
		Statement: "Things turn left where they should turn right; make them go right for each step of the way, and let them wait for two seconds at the end of it",
	}
}

// compare gives the hits of one task against ours, as "key action".
func compare(t *testing.T, mine []contamination.Task, theirs ...contamination.Task) (out []string) {
	t.Helper()
	for _, h := range contamination.New(mine, contamination.Default()).Compare(contamination.SetRef{Name: "theirs"}, slices.Values(theirs)) {
		if len(h.Evidence) == 0 || h.Score <= 0 || h.Score > 1 || h.Set.Name != "theirs" {
			t.Errorf("a hit without evidence, set or share: %+v", h)
		}
		out = append(out, fmt.Sprintf("%s %s", h.Key, h.Action))
	}
	return out
}

// moved is what somebody makes of a diff: other white space, other numbers, other context.
func moved(patch string) string {
	lines := strings.Split(strings.Replace(patch, "@@ -10,", "@@ -210,", 1), "\n")
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		case strings.HasPrefix(l, "+"), strings.HasPrefix(l, "-"):
			lines[i] = l[:1] + "\t" + strings.ReplaceAll(strings.TrimLeft(l[1:], " "), " = ", "=")
		case strings.HasPrefix(l, " "):
			lines[i] = " another_line()"
		}
	}
	return strings.Join(lines, "\n")
}

// TestKeys: each key finds its task alone, and not the near miss.
func TestKeys(t *testing.T) {
	t.Parallel()
	form := ours() // a form of issues, with a few words of its own
	template := strings.Join(formOf(120), " ")
	form.Statement = template + " " + statement[:100]
	tested, few4 := ours(), ours()
	tested.Tests, few4.Tests = tests, change("tests/test_widget.py", 5, nil, nil, formOf(4))
	anew := ours() // a change that breaks lines in other places, and no more
	anew.Patch = change("widget.py", 10, nil, added, wrapped(added))
	narrow, wide := []string{"    one = 1001", "    second = 1002"}, []string{"    one    = 1001", "    second = 1002  "}
	aligned := ours()
	aligned.Patch = change("widget.py", 10, nil, narrow, append(slices.Clone(wide), "    eleventh = 1011"))
	few := ours()
	few.Patch = change("widget.py", 10, around, removed, added[:1])
	vendored := ours()
	vendored.Patch = change("vendor/lib/lib.py", 10, around, removed, added)
	long := slices.Concat(added, []string{"    first = 1001", "    second = 1002", "    third = 1003", "    fourth = 1004"})
	library := contamination.Task{ID: "acme__widget-v1", Repo: "acme/widget", Kind: contamination.Library, Release: "v1.0", Bases: []string{strings.Repeat("e5", 20)}, Part: "whole", Dataset: "ours"}
	landed, generated := library, ours()
	landed.Commit, generated.Patch = ours().Commit, change("widget_pb2.py", 10, around, removed, added)
	for _, tt := range []struct {
		name string
		mine contamination.Task
		edit func(*contamination.Task) // of a task that shares nothing with ours
		want []string
	}{
		{"number", ours(), func(x *contamination.Task) { x.Repo, x.Number = "https://github.com/Acme/Widget.git", 12 }, []string{"number removed"}},
		{"other_number", ours(), func(x *contamination.Task) { x.Repo, x.Number = "acme/widget", 13 }, nil},
		{"number_elsewhere", ours(), func(x *contamination.Task) { x.Number = 12 }, nil},
		{"commit", ours(), func(x *contamination.Task) { x.Commit = ours().Commit }, []string{"commit removed"}},
		{"base_alone", ours(), func(x *contamination.Task) { x.Bases = ours().Bases }, nil},
		{"base_and_place", ours(), func(x *contamination.Task) {
			x.Bases, x.Patch = ours().Bases, change("widget.py", 11, around[1:], removed, added[:4])
		}, []string{"base_commit removed"}},
		{"base_and_other_place", ours(), func(x *contamination.Task) {
			x.Bases, x.Patch = ours().Bases, change("widget.py", 310, around[1:], removed, added[:4])
		}, nil},
		{"base_and_other_lines", ours(), func(x *contamination.Task) {
			x.Bases, x.Patch = ours().Bases, change("widget.py", 10, around, removed, []string{"        return 4", "    weight = 5", "    height = 6"})
		}, []string{"base_commit labelled"}},
		{"base_and_alignment", aligned, func(x *contamination.Task) {
			x.Bases, x.Patch = aligned.Bases, change("widget.py", 11, nil, narrow, append(slices.Clone(wide), "    height = Height(9)"))
		}, nil},
		{"short_base", ours(), func(x *contamination.Task) { x.Bases, x.Patch = []string{"a1a1a1a1"}, ours().Patch }, []string{"base_commit removed", "patch_id removed", "patch_blank removed", "shingles removed", "words removed"}},
		{"patch", ours(), func(x *contamination.Task) { x.Patch = ours().Patch }, []string{"patch_id removed", "patch_blank removed", "shingles removed", "words removed"}},
		{"patch_moved", ours(), func(x *contamination.Task) { x.Patch = moved(ours().Patch) }, []string{"patch_blank removed", "shingles removed", "words removed"}},
		{"patch_of_vendored_file", vendored, func(x *contamination.Task) { x.Patch = vendored.Patch }, nil},
		{"short_patch_moved", few, func(x *contamination.Task) { x.Patch = moved(few.Patch) }, []string{"patch_blank labelled"}},
		{"short_patch_in_its_place", few, func(x *contamination.Task) { x.Patch = strings.Replace(few.Patch, "@@ -10,", "@@ -80,", 1) }, []string{"patch_id removed", "patch_blank removed"}},
		{"short_patch_in_another_file", few, func(x *contamination.Task) { x.Patch = strings.ReplaceAll(few.Patch, "widget.py", "gadget.py") }, []string{"patch_blank labelled"}},
		{"patch_in_another_folder", ours(), func(x *contamination.Task) { x.Patch = strings.ReplaceAll(ours().Patch, "widget.py", "src/widget.py") }, []string{"patch_blank removed", "shingles removed", "words removed"}},
		{"generated_file", generated, func(x *contamination.Task) { x.Patch = generated.Patch }, nil},
		{"fault_added", ours(), func(x *contamination.Task) {
			x.Patch, x.Reversed = change("widget.py", 10, around, added, removed), true
		}, []string{"patch_blank removed", "shingles removed", "words removed"}},
		{"fault_added_forward", ours(), func(x *contamination.Task) { x.Patch = change("widget.py", 10, around, added, removed) }, nil},
		{"landed_with_more", ours(), func(x *contamination.Task) { x.Patch = change("widget.py", 10, around, removed, long) }, []string{"shingles removed", "words removed"}},
		{"landed_in_part", ours(), func(x *contamination.Task) { x.Patch = change("widget.py", 10, around, removed, added[:6]) }, []string{"shingles labelled"}},
		{"same_file", ours(), func(x *contamination.Task) {
			x.Patch = change("widget.py", 10, around, removed, []string{"        raise NotPainted(self)", "    def clean(self, brush):", "        brush.wash()"})
		}, nil},
		{"moved_lines", ours(), func(x *contamination.Task) { x.Patch = change("widget.py", 10, around, added, added) }, nil},
		{"statement", ours(), func(x *contamination.Task) { x.Statement = "Feature request\n\n" + strings.ToUpper(statement) }, []string{"grams removed"}},
		{"statement_in_part", ours(), func(x *contamination.Task) { x.Statement += " " + statement[:len(statement)/2] }, []string{"grams labelled"}},
		{"statement_of_a_form", form, func(x *contamination.Task) { x.Statement = template + " " + other().Statement[:100] }, []string{"grams labelled"}},
		{"statement_of_a_form_and_lines", form, func(x *contamination.Task) {
			x.Statement = template + " " + other().Statement[:100]
			x.Patch = change("widget.py", 10, around, removed, append([]string{"    brush = Brush(3)", "    stand = Stand(4)", "    paper = Paper(5)", "    light = Light(6)"}, added[:2]...))
		}, []string{"grams removed"}},
		{"wrapped", ours(), func(x *contamination.Task) { x.Patch = change("gadget.py", 300, nil, nil, wrapped(added)) }, []string{"words removed"}},
		{"wrapped_in_part", ours(), func(x *contamination.Task) { x.Patch = change("gadget.py", 300, nil, nil, wrapped(added[:7])) }, nil},
		{"wrapped_anew", anew, func(x *contamination.Task) {
			x.Patch = change("gadget.py", 300, nil, wrapped(added), append(wrapped(added), "done()"))
		}, nil},
		{"half_of_the_lines_and_the_tests", tested, func(x *contamination.Task) { x.Patch, x.Tests = half, tests }, []string{"lines removed"}},
		{"half_of_the_lines_alone", tested, func(x *contamination.Task) { x.Patch = half }, nil},
		{"half_of_the_lines_and_more_tests", tested, func(x *contamination.Task) {
			x.Patch, x.Tests = half, tests+change("tests/test_more.py", 1, nil, nil, added[:5])
		}, nil},
		{"half_of_the_lines_and_few_tests", few4, func(x *contamination.Task) { x.Patch, x.Tests = half, few4.Tests }, nil},
		{"tests_and_fewer_lines", tested, func(x *contamination.Task) {
			x.Patch, x.Tests = strings.ReplaceAll(half, "shade", "tint"), tests
		}, nil},
		{"release", library, func(x *contamination.Task) { x.Repo, x.Kind, x.Release = "Acme/Widget", contamination.Library, "V1.0" }, []string{"release removed"}},
		{"other_release", library, func(x *contamination.Task) { x.Repo, x.Kind, x.Release = "acme/widget", contamination.Library, "v2.0" }, []string{"release labelled"}},
		{"release_of_a_copy", library, func(x *contamination.Task) {
			x.Repo, x.Origin, x.Kind = "copies/widget", "acme/widget", contamination.Library
		}, []string{"release labelled"}},
		{"release_by_commit", library, func(x *contamination.Task) { x.Kind, x.Bases = contamination.Library, library.Bases }, []string{"release removed"}},
		{"other_part_of_ours", library, func(x *contamination.Task) {
			x.Repo, x.Kind, x.Release, x.Part, x.Dataset = "acme/widget", contamination.Library, "v1.0", "paint", "elder"
		}, []string{"release labelled"}},
		{"commit_of_a_library", landed, func(x *contamination.Task) { x.Commit = landed.Commit }, []string{"commit labelled"}},
		{"change_of_a_library", library, func(x *contamination.Task) { x.Repo, x.Bases = "acme/widget", library.Bases }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := other()
			tt.edit(&x)
			if got := compare(t, []contamination.Task{tt.mine}, x); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// renamed gives every second line another name.
func renamed(lines []string) []string {
	lines = slices.Clone(lines)
	for i := 1; i < len(lines); i += 2 {
		lines[i] = strings.NewReplacer("shade", "hue", "=", "is", "colour", "paint", "tone", "note", "return", "give", "(", "[").Replace(lines[i])
	}
	return lines
}

// wrapped breaks lines after each bracket and operator.
func wrapped(lines []string) []string {
	text := strings.NewReplacer("(", "(\n", ", ", ",\n", " = ", " =\n", ".", "\n.").Replace(strings.Join(lines, "\n"))
	return strings.Split(text, "\n")
}

// formOf are words that are all other ones.
func formOf(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("word%d", i))
	}
	return out
}

// TestAliases: a repository that was renamed is found by the name that it has now.
func TestAliases(t *testing.T) {
	t.Parallel()
	x := other()
	x.Repo, x.Number = "old/gadget", 12
	o := contamination.Default()
	o.Aliases = map[string]string{"old/Gadget": "older/name", "Older/Name": "acme/widget", "acme/loop": "acme/loop"}
	hits := contamination.New([]contamination.Task{ours()}, o).Compare(contamination.SetRef{}, slices.Values([]contamination.Task{x}))
	if len(hits) != 1 || hits[0].Key != contamination.Number {
		t.Errorf("%v", hits)
	}
}

// TestBoilerplate: what three tasks of a set hold, or three of ours, is no sign of any of them.
func TestBoilerplate(t *testing.T) {
	t.Parallel()
	template := ours()
	template.Statement = statement
	var theirs []contamination.Task
	for i := range 3 {
		x := other()
		x.ID, x.Number, x.Statement, x.Patch = fmt.Sprintf("other__thing-%d", 20+i), 20+i, statement, moved(strings.ReplaceAll(ours().Patch, "+    limits", fmt.Sprintf("+    limit%d", i)))
		theirs = append(theirs, x)
	}
	if got := compare(t, []contamination.Task{ours()}, theirs[:2]...); len(got) != 6 {
		t.Errorf("two rows: %q", got)
	}
	if got := compare(t, []contamination.Task{ours()}, theirs...); slices.ContainsFunc([]string{"grams removed", "shingles removed", "words removed"}, func(k string) bool { return slices.Contains(got, k) }) {
		t.Errorf("three rows: %q", got)
	}
	if got := compare(t, []contamination.Task{ours()}, theirs[0], theirs[0], theirs[0]); !slices.Contains(got, "grams removed") || len(got) != 3 {
		t.Errorf("one row three times: %q", got)
	}
	mine := []contamination.Task{ours(), ours(), ours()}
	for i := range mine {
		mine[i].ID, mine[i].Tests = fmt.Sprint("acme__widget-", i), tests
	}
	for i := range theirs {
		theirs[i].Tests = tests
	}
	if got := compare(t, mine[:1], theirs[:2]...); !slices.Contains(got, "lines removed") {
		t.Errorf("two rows with their tests: %q", got)
	}
	if got := compare(t, mine[:1], theirs...); slices.Contains(got, "lines removed") {
		t.Errorf("three rows with their tests: %q", got)
	}
	if got := compare(t, mine, theirs[0]); got != nil {
		t.Errorf("three of ours: %q", got)
	}
}

// TestItself: a task is not held against itself as its dataset published it.
func TestItself(t *testing.T) {
	t.Parallel()
	a, b := ours(), ours()
	a.Dataset, b.Dataset = "widgets", "widgets"
	if got := compare(t, []contamination.Task{a}, b); got != nil {
		t.Errorf("against itself: %q", got)
	}
	b.Dataset = "of-others"
	if got := compare(t, []contamination.Task{a}, b); !slices.Contains(got, "number removed") {
		t.Errorf("against the same ID in a dataset of others: %q", got)
	}
}

// TestPatchIDAsGit: the key is what git says.
func TestPatchIDAsGit(t *testing.T) {
	t.Parallel()
	deleted := "diff --git a/old.py b/old.py\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-import  os\n-\n"
	fresh := "diff --git a/new.py b/new.py\nnew file mode 100755\nindex 0000000..1111111\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+print( 'x' )\n\\ No newline at end of file\n"
	for _, patch := range []string{ours().Patch, ours().Patch + deleted + fresh, moved(ours().Patch) + change("gadget.py", 3, around, nil, added[:2])} {
		cmd := exec.Command("git", "patch-id", "--stable")
		cmd.Stdin = strings.NewReader(patch)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(string(out), " ")
		x, y := ours(), other()
		x.Patch, y.Patch = patch, patch
		hits := contamination.New([]contamination.Task{x}, contamination.Default()).Compare(contamination.SetRef{}, slices.Values([]contamination.Task{y}))
		if len(hits) == 0 || hits[0].Key != contamination.PatchID || hits[0].Evidence[0] != "patch-id "+want {
			t.Errorf("want %s of\n%s\ngot %v", want, patch, hits)
		}
	}
}

// TestFold: one name for each repository.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"acme/widget", "Acme/Widget", "https://github.com/acme/widget", "git@github.com:acme/widget.git", "ssh://git@github.com/acme/widget/", "acme__widget", "swesmith/acme__widget.1a2b3c4d", "github.com/ACME/widget.git"} {
		if got := contamination.Fold(name); got != "acme/widget" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestOptions: shares that are none and aliases without names are refused.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []contamination.Options{{Remove: 1.2}, {Remove: 0.2, Label: 0.3}, {Label: -1}, {Remove: 1, Aliases: map[string]string{"widget": "acme/widget"}}} {
		if o.Validate() == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if err := contamination.Default().Validate(); err != nil {
		t.Error(err)
	}
}

// TestInterrupted: reading ends with its context.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	name := write(t, filepath.Join(t.TempDir(), "rows.jsonl"), `{"instance_id":"a__b-1","repo":"a/b","base_commit":"1","patch":""}`+"\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := contamination.New(nil, contamination.Default()).Against(ctx, name); err == nil {
		t.Error("no error")
	}
}

// TestCatalogue: what is known of a change before anything is run finds its task in a set.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, err := contamination.Open(t.Context(), nil, contamination.Default())
	if err != nil || none != nil || none.Sets() != nil {
		t.Errorf("nothing to open: %v, %v", none, err)
	}
	good := write(t, filepath.Join(dir, "good.jsonl"), lines(t, sweBench(map[string]any{"instance_id": "copy__x-1", "repo": "copy/x", "patch": moved(ours().Patch), "base_commit": "1"})))
	c, err := contamination.Open(t.Context(), []string{good}, contamination.Default())
	if err != nil {
		t.Fatal(err)
	}
	mine := ours()
	mine.Statement = ""
	hits := c.Find(mine)
	if len(hits) != 1 || hits[0].InstanceID != mine.ID || hits[0].Known != "copy__x-1" || hits[0].Key != contamination.PatchBlank || hits[0].Set.Name != "good.jsonl" || hits[0].Set.Rows != 1 || len(hits[0].Evidence) == 0 {
		t.Errorf("%+v", hits)
	}
	if hits := c.Find(other()); hits != nil {
		t.Errorf("another one: %v", hits)
	}
	more := contamination.Default()
	more.Aliases = map[string]string{"copy/x": "acme/widget"}
	other, err := contamination.Open(t.Context(), []string{good}, more)
	if err != nil || slices.Equal(other.Sets(), c.Sets()) || len(other.Sets()) != len(c.Sets())+1 {
		t.Errorf("aliases are not part of what decides: %v, %v", other.Sets(), err)
	}
	bad := write(t, filepath.Join(dir, "bad.jsonl"), lines(t, sweBench(nil))+"{\n")
	if _, err := contamination.Open(t.Context(), []string{bad}, contamination.Default()); err == nil || !strings.Contains(err.Error(), "1 rows of "+bad) {
		t.Errorf("a bad row: %v", err)
	}
}
