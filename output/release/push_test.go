package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/push"
	"github.com/benchmint/benchmint/internal/push/pushtest"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// threeReleases is a shelf with two versions and a correction.
func threeReleases(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "releases")
	first, second, third := widget(1, "2024-03-10"), widget(2, "2024-03-11"), widget(3, "2024-05-10")
	publish(t, dir, options(work(t, nil, first, second), "2024-04-01"))
	publish(t, dir, options(work(t, nil, first, second, third), "2024-06-01"))
	corrected(t, dir, Act{IDs: []string{second.id()}, Reason: schemas.ForUnfair, Text: "it asks for a name that nothing gives"})
	return dir
}

var threeVersions = []string{"2024.04", "2024.06", "2024.06.1"}

// client is the real one, or the test is skipped.
func hubClient(t *testing.T) verify.Options {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("NO CACHE FOLDER, so no client: %v", err)
	}
	o := verify.Options{Cache: filepath.Join(cache, "benchmint"), Env: os.Environ(), Say: t.Logf}
	if err := verify.Ready(t.Context(), verify.HuggingFaceName, o); err != nil {
		t.Skipf("HUGGINGFACE_HUB IS NOT HERE, nothing was pushed with the real client (.ci/setup test gets it): %v", err)
	}
	return o
}

func startHub(t *testing.T, faults ...pushtest.Fault) *pushtest.Hub {
	t.Helper()
	h := pushtest.Start(faults...)
	t.Cleanup(func() {
		h.Close()
		for _, bad := range h.Bad() {
			t.Errorf("the client asked for what the stand-in does not know: %s", bad)
		}
	})
	return h
}

const hubRepo = "acme/widgets"

// pushTo pushes a shelf to the stand-in, and wants that nobody says the token.
func pushTo(t *testing.T, dir string, h *pushtest.Hub, change func(*push.Hub, *Push)) (Pushed, error) {
	t.Helper()
	var said strings.Builder
	o := hubClient(t)
	o.Say = func(form string, args ...any) { fmt.Fprintf(&said, form+"\n", args...) }
	hub, err := push.NewHub(hubRepo, h.URL(), pushtest.Token, false, o)
	must(t, err)
	p := Push{Remote: hub, Say: func(what string, _, _ int) { said.WriteString(what) }}
	if change != nil {
		change(hub, &p)
	}
	done, err := pushed(dir, p)
	if all := fmt.Sprintf("%s %+v %v", said.String(), done, err); strings.Contains(all, pushtest.Token) {
		t.Errorf("the token is said: %s", all)
	}
	return done, err
}

func pushed(dir string, p Push) (Pushed, error) {
	s, err := Read(dir)
	if err != nil {
		return Pushed{}, err
	}
	if p.Say == nil {
		p.Say = func(string, int, int) {}
	}
	return s.Push(context.Background(), p)
}

func states(p Pushed) string {
	var out []string
	for _, v := range p.Versions {
		out = append(out, string(v.Version)+" "+string(v.State))
	}
	return strings.Join(out, ", ")
}

// isVersion wants that files are those of a version, with the feed, to the byte.
func isVersion(t *testing.T, dir, version string, files map[string][]byte) {
	t.Helper()
	want := map[string][]byte{}
	must(t, filepath.WalkDir(filepath.Join(dir, version), func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(filepath.Join(dir, version), file)
		must(t, err)
		want[filepath.ToSlash(rel)], err = os.ReadFile(file)
		return err
	}))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !bytes.Equal(want[name], files[name]) {
			t.Errorf("%s: %s is not as the shelf has it", version, name)
		}
	}
	for name := range files {
		if want[name] == nil && name != FeedFile && name != ".gitattributes" {
			t.Errorf("%s: %s is not on the shelf", version, name)
		}
	}
}

