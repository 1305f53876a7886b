// Package pushtest is a hub for tests: dataset repositories with commits, large files, branches and
// tags in memory, behind the part of the public hub's API that its client calls for a push and for
// opening what was pushed. Faults come in the place of answers.
//
// It never says anything of a file but what was sent to it, and commits all of a push or nothing.
package pushtest

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // git names its objects by it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Token is the one that may write, to repositories of every owner but Foreign.
const (
	Token   = "hf_tokenOfTests"
	Foreign = "somebody-else"
)

// Fault is said in place of an answer, or done to it.
type Fault struct {
	Method string `json:"method"` // "" is any
	Path   string `json:"path"`   // only where the path holds it
	After  int    `json:"after"`  // so many fitting requests are answered first
	Times  int    `json:"times"`
	Status int    `json:"status"`
	Body   string `json:"body"`
	// Cut ends the connection in the middle of the request's body; Lost does what is asked, and
	// ends the connection in the place of the answer.
	Cut  bool `json:"cut"`
	Lost bool `json:"lost"`
	// Race makes a commit of somebody else's first.
	Race bool `json:"race"`
	// Damage changes a byte of a file of this path that is served or sent.
	Damage string `json:"damage"`
}

// file is a file of a commit.
type file struct {
	text []byte
	lfs  bool
}

func (f file) sum() string { d := sha256.Sum256(f.text); return hex.EncodeToString(d[:]) }

// blob is git's name of it; of a large file, that of its pointer.
func (f file) blob() string {
	text := f.text
	if f.lfs {
		text = fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", f.sum(), len(f.text))
	}
	h := sha1.New() //nolint:gosec // as above
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

type commit struct {
	id, parent, title string
	files             map[string]file
}

type repo struct {
	private bool
	head    string
	commits map[string]*commit
	tags    map[string]string
}

func (r *repo) at(revision string) *commit {
	if revision == "main" {
		revision = r.head
	}
	if id, ok := r.tags[revision]; ok {
		revision = id
	}
	return r.commits[revision]
}

// add makes a commit upon head.
func (r *repo) add(title string, files map[string]file) *commit {
	h := sha1.New() //nolint:gosec // as above
	fmt.Fprintf(h, "%s\x00%s\x00%d\x00", r.head, title, len(r.commits))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s\x00%s\x00", name, files[name].sum())
	}
	c := &commit{hex.EncodeToString(h.Sum(nil)), r.head, title, files}
	r.commits[c.id], r.head = c, c.id
	return c
}

// Hub is one hub.
type Hub struct {
	http *httptest.Server

	mu      sync.Mutex
	repos   map[string]*repo
	objects map[string][]byte
	faults  []Fault
	writes  []string
	bad     []string
}

// Start serves an empty hub. Faults come first, in order, each as often as it says.
func Start(faults ...Fault) *Hub {
	h := &Hub{repos: map[string]*repo{}, objects: map[string][]byte{}, faults: faults}
	h.http = httptest.NewServer(http.HandlerFunc(h.serve))
	return h
}

// URL is its address.
func (h *Hub) URL() string { return h.http.URL }

// Close ends it.
func (h *Hub) Close() { h.http.CloseClientConnections(); h.http.Close() }

// Break gives it other faults.
func (h *Hub) Break(faults ...Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = faults
}

// Writes are the requests that changed something or were to, in order.
func (h *Hub) Writes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.writes)
}

// Bad are requests that this hub does not know.
func (h *Hub) Bad() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.bad)
}

// Head is the newest commit of a repository; "" for none.
func (h *Hub) Head(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.repos[name]; r != nil {
		return r.head
	}
	return ""
}

// Tags are the commits of tags.
func (h *Hub) Tags(name string) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.repos[name]; r != nil {
		return maps.Clone(r.tags)
	}
	return nil
}

// Private reports whether a repository is.
func (h *Hub) Private(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.repos[name].private
}

// Files are those of a revision.
func (h *Hub) Files(name, revision string) map[string][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string][]byte{}
	if r := h.repos[name]; r != nil && r.at(revision) != nil {
		for name, f := range r.at(revision).files {
			out[name] = f.text
		}
	}
	return out
}

