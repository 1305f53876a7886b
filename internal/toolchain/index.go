package toolchain

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/http/httpproxy"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/packages"
)

// indexes are where this host has its Python packages from, in the order in which
// they are asked: as uv and pip are told, else PyPI. What is taken from one is held
// to its digest, so that it does not matter who serves it.
func (h Host) indexes() []string {
	pip := h.pipSettings()
	first := cmp.Or(h.env("UV_DEFAULT_INDEX"), h.env("UV_INDEX_URL"), h.env("PIP_INDEX_URL"), pip["index-url"], "https://"+hosts.PyPI+"/simple")
	words := []string{first}
	for _, more := range []string{h.env("UV_INDEX"), h.env("UV_EXTRA_INDEX_URL"), h.env("PIP_EXTRA_INDEX_URL"), pip["extra-index-url"]} {
		words = append(words, strings.Fields(more)...)
	}
	var out []string
	for _, word := range words {
		// uv allows a name before the URL: name=https://…
		if name, rest, named := strings.Cut(word, "="); named && !strings.ContainsAny(name, ":/") {
			word = rest
		}
		if word = strings.TrimSuffix(word, "/"); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// pipSettings are index-url and extra-index-url of pip's configuration files; a later
// file and a later section outrank an earlier one, as in pip.
func (h Host) pipSettings() map[string]string {
	home := h.env("HOME")
	files := []string{"/etc/xdg/pip/pip.conf", "/etc/pip.conf", filepath.Join(home, ".pip", "pip.conf"),
		filepath.Join(cmp.Or(h.env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "pip", "pip.conf")}
	switch file := h.env("PIP_CONFIG_FILE"); file {
	case os.DevNull:
		files = nil // how pip is told to read none
	case "":
	default:
		files = append(files, file)
	}
	out := map[string]string{}
	for _, file := range files {
		if !filepath.IsAbs(file) {
			continue // no home
		}
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		readPipConfig(f, out)
		f.Close()
	}
	return out
}

// readPipConfig reads the lines key = value of [global], [install] and [download].
// A value may go on in indented lines.
func readPipConfig(r io.Reader, out map[string]string) {
	section, key := "", ""
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case text[0] == '[':
			section, key = strings.Trim(text, "[]"), ""
		case section != "global" && section != "install" && section != "download":
		case line[0] == ' ' || line[0] == '\t':
			if key != "" {
				out[key] = strings.TrimSpace(out[key] + " " + text)
			}
		default:
			name, value, _ := strings.Cut(text, "=")
			key = strings.ReplaceAll(strings.TrimSpace(name), "_", "-")
			out[key] = strings.TrimSpace(value)
		}
	}
}

// client talks as this host does: through its proxy, trusting its certificates.
func (h Host) client() *http.Client {
	proxy := httpproxy.Config{
		HTTPProxy:  cmp.Or(h.env("HTTP_PROXY"), h.env("http_proxy")),
		HTTPSProxy: cmp.Or(h.env("HTTPS_PROXY"), h.env("https_proxy")),
		NoProxy:    cmp.Or(h.env("NO_PROXY"), h.env("no_proxy")),
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, file := range []string{h.CABundle, h.env("SSL_CERT_FILE"), h.env("PIP_CERT"), h.env("REQUESTS_CA_BUNDLE"), h.env("CURL_CA_BUNDLE")} {
		if pem, err := os.ReadFile(file); err == nil {
			pool.AppendCertsFromPEM(pem)
		}
	}
	const patience = 30 * time.Second // for the head of an answer, not for the file
	via := proxy.ProxyFunc()
	return &http.Client{Transport: &http.Transport{
		Proxy:           func(r *http.Request) (*url.URL, error) { return via(r.URL) },
		TLSClientConfig: &tls.Config{RootCAs: pool}, TLSHandshakeTimeout: patience, ResponseHeaderTimeout: patience,
	}}
}

// fetchWheel writes one file of a project to out. It tries each index; where none has
// the file, what the first one said counts, unless one of them may have it later.
func (s *Store) fetchWheel(ctx context.Context, p program, w wheel, out io.WriteSeeker) (int64, error) {
	client := s.host.client()
	defer client.CloseIdleConnections()
	var faults []error
	for _, index := range s.host.indexes() {
		size, err := s.fetchFrom(ctx, client, index, p, w, out)
		if err == nil || ctx.Err() != nil {
			return size, errors.Join(err, ctx.Err())
		}
		var lacks *Missing
		if errors.As(err, &lacks) {
			lacks.Name, lacks.Version = p.name, p.version
			lacks.How += fmt.Sprintf("; name an index that has it with UV_DEFAULT_INDEX, or put %s %s into PATH", p.name, p.version)
		}
		faults = append(faults, err)
	}
	for _, err := range faults {
		var later *Unreachable
		if errors.As(err, &later) {
			return 0, err
		}
	}
	return 0, faults[0]
}

func (s *Store) fetchFrom(ctx context.Context, client *http.Client, index string, p program, w wheel, out io.WriteSeeker) (int64, error) {
	at, err := url.Parse(index)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return 0, fmt.Errorf("the package index %q is not an http or https address; see UV_DEFAULT_INDEX and PIP_INDEX_URL", visibleIndex(index))
	}
	s.tell(fmt.Sprintf("fetching %s %s from %s into %s", p.name, p.version, at.Host, filepath.Join(s.host.Cache, "toolchains")))
	page := at.JoinPath(p.name, "/")
	link, err := findLink(ctx, client, page, w.file)
	if err != nil {
		return 0, err
	}
	if link == nil {
		return 0, s.lacks(p.name, page, "has no file "+w.file)
	}
	if link.User == nil && link.Host == page.Host {
		link.User = page.User
	}
	answer, err := get(ctx, client, link, "")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	const most = 256 << 20 // several times what it is
	sum := sha256.New()
	size, err := copyBody(io.MultiWriter(out, sum), io.LimitReader(answer.Body, most), link)
	if err != nil {
		return 0, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != w.sha256 {
		return 0, fmt.Errorf("%s has the sha256 %s, and %s is expected: the index serves another file under this name, or the transfer was damaged", link.Redacted(), got, w.sha256)
	}
	return size, nil
}

// copyBody distinguishes a transfer that broke off (not now) from a disk that is full.
func copyBody(to io.Writer, from io.Reader, link *url.URL) (int64, error) {
	reads := &readFault{r: from}
	size, err := io.Copy(to, reads)
	if reads.err != nil {
		return size, &Unreachable{Err: fmt.Errorf("reading %s: %w", link.Redacted(), reads.err)}
	}
	return size, err
}

type readFault struct {
	r   io.Reader
	err error
}

func (f *readFault) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

const (
	jsonIndex = "application/vnd.pypi.simple.v1+json"
	htmlIndex = "text/html"
)

// findLink looks a file up in a project's page of the simple index; nil where the page does not
// name it.
func findLink(ctx context.Context, client *http.Client, page *url.URL, file string) (*url.URL, error) {
	listed, err := list(ctx, client, page)
	for _, f := range listed {
		if f.Name == file {
			return url.Parse(f.URL)
		}
	}
	return nil, err
}

// list reads a project's page of the simple index (PEP 503, PEP 691).
func list(ctx context.Context, client *http.Client, page *url.URL) ([]packages.Listed, error) {
	answer, err := get(ctx, client, page, jsonIndex+", "+htmlIndex+";q=0.1")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	const most = 64 << 20
	body := io.LimitReader(answer.Body, most)
	// Relative links are meant from where the page was found, after redirects.
	read := linksIn
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == jsonIndex {
		read = filesIn
	}
	listed, err := read(body, answer.Request.URL)
	if err != nil {
		err = &Unreachable{Err: fmt.Errorf("reading %s: %w", page.Redacted(), err)}
	}
	return listed, err
}

func filesIn(page io.Reader, at *url.URL) ([]packages.Listed, error) {
	var listed struct{ Files []map[string]any }
	if err := json.NewDecoder(page).Decode(&listed); err != nil {
		return nil, err
	}
	var out []packages.Listed
	for _, f := range listed.Files {
		name, _ := f["filename"].(string)
		ref, _ := f["url"].(string)
		if link, err := at.Parse(ref); err == nil && name != "" {
			delete(f, "url")
			out = append(out, packages.Listed{Name: name, URL: link.String(), Fields: f})
		}
	}
	return out, nil
}

// linksIn are the links of an HTML page at an address.
func linksIn(page io.Reader, at *url.URL) ([]packages.Listed, error) {
	var out []packages.Listed
	tokens := html.NewTokenizer(page)
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				return nil, err
			}
			return out, nil
		case html.StartTagToken:
			attributes := map[string]string{}
			for _, a := range tokens.Token().Attr {
				attributes[a.Key] = a.Val
			}
			link, err := at.Parse(attributes["href"])
			if err != nil || attributes["href"] == "" {
				continue
			}
			fields := map[string]any{"filename": path.Base(link.Path), "hashes": map[string]string{}}
			if algorithm, sum, ok := strings.Cut(link.Fragment, "="); ok {
				fields["hashes"] = map[string]string{algorithm: sum}
			}
			for _, key := range []string{"requires-python", "yanked", "upload-time"} {
				if v, ok := attributes["data-"+key]; ok {
					fields[key] = v
				}
			}
			link.Fragment = ""
			out = append(out, packages.Listed{Name: path.Base(link.Path), URL: link.String(), Fields: fields})
		}
	}
}