// openedByTag loads the rows that a person gets with a tag, with the library alone, and wants those of the shelf.
func openedByTag(t *testing.T, dir, version string, h *pushtest.Hub) {
	t.Helper()
	const script = `import datasets, json, sys
rows = datasets.load_dataset(sys.argv[1], split="test", revision=sys.argv[2])
sys.stdout.write("".join(json.dumps(r, sort_keys=True) + "\n" for r in rows))`
	o := hubClient(t)
	got, err := verify.Run(t.Context(), verify.HuggingFaceName, verify.Program{
		Text: []byte(script), Args: func(string) []string { return []string{hubRepo, version} }, Env: []string{"HF_ENDPOINT=" + h.URL(), "HF_TOKEN="},
	}, o)
	must(t, err)
	want, err := verify.Run(t.Context(), verify.HuggingFaceName, verify.Program{
		Text: []byte("import json, sys\nfor line in open(sys.argv[1]): print(json.dumps(json.loads(line), sort_keys=True))"),
		Args: func(string) []string { return []string{filepath.Join(dir, version, "data", "test.jsonl")} },
	}, o)
	must(t, err)
	if n := bytes.Count(got, []byte("\n")); n == 0 || !bytes.Equal(got, want) {
		t.Errorf("%s: opened by its tag it has %d rows, and they are not those of the shelf", version, n)
	}
}

// Three releases come to a hub in order, each under a tag that opens with its rows; head is the
// newest; the same again sends nothing.
func TestPushToHub(t *testing.T) {
	t.Parallel()
	hubClient(t)
	dir, h := threeReleases(t), startHub(t)
	done, err := pushTo(t, dir, h, func(_ *push.Hub, p *Push) { p.DryRun = true })
	if err != nil || states(done) != "2024.04 waits, 2024.06 waits, 2024.06.1 waits" || len(h.Writes()) > 0 {
		t.Fatalf("%s, %v after %v", states(done), err, h.Writes())
	}
	done, err = pushTo(t, dir, h, func(_ *push.Hub, p *Push) { p.Version = "2024.04" })
	if err != nil || states(done) != "2024.04 pushed" {
		t.Fatalf("%s: %v", states(done), err)
	}
	isVersion(t, dir, "2024.04", h.Files(hubRepo, "main"))
	if done, err = pushTo(t, dir, h, nil); err != nil || states(done) != "2024.04 there, 2024.06 pushed, 2024.06.1 pushed" || len(done.Replaced)+len(done.Decide) > 0 {
		t.Fatalf("%+v: %v", done, err)
	}
	for _, v := range threeVersions {
		isVersion(t, dir, v, h.Files(hubRepo, v))
		openedByTag(t, dir, v, h)
	}
	if n := len(slices.DeleteFunc(h.Writes(), func(w string) bool { return !strings.Contains(w, "/commit/") })); n != 3 {
		t.Errorf("three versions are %d commits", n)
	}
	if h.Tags(hubRepo)["2024.06.1"] != h.Head(hubRepo) || h.Private(hubRepo) {
		t.Error("head is not the newest version, or nobody can read it")
	}
	if feed, err := os.ReadFile(filepath.Join(dir, FeedFile)); err != nil || !bytes.Equal(h.Files(hubRepo, "main")[FeedFile], feed) {
		t.Errorf("head has another feed: %v", err)
	}
	before := h.Writes()
	if done, err = pushTo(t, dir, h, nil); err != nil || states(done) != "2024.04 there, 2024.06 there, 2024.06.1 there" || len(h.Writes()) != len(before) {
		t.Errorf("again: %s, %v; it sent %v", states(done), err, h.Writes()[len(before):])
	}
	// A version that came is a dataset as any other.
	copied := filepath.Join(t.TempDir(), "copy")
	for name, text := range h.Files(hubRepo, "2024.06") {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(copied, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(copied, name), text, 0o644))
	}
	if found, err := output.CheckEach(copied, func(int, int) {}); err != nil || len(found) > 0 {
		t.Errorf("a copy of what was pushed: %v, %v", found, err)
	}
}