// Commit makes a commit of somebody else's: files that it writes, nil for one that goes. The
// repository is made where it is missing.
func (h *Hub) Commit(name string, files map[string][]byte) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.repos[name]
	if r == nil {
		r = h.create(name, false)
	}
	return r.somebody(files).id
}

func (r *repo) somebody(files map[string][]byte) *commit {
	all := maps.Clone(r.commits[r.head].files)
	for name, text := range files {
		all[name] = file{text: text}
		if text == nil {
			delete(all, name)
		}
	}
	return r.add("Update "+strings.Join(slices.Sorted(maps.Keys(files)), ", "), all)
}

// MoveTag does what nobody should: it points a tag to another commit, or takes it away for "".
func (h *Hub) MoveTag(name, tag, to string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repos[name].tags[tag] = to
	if to == "" {
		delete(h.repos[name].tags, tag)
	}
}

func (h *Hub) create(name string, private bool) *repo {
	r := &repo{private: private, commits: map[string]*commit{}, tags: map[string]string{}}
	r.add("initial commit", map[string]file{".gitattributes": {text: []byte("*.parquet filter=lfs diff=lfs merge=lfs -text\n*.gz filter=lfs diff=lfs merge=lfs -text\n")}})
	h.repos[name] = r
	return r
}

// fault is the next one that is due.
func (h *Hub) fault(req *http.Request) *Fault {
	for i := range h.faults {
		f := &h.faults[i]
		switch {
		case f.Times <= 0, f.Method != "" && f.Method != req.Method, !strings.Contains(req.URL.Path, f.Path):
			continue
		case f.After > 0:
			f.After--
			continue
		}
		f.Times--
		return f
	}
	return nil
}

func (h *Hub) serve(w http.ResponseWriter, req *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.fault(req)
	if f == nil {
		h.answer(w, req, "")
		return
	}
	switch {
	case f.Cut:
		_, _ = io.CopyN(io.Discard, req.Body, max(req.ContentLength/2, 1))
		cut(w)
	case f.Lost:
		h.answer(httptest.NewRecorder(), req, "")
		cut(w)
	case f.Race:
		for _, r := range h.repos {
			r.somebody(map[string][]byte{"theirs.txt": []byte("somebody else's\n")})
		}
		h.answer(w, req, "")
	case f.Damage != "":
		h.answer(w, req, f.Damage)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
	}
}

// cut ends a connection without an answer.
func cut(w http.ResponseWriter) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = c.Close()
	}
}

