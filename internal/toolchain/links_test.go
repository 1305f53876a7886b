package toolchain

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// projects answers for projects of an index by path; a path that it has not is 404.
func projects(t *testing.T, pages map[string]func(http.ResponseWriter)) (*Store, *index) {
	t.Helper()
	x := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if page := pages[r.URL.Path]; page != nil {
			page(w)
			return
		}
		http.NotFound(w, r)
	})
	return New(Host{Cache: t.TempDir(), Env: []string{"HOME=" + t.TempDir(), "PIP_CONFIG_FILE=" + os.DevNull, "UV_DEFAULT_INDEX=" + x.URL + "/simple/"}}), x
}

func says(kind, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text))
	}
}

func answers(status int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(status) }
}

// cut promises more than it sends.
func cut(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(text))
	}
}

const (
	widgetJSON = `{"info": {"home_page": null, "download_url": "", "project_urls": {"Source": "https://github.com/acme/widget", "Documentation": "https://widget.example.org"}}}`
	widgetPage = `{"files": [
		{"filename": "widget-2.0-py3-none-any.whl", "url": "/files/widget-2.0-py3-none-any.whl", "upload-time": "2026-01-02T00:00:00Z"},
		{"filename": "widget-1.9-py3-none-any.whl", "url": "/files/widget-1.9-py3-none-any.whl", "upload-time": "2025-01-02T00:00:00Z"},
		{"filename": "widget-2.0.tar.gz", "url": "/files/widget-2.0.tar.gz", "upload-time": "2026-01-02T00:00:01Z"}]}`
	widgetMetadata = "Metadata-Version: 2.1\nName: widget\nHome-page: UNKNOWN\nProject-URL: Source, https://github.com/acme/widget\nProject-URL: Docs: all, https://widget.example.org\n\nProject-URL: Source, https://example.org/of/the/description\n"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		pages map[string]func(http.ResponseWriter)
		want  []Link
		check func(error) bool
		asked int
	}{
		{"json", map[string]func(http.ResponseWriter){"/pypi/widget/json": says("application/json", widgetJSON)},
			[]Link{{"Documentation", "https://widget.example.org"}, {"Source", "https://github.com/acme/widget"}}, nil, 1},
		{"old_fields", map[string]func(http.ResponseWriter){"/pypi/widget/json": says("application/json", `{"info": {"home_page": "https://widget.example.org", "download_url": "https://example.org/d", "project_urls": null}}`)},
			[]Link{{"Download-URL", "https://example.org/d"}, {"Home-page", "https://widget.example.org"}}, nil, 1},
		{"no_address", map[string]func(http.ResponseWriter){"/pypi/widget/json": says("application/json", `{"info": {}}`)}, []Link{}, nil, 1},
		{"simple_alone", map[string]func(http.ResponseWriter){"/simple/widget/": says(jsonIndex, widgetPage), "/files/widget-2.0-py3-none-any.whl.metadata": says("application/octet-stream", widgetMetadata)},
			[]Link{{"Docs: all", "https://widget.example.org"}, {"Source", "https://github.com/acme/widget"}}, nil, 3},
		{"simple_without_metadata", map[string]func(http.ResponseWriter){"/simple/widget/": says(jsonIndex, widgetPage)}, nil, isRefused, 3},
		{"simple_without_wheels", map[string]func(http.ResponseWriter){"/simple/widget/": says(jsonIndex, `{"files": []}`)}, nil, isRefused, 2},
		{"unknown", nil, nil, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }, 2},
		{"limit", map[string]func(http.ResponseWriter){"/pypi/widget/json": answers(429)}, nil, isUnreachable, linkTries},
		{"out_of_order", map[string]func(http.ResponseWriter){"/pypi/widget/json": answers(503)}, nil, isUnreachable, linkTries},
		{"password", map[string]func(http.ResponseWriter){"/pypi/widget/json": answers(401)}, nil, isRefused, 1},
		{"cut", map[string]func(http.ResponseWriter){"/pypi/widget/json": cut(widgetJSON[:90])}, nil, isUnreachable, linkTries},
		{"whole_json_in_a_cut_answer", map[string]func(http.ResponseWriter){"/pypi/widget/json": cut(widgetJSON)}, nil, isUnreachable, linkTries},
		{"a_page_instead", map[string]func(http.ResponseWriter){"/pypi/widget/json": says("text/html", "<html>log in</html>")}, nil, isUnreachable, linkTries},
		{"something_else", map[string]func(http.ResponseWriter){"/pypi/widget/json": says("application/json", `{"message": "busy"}`)}, nil, isUnreachable, linkTries},
		{"cut_metadata", map[string]func(http.ResponseWriter){"/simple/widget/": says(jsonIndex, widgetPage), "/files/widget-2.0-py3-none-any.whl.metadata": cut(widgetMetadata)}, nil, isUnreachable, 3 * linkTries},
		{"page_for_metadata", map[string]func(http.ResponseWriter){"/simple/widget/": says(jsonIndex, widgetPage), "/files/widget-2.0-py3-none-any.whl.metadata": says("text/html", "<html>\nlog in")}, nil, isUnreachable, 3 * linkTries},
		{"json_out_of_order_beside_a_simple_page", map[string]func(http.ResponseWriter){"/pypi/widget/json": answers(500), "/simple/widget/": says(jsonIndex, `{"files": []}`)}, nil, isUnreachable, linkTries},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, x := projects(t, tc.pages)
			got, err := s.Links(t.Context(), "widget")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if tc.check == nil && err != nil || tc.check != nil && !tc.check(err) {
				t.Errorf("%v", err)
			}
			if len(x.asked) != tc.asked {
				t.Errorf("asked %v, not %d times", x.asked, tc.asked)
			}
		})
	}
}

func isRefused(err error) bool     { return errors.As(err, new(*Refused)) }
func isUnreachable(err error) bool { return errors.As(err, new(*Unreachable)) }

// An index that answers again is not put off, and a further index is asked before the default.
func TestLinksGoOn(t *testing.T) {
	t.Parallel()
	times := 0
	s, x := projects(t, map[string]func(http.ResponseWriter){"/pypi/widget/json": func(w http.ResponseWriter) {
		if times++; times < linkTries {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		says("application/json", widgetJSON)(w)
	}})
	if links, err := s.Links(t.Context(), "widget"); err != nil || len(links) != 2 {
		t.Errorf("%v, %v", links, err)
	}
	_, own := projects(t, map[string]func(http.ResponseWriter){"/root/+simple/box/": says(jsonIndex, strings.ReplaceAll(widgetPage, "widget", "box")), "/files/box-2.0-py3-none-any.whl.metadata": says("text/plain", widgetMetadata)})
	s.host.Env = append(s.host.Env, "UV_INDEX=own="+own.URL+"/root/+simple")
	if links, err := s.Links(t.Context(), "box"); err != nil || len(links) != 2 {
		t.Errorf("%v, %v", links, err)
	}
	if want := []string{"/pypi/widget/json", "/pypi/widget/json", "/pypi/widget/json"}; !cmp.Equal(x.asked, want) {
		t.Errorf("the default was asked %v", x.asked)
	}
	if _, err := New(Host{Env: []string{"UV_DEFAULT_INDEX=/srv/wheels"}}).Links(t.Context(), "box"); !isRefused(err) {
		t.Error(err)
	}
}