// A push that ends in the middle leaves head or tags as they were, says what it is, and goes on.
func TestPushFaults(t *testing.T) {
	t.Parallel()
	hubClient(t)
	dir := threeReleases(t)
	first := func(_ *push.Hub, p *Push) { p.Version = "2024.04" }
	for _, tt := range []struct {
		name  string
		fault pushtest.Fault
		away  bool   // else refused
		says  string // of the error
		head  bool   // the version is at head, without its tag
		then  string // the same again, without the fault
		slow  bool
	}{
		{"silent_at_the_look", pushtest.Fault{Path: "/api/datasets/" + hubRepo, Status: 503}, true, "said 503 at the look", false, "2024.04 pushed", false},
		{"busy", pushtest.Fault{Path: "/api/datasets/" + hubRepo, Status: 429}, true, "said 429 at the look", false, "2024.04 pushed", false},
		{"silent_at_the_commit", pushtest.Fault{Path: "/commit/", Status: 500}, true, "said 500 at the commit", false, "2024.04 pushed", false},
		{"answer_of_the_commit_is_lost", pushtest.Fault{Path: "/commit/", Lost: true}, true, "at the commit", true, "2024.04 tagged", false},
		{"silent_at_the_tag", pushtest.Fault{Path: "/tag/", Status: 503}, true, "said 503 at the tag", true, "2024.04 tagged", false},
		{"somebody_makes_the_tag", pushtest.Fault{Path: "/tag/", Status: 409, Body: `{"error":"Tag reference exists already"}`}, false, "somebody has made this tag", true, "2024.04 tagged", false},
		{"cannot_be_read_back", pushtest.Fault{Path: "/resolve/", After: 1, Status: 401}, false, "is public, and a client reads there what was not sent", true, "2024.04 tagged", false},
		{"refused_with_the_token", pushtest.Fault{Path: "/commit/", Status: 400, Body: `{"error":"` + pushtest.Token + ` is not good enough"}`}, false, "refused the commit (400): (token) is not good enough", false, "2024.04 pushed", false},
		{"silent_at_the_reading", pushtest.Fault{Path: "/resolve/", After: 1, Status: 503}, true, "could not be read back", true, "2024.04 tagged", true},
		{"large_files_are_damaged", pushtest.Fault{Method: "PUT", Path: "/objects/", Damage: "any"}, false, " files differ, the first is ", false, "", false},
		{"other_rows_are_served", pushtest.Fault{Path: "/resolve/", Damage: "data/test.parquet"}, false, "a client reads there what was not sent: parquet", true, "2024.04 tagged", false},
		{"upload_is_cut", pushtest.Fault{Method: "PUT", Path: "/objects/", Cut: true}, true, "at the commit", false, "2024.04 pushed", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.slow && testing.Short() {
				t.Skip("the client waits 23 s between its tries")
			}
			tt.fault.Times = 1000
			h := startHub(t, tt.fault)
			done, err := pushTo(t, dir, h, first)
			var refused *push.RefusedError
			if err == nil || errors.Is(err, push.ErrAway) != tt.away || errors.As(err, &refused) == tt.away || !strings.Contains(err.Error(), tt.says) || states(done) == "2024.04 pushed" {
				t.Fatalf("%s: %v", states(done), err)
			}
			if len(h.Tags(hubRepo)) > 0 {
				t.Fatalf("it has the tags %v", h.Tags(hubRepo))
			}
			if files := h.Files(hubRepo, "main"); tt.head {
				isVersion(t, dir, "2024.04", files)
			} else if files[FeedFile] != nil && tt.then != "" {
				t.Fatalf("head has %d files", len(files))
			}
			if h.Break(); tt.then == "" {
				return
			}
			if done, err = pushTo(t, dir, h, first); err != nil || states(done) != tt.then {
				t.Fatalf("again: %s: %v", states(done), err)
			}
			isVersion(t, dir, "2024.04", h.Files(hubRepo, "2024.04"))
		})
	}
}

