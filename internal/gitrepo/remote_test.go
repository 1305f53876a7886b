package gitrepo_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/gitrepo"
)

// TestSilentRemote: a remote that takes a question and does not answer, or answers so
// slowly that it never ends, is waited for aloud, and then given up by name.
func TestSilentRemote(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, scheme string
		pause        time.Duration // between two bytes; 0 is silence
	}{{"http", "http", 0}, {"git", "git", 0}, {"trickle", "http", 200 * time.Millisecond}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go trickle(c, tc.pause)
				}
			}()
			var waited atomic.Value
			ctx := gitrepo.WithPatience(t.Context(), gitrepo.Patience{
				Say: 100 * time.Millisecond, End: time.Second,
				Waiting: func(host string, silent time.Duration) { waited.Store(host) },
			})
			host := l.Addr().String()
			_, err = gitrepo.Look(ctx, tc.scheme+"://"+host+"/a/b", "", t.TempDir())
			if !errors.Is(err, gitrepo.ErrRemote) || !strings.Contains(err.Error(), host+" said nothing for 1s") {
				t.Errorf("error %v, want one that names %s", err, host)
			}
			if waited.Load() != host {
				t.Errorf("waited aloud for %v", waited.Load())
			}
		})
	}
}

// TestGone: a server that answers, and has no such repository, is told from one that fails.
func TestGone(t *testing.T) {
	t.Parallel()
	for status, gone := range map[int]bool{http.StatusNotFound: true, http.StatusServiceUnavailable: false, http.StatusForbidden: false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer s.Close()
		_, err := gitrepo.Look(t.Context(), s.URL+"/a/b.git", "", t.TempDir())
		if !errors.Is(err, gitrepo.ErrRemote) || errors.Is(err, gitrepo.ErrGone) != gone {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, url := range []string{"http://127.0.0.1:1/a/b.git", "file://" + t.TempDir() + "/none"} {
		if _, err := gitrepo.Look(t.Context(), url, "", t.TempDir()); !errors.Is(err, gitrepo.ErrRemote) || errors.Is(err, gitrepo.ErrGone) {
			t.Errorf("a server that is down, a disk that is away: %v", err)
		}
	}
}

// trickle begins an answer that never ends, and sends nothing of it without a pause.
func trickle(c net.Conn, pause time.Duration) {
	defer c.Close()
	if pause == 0 {
		_, _ = io.Copy(io.Discard, c) // the question, and what comes until git ends
		return
	}
	_, err := c.Write([]byte("HTTP/1.1 200 OK\r\nX: "))
	for err == nil {
		time.Sleep(pause)
		_, err = c.Write([]byte("x"))
	}
}
