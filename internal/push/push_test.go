package push

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/verify"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		word, kind, where, meant string
	}{
		{"hf:acme/widgets", "hf", "acme/widgets", ""},
		{"git:git@git.example.org:acme/widgets.git", "git", "git@git.example.org:acme/widgets.git", ""},
		{"git:../widgets.git", "git", "../widgets.git", ""},
		{"git:--upload-pack=x", "", "", ""},
		{"hf:widgets", "", "", ""},
		{"hg:acme/widgets", "", "", "hf:acme/widgets"},
		{"gti:/srv/widgets.git", "", "", "git:/srv/widgets.git"},
		{"acme/widgets", "", "", "hf:acme/widgets"},
		{hosts.HuggingFace + "/datasets/acme/widgets/tree/main", "", "", "hf:acme/widgets"},
		{"hf:" + hosts.HuggingFace + "/datasets/acme/widgets", "", "", "hf:acme/widgets"},
		{"https://git.example.org/acme/widgets", "", "", "git:https://git.example.org/acme/widgets"},
		{"git@git.example.org:acme/widgets.git", "", "", "git:git@git.example.org:acme/widgets.git"},
		{"/srv/widgets.git", "", "", "git:/srv/widgets.git"},
		{"widgets", "", "", ""},
	} {
		got, err := Parse(tt.word)
		if tt.kind != "" {
			if err != nil || got != (Target{tt.kind, tt.where}) || got.String() != tt.word {
				t.Errorf("%s: %v, %v", tt.word, got, err)
			}
			continue
		}
		if !errors.Is(err, ErrUnmet) || strings.Contains(err.Error(), "did you mean") != (tt.meant != "") || !strings.Contains(err.Error(), tt.meant) {
			t.Errorf("%s: %v, want %q", tt.word, err, tt.meant)
		}
	}
}

// A parcel is at a tree whose other files are its own, whatever the feed and a remote's attributes are.
func TestIsAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	// git hash-object and sha256sum of "hello\n".
	const blob, sum = "blob:ce013625030ba8dba906f756967f9e9ca394464a", "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
	p := Parcel{Feed: "feed.json", Files: map[string]string{"a": write("a", "hello\n"), "b": write("b", "hello\n"), "feed.json": write("feed.json", "x")}}
	for _, tt := range []struct {
		name  string
		has   Files
		other []string
		extra []string
		at    bool
	}{
		{"same", Files{"a": blob, "b": sum, "feed.json": blob, ".gitattributes": blob}, []string{"feed.json"}, nil, true},
		{"without_a_feed", Files{"a": blob, "b": sum}, []string{"feed.json"}, nil, true},
		{"another", Files{"a": blob, "b": "blob:" + strings.Repeat("0", 40), "feed.json": blob}, []string{"b", "feed.json"}, nil, false},
		{"one_more", Files{"a": blob, "b": sum, "c": sum}, []string{"feed.json"}, []string{"c"}, false},
		{"none", nil, []string{"a", "b", "feed.json"}, nil, false},
	} {
		other, extra, err := p.Differences(tt.has)
		at, err2 := p.IsAt(tt.has)
		if err = errors.Join(err, err2); err != nil || !slices.Equal(other, tt.other) || !slices.Equal(extra, tt.extra) || at != tt.at {
			t.Errorf("%s: %v, %v, %t, %v", tt.name, other, extra, at, err)
		}
	}
}

// What a hub or its client says comes without the token, and the client sees nothing else of the
// environment that is the hub's.
func TestHubHidesItsToken(t *testing.T) {
	t.Parallel()
	const token = "hf_tokenOfATest"
	h, err := NewHub("acme/widgets", "http://hub.example/", " "+token+"\n", false, verify.Options{Env: []string{"PATH=/bin", "HF_TOKEN=" + token, "HF_DEBUG=1", "PYTHONPATH=x", "HUGGING_FACE_HUB_TOKEN=" + token}})
	if err != nil || h.Token != token || h.Endpoint != "http://hub.example" || !slices.Equal(h.Client.Env, []string{"PATH=/bin"}) {
		t.Fatalf("%+v, %v", h, err)
	}
	if slices.Contains(h.env(false), "HF_TOKEN="+token) || !slices.Contains(h.env(true), "HF_TOKEN="+token) {
		t.Error("the token is where it is not needed, or not where it is")
	}
	if err := h.hide(errors.New("curl -H 'Bearer " + token + "'")); strings.Contains(err.Error(), token) {
		t.Error(err)
	}
	for status, want := range map[int]error{0: ErrAway, 401: ErrUnmet, 403: ErrUnmet, 408: ErrAway, 429: ErrAway, 500: ErrAway, 503: ErrAway, 400: &RefusedError{}, 404: &RefusedError{}, 409: &RefusedError{}, 412: &RefusedError{}} {
		err := h.fault("commit", &status, "words")
		if r := new(RefusedError); !errors.Is(err, want) && !(errors.As(err, &r) && errors.As(want, &r)) {
			t.Errorf("%d: %v", status, err)
		}
	}
}