// failure is an answer that is none, as the hub's client reads it.
func failure(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.Header().Set("X-Error-Message", message)
	say(w, status, map[string]any{"error": message})
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// call is one request to one repository.
type call struct {
	*Hub
	w      http.ResponseWriter
	req    *http.Request
	name   string
	repo   *repo
	rest   string // of the path, after what it asks for
	damage string
}

func (h *Hub) answer(w http.ResponseWriter, req *http.Request, damage string) {
	p := req.URL.Path
	writes := req.Method != http.MethodGet && req.Method != http.MethodHead && !strings.Contains(p, "/paths-info/") && p != "/api/validate-yaml"
	if writes {
		h.writes = append(h.writes, req.Method+" "+p)
	}
	token, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if token != "" && token != Token {
		failure(w, 401, "", "Invalid credentials in Authorization header")
		return
	}
	if strings.HasPrefix(p, "/objects/") { // of the storage: its address is the right to write
		h.put(w, req, damage)
		return
	}
	if writes && token == "" {
		failure(w, 401, "", "Invalid username or password.")
		return
	}
	switch p {
	case "/api/whoami-v2":
		if token == "" {
			failure(w, 401, "", "Invalid username or password.")
			return
		}
		say(w, 200, map[string]any{"name": "tests", "type": "user", "orgs": []any{}})
		return
	case "/api/repos/create":
		h.serveCreate(w, req)
		return
	case "/api/validate-yaml":
		h.validate(w, req)
		return
	}
	c, verb := h.route(w, req, damage)
	if c == nil {
		h.bad = append(h.bad, req.Method+" "+req.URL.RequestURI())
		failure(w, 404, "", "no such page")
		return
	}
	if c.repo == nil || c.repo.private && token == "" {
		failure(w, 401, "RepoNotFound", "Repository not found")
		return
	}
	verb(c)
}

// route finds repository and verb of a path.
func (h *Hub) route(w http.ResponseWriter, req *http.Request, damage string) (*call, func(*call)) {
	p, isAPI := strings.CutPrefix(req.URL.Path, "/api")
	p, ok := strings.CutPrefix(p, "/datasets/")
	parts := strings.SplitN(p, "/", 4)
	if !ok || len(parts) < 2 {
		return nil, nil
	}
	c := &call{Hub: h, w: w, req: req, name: parts[0] + "/" + strings.TrimSuffix(parts[1], ".git"), damage: damage}
	c.repo = h.repos[c.name]
	what := ""
	if len(parts) > 2 {
		what = parts[2]
	}
	if len(parts) > 3 {
		c.rest = parts[3]
	}
	verbs := map[string]func(*call){
		"GET ": (*call).info, "GET revision": (*call).info, "GET refs": (*call).refs, "GET tree": (*call).tree, "POST paths-info": (*call).paths,
		"POST preupload": (*call).preupload, "POST commit": (*call).commit, "POST tag": (*call).tag,
	}
	if !isAPI {
		verbs = map[string]func(*call){"GET resolve": (*call).resolve, "HEAD resolve": (*call).resolve, "POST info": (*call).batch}
	}
	verb := verbs[req.Method+" "+what]
	if verb == nil {
		return nil, nil
	}
	return c, verb
}

func (h *Hub) serveCreate(w http.ResponseWriter, req *http.Request) {
	var in struct{ Name, Organization, Type, Visibility string }
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil || in.Type != "dataset" {
		failure(w, 400, "", "not a dataset")
		return
	}
	name := in.Organization + "/" + in.Name
	switch {
	case in.Organization == Foreign:
		failure(w, 403, "", "You don't have the rights to create a dataset under the namespace \""+Foreign+"\"")
	case h.repos[name] != nil:
		failure(w, 409, "", "You already created this dataset repo")
	default:
		h.create(name, in.Visibility == "private")
		say(w, 200, map[string]any{"url": h.URL() + "/datasets/" + name, "name": name})
	}
}

// validate looks at what the hub wants of a card: metadata between two rulers.
func (h *Hub) validate(w http.ResponseWriter, req *http.Request) {
	var in struct{ Content, RepoType string }
	err := json.NewDecoder(req.Body).Decode(&in)
	if _, rest, ok := strings.Cut(in.Content, "---\n"); err != nil || !ok || !strings.Contains(rest, "\n---\n") {
		say(w, 400, map[string]any{"errors": []any{map[string]string{"message": "no metadata"}}, "warnings": []any{}})
		return
	}
	say(w, 200, map[string]any{"errors": []any{}, "warnings": []any{}})
}

func (h *Hub) put(w http.ResponseWriter, req *http.Request, damage string) {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		failure(w, 400, "", "cut")
		return
	}
	want := path.Base(req.URL.Path)
	if d := sha256.Sum256(text); hex.EncodeToString(d[:]) != want {
		failure(w, 400, "", "the content has another digest")
		return
	}
	if damage != "" {
		text = damaged(text)
	}
	h.objects[want] = text
	w.WriteHeader(200)
}

func damaged(text []byte) []byte {
	text = bytes.Clone(text)
	text[len(text)/2] ^= 1
	return text
}

// revision is the commit that the rest of the path begins with, and what follows it.
func (c *call) revision() (*commit, string) {
	name, rest, _ := strings.Cut(c.rest, "/")
	if name == "" {
		name = "main"
	}
	at := c.repo.at(name)
	if at == nil {
		failure(c.w, 404, "RevisionNotFound", "Invalid rev id: "+name)
	}
	return at, rest
}

func (c *call) info() {
	at, _ := c.revision()
	if at == nil {
		return
	}
	siblings := []any{}
	for _, name := range slices.Sorted(maps.Keys(at.files)) {
		siblings = append(siblings, map[string]any{"rfilename": name})
	}
	say(c.w, 200, map[string]any{"id": c.name, "sha": at.id, "private": c.repo.private, "gated": false, "disabled": false, "siblings": siblings, "tags": []any{}, "downloads": 0, "likes": 0})
}

