package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/packages"
)

// Link is an address that a project of a package index gives, with what the project calls it.
type Link struct{ Label, URL string }

// Labels of the addresses that metadata has in fields of their own.
const (
	LabelHomepage = "Home-page"
	LabelDownload = "Download-URL"
)

// linkTries is how often an index that does not answer is asked for one project.
const linkTries = 3

// Links are the addresses that a project gives in its newest metadata, sorted by label: by PyPI's
// JSON API, and from the metadata file of its newest wheel (PEP 658) where an index has the simple
// API alone. Errors: fs.ErrNotExist where no index has the project, *Unreachable or *Refused.
func (s *Store) Links(ctx context.Context, name string) (links []Link, err error) {
	client := s.host.client()
	defer client.CloseIdleConnections()
	for try := 1; ; try++ {
		links, err = s.links(ctx, client, name)
		if try == linkTries || !errors.As(err, new(*Unreachable)) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(try) * s.host.Pause):
		}
	}
	slices.SortStableFunc(links, func(a, b Link) int { return strings.Compare(a.Label, b.Label) })
	return links, err
}

func (s *Store) links(ctx context.Context, client *http.Client, name string) ([]Link, error) {
	indexes := s.host.indexes()
	for _, index := range append(slices.Clone(indexes[1:]), indexes[0]) {
		at, err := url.Parse(index)
		if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
			return nil, &Refused{Err: fmt.Errorf("the package index %q is not an http or https address", visibleIndex(index)), How: "see UV_DEFAULT_INDEX and PIP_INDEX_URL"}
		}
		if root, ok := strings.CutSuffix(at.Path, "/simple"); ok {
			api := *at
			api.Path, api.RawPath = root, ""
			links, err := jsonLinks(ctx, client, api.JoinPath("pypi", name, "json"))
			if !errors.As(err, new(*Missing)) {
				return links, err
			}
		}
		links, err := s.simpleLinks(ctx, client, at, name)
		if !errors.As(err, new(*Missing)) {
			return links, err
		}
	}
	return nil, fs.ErrNotExist
}

// jsonLinks asks PyPI's JSON API.
func jsonLinks(ctx context.Context, client *http.Client, at *url.URL) ([]Link, error) {
	b, err := read(ctx, client, at)
	if err != nil {
		return nil, err
	}
	var said struct {
		Info *struct {
			Links    map[string]string `json:"project_urls"`
			Home     string            `json:"home_page"`
			Download string            `json:"download_url"`
		}
	}
	if err := json.Unmarshal(b, &said); err != nil || said.Info == nil {
		return nil, &Unreachable{Err: fmt.Errorf("reading %s: the answer does not describe a project", at.Redacted())}
	}
	links := []Link{{LabelHomepage, said.Info.Home}, {LabelDownload, said.Info.Download}}
	for label, address := range said.Info.Links {
		links = append(links, Link{label, address})
	}
	return slices.DeleteFunc(links, func(l Link) bool { return l.URL == "" }), nil
}

// simpleLinks reads the metadata file of the newest wheel that the simple API lists.
func (s *Store) simpleLinks(ctx context.Context, client *http.Client, index *url.URL, name string) ([]Link, error) {
	listed, err := list(ctx, client, index.JoinPath(name, "/"))
	if err != nil {
		return nil, err
	}
	none := &Refused{
		Err: fmt.Errorf("%s has neither the JSON API nor a metadata file for %s", index.Redacted(), name),
		How: "name an index that has one of them (UV_DEFAULT_INDEX)",
	}
	wheels := slices.DeleteFunc(listed, func(f packages.Listed) bool { return !strings.HasSuffix(f.Name, ".whl") })
	if len(wheels) == 0 {
		return nil, none
	}
	newest := wheels[len(wheels)-1] // indexes list the oldest version first
	for _, f := range wheels {
		if uploaded(f) > uploaded(newest) {
			newest = f
		}
	}
	at, err := index.Parse(newest.URL + ".metadata")
	if err != nil {
		return nil, none
	}
	if at.Host == index.Host && at.User == nil {
		at.User = index.User
	}
	b, err := read(ctx, client, at)
	if errors.As(err, new(*Missing)) {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	return metadataLinks(at, b)
}

func uploaded(f packages.Listed) string {
	day, _ := f.Fields["upload-time"].(string)
	return day
}

// metadataLinks reads the fields of core metadata, which end at the first empty line.
func metadataLinks(at *url.URL, b []byte) (links []Link, err error) {
	known := false
	for line := range strings.Lines(string(b)) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch {
		case field == "":
			return links, nil
		case field == "Metadata-Version":
			known = true
		case !known:
			return nil, &Unreachable{Err: fmt.Errorf("reading %s: the answer does not describe a project", at.Redacted())}
		case (field == LabelHomepage || field == LabelDownload) && value != "UNKNOWN":
			links = append(links, Link{field, value})
		case field == "Project-URL":
			if label, address, ok := strings.Cut(value, ","); ok {
				links = append(links, Link{strings.TrimSpace(label), strings.TrimSpace(address)})
			}
		}
	}
	return links, nil
}

// read is the whole of a small answer; one that is cut is *Unreachable.
func read(ctx context.Context, client *http.Client, at *url.URL) ([]byte, error) {
	const patience = time.Minute
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := get(within, client, at, "")
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &Unreachable{Err: fmt.Errorf("asking %s: no answer within %s", at.Redacted(), patience)}
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	const most = 64 << 20 // the JSON of a project with ten thousand files
	b, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err != nil {
		return nil, &Unreachable{Err: fmt.Errorf("reading %s: %w", at.Redacted(), err)}
	}
	return b, nil
}
