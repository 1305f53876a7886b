package bwrap_test

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/schemas"
)

// TestPort: a layer reads on another machine as where it was made: rights, owners, times, links, and what it hides
// of the layer below it. An overlay and a copy are two ways to keep one.
func TestPort(t *testing.T) {
	t.Parallel()
	script := func(s string) []schemas.Command { return []schemas.Command{{Argv: []string{"bash", "-euc", s}}} }
	lower := sandbox.Build{Key: "sha256:lower", Steps: script(`mkdir -p /opt/env/lib/gone /opt/env/whole
echo a >/opt/env/lib/a; echo b >/opt/env/lib/gone/b; echo c >/opt/env/lib/c; echo w >/opt/env/whole/w`)}
	upper := sandbox.Build{Key: "sha256:upper", Steps: script(`cd /opt/env/lib; rm -r gone; rm c
ln a hard; ln -s /etc/passwd soft; ln -s a near; mkfifo pipe; echo x >closed; chmod 4711 closed; mkdir dark; echo d >dark/d; chmod 555 dark
rm -r /opt/env/whole; mkdir /opt/env/whole; echo v >/opt/env/whole/v
touch -d 2001-02-03T04:05:06.789 a; touch -d 2002-02-03 dark`)}
	look := `cd /opt/env; find . -printf '%P %y %m %u %s %T@ %l %n\n' | sort; find . -type f -readable | sort | xargs sha256sum`
	for _, weak := range []bool{false, true} {
		here, there := open(t, bwrap.Options{}), open(t, bwrap.Options{})
		if weak {
			here.Weaken()
			look = strings.Replace(strings.Replace(look, "find .", "find . ! -type p", 1), " %n", "", 1) // a copy has no pipes and no hard links
		}
		say := func(s *bwrap.Sandbox, l sandbox.Layer) string {
			t.Helper()
			r, err := s.Run(t.Context(), sandbox.Run{Layer: l, Command: script(look)[0]})
			if err != nil || r.ExitCode != 0 {
				t.Fatalf("%v %s", err, r.Output)
			}
			return string(r.Output)
		}
		made := func(s *bwrap.Sandbox, b sandbox.Build, parent sandbox.Layer) sandbox.Layer {
			t.Helper()
			b.Parent = parent
			l, r, err := s.Build(t.Context(), b)
			if err != nil {
				t.Fatalf("%v %s", err, r.Output)
			}
			return l
		}
		base := func(s *bwrap.Sandbox) sandbox.Layer {
			t.Helper()
			l, err := s.Base(t.Context(), sandbox.Base{})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		below := base(there)
		var want string
		for parent, b := base(here), []sandbox.Build{lower, upper}; len(b) > 0; b = b[1:] {
			parent = made(here, b[0], parent)
			want = say(here, parent)
			var packed bytes.Buffer
			if err := here.Pack(t.Context(), parent, &packed); err != nil {
				t.Fatal(err)
			}
			var err error
			if below, err = there.Unpack(t.Context(), b[0].Key, below, &packed); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, say(there, below)); diff != "" {
			t.Errorf("weak %t: (-here +there):\n%s", weak, diff)
		}
		if l, ok, err := there.Find(t.Context(), upper.Key); !ok || err != nil || l != below {
			t.Errorf("%v %v %v", l, ok, err)
		}
	}
}

// TestUnpackStaysBelow: content that leads outside of the layer, or makes a device, is refused, and no layer is kept.
func TestUnpackStaysBelow(t *testing.T) {
	t.Parallel()
	s := open(t, bwrap.Options{})
	base, err := s.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	for name, headers := range map[string][]tar.Header{
		"dots":   {{Typeflag: tar.TypeReg, Name: "../../outside", Mode: 0o644}},
		"link":   {{Typeflag: tar.TypeSymlink, Name: "way", Linkname: "/tmp"}, {Typeflag: tar.TypeReg, Name: "way/outside", Mode: 0o644}},
		"hard":   {{Typeflag: tar.TypeLink, Name: "x", Linkname: "../../../../../../etc/passwd"}},
		"device": {{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}},
		"twice":  {{Typeflag: tar.TypeReg, Name: "a", Mode: 0o644}, {Typeflag: tar.TypeReg, Name: "a", Mode: 0o644}},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		key := schemas.Digest("sha256:bad" + name)
		if _, err := s.Unpack(t.Context(), key, base, io.Reader(&b)); err == nil {
			t.Errorf("%s: taken", name)
		}
		if _, ok, _ := s.Find(t.Context(), key); ok {
			t.Errorf("%s: a layer was kept", name)
		}
	}
}