// get asks for one address; what is no answer of 200 is an error of its kind.
func get(ctx context.Context, client *http.Client, at *url.URL, accept string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	answer, err := client.Do(request)
	if err != nil {
		var web *url.Error
		if errors.As(err, &web) {
			err = web.Err // the address once, and without a password
		}
		err = fmt.Errorf("asking %s: %w", at.Redacted(), err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case isCertificate(err):
			return nil, &Refused{Err: err, How: howCertificates}
		case strings.Contains(err.Error(), "Proxy Authentication Required"):
			return nil, &Refused{Err: err, How: howProxy}
		}
		return nil, &Unreachable{Err: err}
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	answer.Body.Close()
	said := fmt.Errorf("%s answers %s", at.Redacted(), answer.Status)
	switch answer.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return nil, lacking(said)
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, &Refused{Err: said, How: "put the user and password into the address of the index (UV_DEFAULT_INDEX), or name an index that lets you in"}
	case http.StatusProxyAuthRequired:
		return nil, &Refused{Err: said, How: howProxy}
	}
	return nil, &Unreachable{Err: said}
}

func lacking(said error) error {
	return &Missing{How: said.Error()} // fetchWheel says of what
}

func (s *Store) lacks(project string, page *url.URL, what string) error {
	return lacking(fmt.Errorf("%s of %s %s", page.Redacted(), project, what))
}

const (
	howCertificates = "this machine does not trust the certificate: set SSL_CERT_FILE (or build.ca_bundle) to a bundle that holds its authority, or apt-get install ca-certificates"
	howProxy        = "the machine's proxy asks for a password: put it into HTTPS_PROXY (http://user:password@host:port)"
)

// isCertificate distinguishes a certificate that is not trusted from a server that does not answer.
func isCertificate(err error) bool {
	var bad *tls.CertificateVerificationError
	return errors.As(err, &bad)
}

// visibleIndex is an address of an index as it may be shown.
func visibleIndex(index string) string {
	if u, err := url.Parse(index); err == nil {
		return u.Redacted()
	}
	return "…"
}