func (c *call) refs() {
	tags := []any{}
	for _, name := range slices.Sorted(maps.Keys(c.repo.tags)) {
		tags = append(tags, map[string]string{"name": name, "ref": "refs/tags/" + name, "targetCommit": c.repo.tags[name]})
	}
	say(c.w, 200, map[string]any{"branches": []any{map[string]string{"name": "main", "ref": "refs/heads/main", "targetCommit": c.repo.head}}, "converts": []any{}, "tags": tags})
}

// entry is a file of a commit as the API describes it.
func (f file) entry(name string) map[string]any {
	e := map[string]any{"type": "file", "path": name, "oid": f.blob(), "size": len(f.text)}
	if f.lfs {
		e["lfs"] = map[string]any{"oid": f.sum(), "size": len(f.text), "pointerSize": 130}
	}
	return e
}

// page is how many entries the tree has on one page.
const page = 20

func (c *call) tree() {
	at, dir := c.revision()
	if at == nil {
		return
	}
	query := c.req.URL.Query()
	recursive := strings.EqualFold(query.Get("recursive"), "true")
	entries := map[string]map[string]any{}
	for name, f := range at.files {
		below, ok := strings.CutPrefix(name, dir+"/")
		if dir == "" {
			below, ok = name, true
		}
		if !ok {
			continue
		}
		if recursive || !strings.Contains(below, "/") {
			entries[name] = f.entry(name)
		}
		for d := path.Dir(name); d != "." && d != dir; d = path.Dir(d) {
			if recursive || path.Dir(d) == dir || dir == "" && !strings.Contains(d, "/") {
				entries[d] = map[string]any{"type": "directory", "path": d, "oid": at.id, "size": 0}
			}
		}
	}
	if len(entries) == 0 {
		failure(c.w, 404, "EntryNotFound", dir+" does not exist")
		return
	}
	names := slices.Sorted(maps.Keys(entries))
	from, _ := strconv.Atoi(query.Get("cursor"))
	to := min(from+page, len(names))
	if to < len(names) {
		query.Set("cursor", strconv.Itoa(to))
		c.w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, c.URL(), c.req.URL.Path, query.Encode()))
	}
	out := []any{}
	for _, name := range names[from:to] {
		out = append(out, entries[name])
	}
	say(c.w, 200, out)
}

func (c *call) paths() {
	at, _ := c.revision()
	if at == nil {
		return
	}
	var in struct {
		Paths []string `json:"paths"`
	}
	if err := json.NewDecoder(c.req.Body).Decode(&in); err != nil {
		failure(c.w, 400, "", err.Error())
		return
	}
	out := []any{}
	for _, name := range in.Paths {
		if f, ok := at.files[name]; ok {
			out = append(out, f.entry(name))
		} else if slices.ContainsFunc(slices.Collect(maps.Keys(at.files)), func(f string) bool { return strings.HasPrefix(f, name+"/") }) {
			out = append(out, map[string]any{"type": "directory", "path": name, "oid": at.id, "size": 0})
		}
	}
	say(c.w, 200, out)
}

// isLarge follows the attributes that a new repository has.
func isLarge(name string, size int) bool {
	return slices.Contains([]string{".parquet", ".gz"}, path.Ext(name)) || size > 10<<20
}

func (c *call) preupload() {
	at, _ := c.revision()
	var in struct {
		Files []struct {
			Path string
			Size int
		}
	}
	if err := json.NewDecoder(c.req.Body).Decode(&in); at == nil || err != nil {
		return
	}
	out := []any{}
	for _, f := range in.Files {
		one := map[string]any{"path": f.Path, "uploadMode": "regular", "shouldIgnore": false}
		if isLarge(f.Path, f.Size) {
			one["uploadMode"] = "lfs"
		}
		if has, ok := at.files[f.Path]; ok {
			one["oid"] = has.blob()
			if has.lfs {
				one["oid"] = has.sum()
			}
		}
		out = append(out, one)
	}
	say(c.w, 200, map[string]any{"files": out})
}