// What must not be pushed is refused before anything is sent.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	hubClient(t)
	dir := threeReleases(t)
	one := startHub(t) // has 2024.04 and a later commit of somebody's
	if _, err := pushTo(t, dir, one, func(_ *push.Hub, p *Push) { p.Version = "2024.04" }); err != nil {
		t.Fatal(err)
	}
	commit := one.Tags(hubRepo)["2024.04"]
	later := one.Commit(hubRepo, map[string][]byte{"README.md": []byte("---\n---\nmine\n"), "release.json": []byte(`{"dataset": "bench"}`)})
	writes := len(one.Writes())
	refuse := func(name, says string, h *pushtest.Hub, change func(*push.Hub, *Push)) {
		t.Helper()
		before := len(h.Writes())
		if done, err := pushTo(t, dir, h, change); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %s, %v", name, states(done), err)
		}
		if sent := h.Writes()[before:]; len(sent) > 0 {
			t.Errorf("%s: it sent %v", name, sent)
		}
	}
	one.MoveTag(hubRepo, "2024.04", later)
	entry := func() schemas.Digest { s, err := Read(dir); must(t, err); return s.Feed.Versions[0].Record }()
	refuse("moved_tag", fmt.Sprintf("the tag 2024.04 of %s/datasets/acme/widgets never moves, and it has other content: its release.json is %s, that of the shelf %s", one.URL(), schemas.DigestBytes([]byte(`{"dataset": "bench"}`)), entry), one, nil)
	one.MoveTag(hubRepo, "2024.04", commit)
	one.MoveTag(hubRepo, "2024.09", commit)
	refuse("newer_there", "has the version 2024.09, which ", one, nil)
	one.MoveTag(hubRepo, "2024.09", "")
	refuse("private", "--private makes a new repository private, and changes none", one, func(h *push.Hub, _ *Push) { h.Private = true })
	refuse("token", "does not accept HF_TOKEN (401", one, func(h *push.Hub, _ *Push) { h.Token = "hf_anotherToken" })
	if len(one.Writes()) != writes {
		t.Error("something was sent")
	}

	other := startHub(t)
	other.Commit(hubRepo, map[string][]byte{"data.csv": []byte("a,b\n")})
	refuse("no_release", "holds data.csv and no release.json", other, nil)
	other.Commit(hubRepo, map[string][]byte{"release.json": []byte(`{"dataset": "gadgets"}`)})
	refuse("other_dataset", `holds the dataset "gadgets", and not "bench"`, other, nil)

	empty := startHub(t)
	if _, err := pushTo(t, dir, empty, func(h *push.Hub, _ *Push) { h.Repo = pushtest.Foreign + "/widgets" }); !errors.Is(err, push.ErrUnmet) || !strings.Contains(err.Error(), "may not write to") {
		t.Errorf("a repository of somebody else: %v", err)
	}
	empty.Close()
	if _, err := pushTo(t, dir, empty, nil); !errors.Is(err, push.ErrAway) {
		t.Errorf("a hub that is away: %v", err)
	}

	damaged := filepath.Join(t.TempDir(), "releases")
	must(t, os.CopyFS(damaged, os.DirFS(dir)))
	must(t, os.WriteFile(filepath.Join(damaged, "2024.06", "tasks", widget(3, "").id(), "gold.patch"), []byte("x"), 0o644))
	fresh := startHub(t)
	if _, err := pushTo(t, damaged, fresh, nil); err == nil || !strings.Contains(err.Error(), "does not hold, and nothing is sent: 2024.06: ") || len(fresh.Writes()) > 0 {
		t.Errorf("a damaged shelf: %v, %v", err, fresh.Writes())
	}
	if _, err := push.NewHub(hubRepo, "", " ", false, verify.Options{}); !errors.Is(err, push.ErrUnmet) || !strings.Contains(err.Error(), "HF_TOKEN is not set: make a token that may write to acme/widgets") {
		t.Errorf("no token: %v", err)
	}
}