func (c *call) batch() {
	var in struct {
		Objects []struct {
			OID  string
			Size int
		}
	}
	if err := json.NewDecoder(c.req.Body).Decode(&in); err != nil || c.rest != "lfs/objects/batch" {
		failure(c.w, 400, "", "no batch")
		return
	}
	out := []any{}
	for _, o := range in.Objects {
		one := map[string]any{"oid": o.OID, "size": o.Size}
		if c.objects[o.OID] == nil {
			one["actions"] = map[string]any{"upload": map[string]any{"href": c.URL() + "/objects/" + o.OID}}
		}
		out = append(out, one)
	}
	say(c.w, 200, map[string]any{"transfer": "basic", "objects": out})
}

// commit takes all operations of a commit, or none.
func (c *call) commit() {
	at, _ := c.revision()
	if at == nil {
		return
	}
	files, title, err := c.applied(at)
	switch {
	case err != nil:
		failure(c.w, err.status, "", err.text)
	case len(files) == 0:
		failure(c.w, 400, "", "nothing is left")
	default:
		made := c.repo.add(title, files)
		say(c.w, 200, map[string]any{"success": true, "commitOid": made.id, "commitUrl": c.URL() + "/datasets/" + c.name + "/commit/" + made.id, "hookOutput": ""})
	}
}

type refusal struct {
	status int
	text   string
}

type operation struct {
	Key   string
	Value struct{ Summary, ParentCommit, Content, Path, Encoding, Algo, OID string }
}

func (c *call) applied(at *commit) (files map[string]file, title string, bad *refusal) {
	files = maps.Clone(at.files)
	lines := bufio.NewScanner(c.req.Body)
	lines.Buffer(nil, 256<<20)
	for lines.Scan() {
		var o operation
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, "", &refusal{400, err.Error()}
		}
		v := o.Value
		switch o.Key {
		case "header":
			title = v.Summary
			if v.ParentCommit != "" && v.ParentCommit != at.id {
				return nil, "", &refusal{412, "A commit has happened since. Please refresh and try again."}
			}
		case "file":
			text, err := base64.StdEncoding.DecodeString(v.Content)
			if err != nil {
				return nil, "", &refusal{400, err.Error()}
			}
			if c.damage != "" && v.Path == c.damage {
				text = damaged(text)
			}
			files[v.Path] = file{text: text}
		case "lfsFile":
			text, ok := c.objects[v.OID]
			if !ok {
				return nil, "", &refusal{400, "LFS pointer pointed to a file that does not exist: " + v.OID}
			}
			files[v.Path] = file{text, true}
		case "deletedFile":
			if _, ok := files[v.Path]; !ok {
				return nil, "", &refusal{404, "A file with this name doesn't exist: " + v.Path}
			}
			delete(files, v.Path)
		default:
			return nil, "", &refusal{400, "unknown operation " + o.Key}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, "", &refusal{400, err.Error()}
	}
	return files, title, nil
}

func (c *call) tag() {
	at, _ := c.revision()
	var in struct{ Tag, Message string }
	if err := json.NewDecoder(c.req.Body).Decode(&in); at == nil || err != nil {
		return
	}
	if _, there := c.repo.tags[in.Tag]; there {
		failure(c.w, 409, "", "Tag reference exists already")
		return
	}
	c.repo.tags[in.Tag] = at.id
	c.w.WriteHeader(200)
}

func (c *call) resolve() {
	at, name := c.revision()
	if at == nil {
		return
	}
	f, ok := at.files[name]
	if !ok {
		failure(c.w, 404, "EntryNotFound", name+" does not exist on "+at.id)
		return
	}
	h := c.w.Header()
	h.Set("X-Repo-Commit", at.id)
	h.Set("ETag", `"`+f.blob()+`"`)
	if f.lfs {
		h.Set("X-Linked-ETag", `"`+f.sum()+`"`)
		h.Set("X-Linked-Size", strconv.Itoa(len(f.text)))
	}
	text := f.text
	if c.damage != "" && name == c.damage {
		text = damaged(text)
	}
	http.ServeContent(c.w, c.req, "", time.Time{}, bytes.NewReader(text))
}