// Others' commits are not undone without a word, and one that comes in between refuses the push.
func TestPushBesideOthers(t *testing.T) {
	t.Parallel()
	hubClient(t)
	dir, h := threeReleases(t), startHub(t)
	private := func(v Version) func(*push.Hub, *Push) {
		return func(h *push.Hub, p *Push) { h.Private, p.Version = true, v }
	}
	if _, err := pushTo(t, dir, h, private("2024.04")); err != nil || !h.Private(hubRepo) {
		t.Fatalf("private: %v", err)
	}
	old := h.Head(hubRepo)
	h.Break(pushtest.Fault{Path: "/commit/", Race: true, Times: 1})
	if done, err := pushTo(t, dir, h, private("2024.06")); err == nil || !strings.Contains(err.Error(), "somebody has changed acme/widgets meanwhile, and nothing is committed") || len(h.Tags(hubRepo)) != 1 {
		t.Fatalf("%+v: %v", done, err)
	}
	if h.Head(hubRepo) == old || h.Files(hubRepo, "main")["theirs.txt"] == nil {
		t.Fatal("there was no race")
	}
	done, err := pushTo(t, dir, h, private("2024.06"))
	if err != nil || !slices.Equal(done.Replaced, []string{"theirs.txt"}) {
		t.Fatalf("%+v: %v", done, err)
	}
	isVersion(t, dir, "2024.06", h.Files(hubRepo, "main"))

	// What was held is withdrawn: the data stays, and head says so. A tag that somebody took away is named.
	first := widget(1, "").id()
	corrected(t, dir, Act{IDs: []string{first}, Reason: schemas.ForFlaky, Text: "it disagrees with itself", Hold: true})
	if done, err = pushTo(t, dir, h, private("")); err != nil || states(done) != "2024.04 there, 2024.06 there, 2024.06.1 pushed, 2024.06.2 pushed" {
		t.Fatalf("%s: %v", states(done), err)
	}
	corrected(t, dir, Act{IDs: []string{first}, Reason: schemas.ForFlaky, Text: "it does it again"})
	tagged := h.Tags(hubRepo)
	h.MoveTag(hubRepo, "2024.06", "")
	if done, err = pushTo(t, dir, h, private("")); err != nil || done.Feed != h.Head(hubRepo) || len(done.Decide) != 1 || !strings.HasPrefix(done.Decide[0], "2024.06 is not at ") {
		t.Fatalf("%+v: %v", done, err)
	}
	if _, err = pushTo(t, dir, h, private("2024.06")); err == nil || !strings.Contains(err.Error(), "a version comes in its order") {
		t.Errorf("an older one: %v", err)
	}
	if h.Tags(hubRepo)["2024.06.2"] != tagged["2024.06.2"] || h.Head(hubRepo) == tagged["2024.06.2"] {
		t.Error("a tag moved, or head has the old feed")
	}

	// A purge changes the shelf, and no tag.
	corrected(t, dir, Act{IDs: []string{widget(3, "").id()}, Reason: schemas.ForTakeDown, Text: "its author asks for it", Purge: true})
	if done, err = pushTo(t, dir, h, private("")); err != nil || !strings.Contains(states(done), "2024.06.1 purged, 2024.06.2 purged, 2024.06.3 pushed") || !strings.Contains(done.Decide[len(done.Decide)-1], "it holds tasks that were purged since") {
		t.Errorf("%+v: %v", done, err)
	}
	if _, err = pushTo(t, dir, h, private("2024.06.2")); err == nil || !strings.Contains(err.Error(), "never moves") {
		t.Errorf("a purged one: %v", err)
	}
}
