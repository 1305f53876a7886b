package gitrepotest

import (
	"encoding/base64"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// epoch is the date of the first commit of a history that names none. Each
// later one is an hour after the one before.
var epoch = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)

const (
	defaultAuthor = "Ann Author <ann@example.org>"
	mainBranch    = "main"
)

// file is one entry of a tree: git's mode and the bytes of the blob (for a
// submodule, the hex of its commit).
type file struct {
	mode string
	data []byte
}

// commit is one step of a history, ready to be written.
type commit struct {
	subject, body     string
	author, committer string
	authored, landed  time.Time
	parents           []int // indexes into history.commits
	tree              map[string]file
}

// ref points at a commit; an annotated tag has a message.
type ref struct {
	name, message string
	commit        int
}

// history is a parsed txtar: what Build writes.
type history struct {
	commits  []commit
	refs     []ref
	branches map[string]int // tips
	branch   string         // the one that HEAD stands on
	raw      bool           // holds a path that git would refuse to check out
}

// Extras are the files of an archive that stand before its first commit: they
// are no part of the history (an expectation, a configuration).
func Extras(data []byte) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range txtar.Parse(data).Files {
		if verb, _, ok := strings.Cut(f.Name, ": "); ok && verbs[verb] {
			break
		}
		out[f.Name] = f.Data
	}
	return out
}

// verbs are the words that may stand before ": " in the name of a block.
var verbs = map[string]bool{
	"commit": true, "branch": true, "tag": true, "ref": true, "file": true, "exec": true, "symlink": true,
	"delete": true, "rename": true, "base64": true, "crlf": true, "bare": true, "submodule": true,
}

// parser walks the blocks of an archive in order.
type parser struct {
	history
	tip int // index of the current commit, -1 before the first
}

func parse(data []byte) (*history, error) {
	p := &parser{history: history{branches: map[string]int{}, branch: mainBranch}, tip: -1}
	for _, f := range txtar.Parse(data).Files {
		verb, arg, ok := strings.Cut(f.Name, ": ")
		if !ok || !verbs[verb] {
			verb, arg = "file", f.Name
		}
		if p.tip < 0 && verb != "commit" {
			continue // see Extras
		}
		if err := p.block(verb, arg, f.Data); err != nil {
			return nil, fmt.Errorf("block %q: %w", f.Name, err)
		}
	}
	if p.tip < 0 {
		return nil, fmt.Errorf("history has no commit")
	}
	p.branches[p.branch] = p.tip
	return &p.history, nil
}

func (p *parser) block(verb, arg string, data []byte) error {
	switch verb {
	case "commit":
		return p.commit(arg, string(data))
	case "branch":
		p.branches[p.branch] = p.tip
		if at, ok := p.branches[arg]; ok {
			p.tip = at
		}
		p.branch = arg
		return nil
	case "tag":
		p.refs = append(p.refs, ref{"refs/tags/" + arg, strings.TrimSpace(string(data)), p.tip})
		return nil
	case "ref":
		p.refs = append(p.refs, ref{arg, "", p.tip})
		return nil
	}
	return p.change(verb, arg, data)
}

// change edits the tree of the current commit.
func (p *parser) change(verb, arg string, data []byte) error {
	from, to, renamed := strings.Cut(arg, " -> ")
	path, err := unquote(from)
	if err != nil {
		return err
	}
	if strings.Contains("/"+path+"/", "/../") || strings.HasPrefix(path, "/") || strings.Contains(path, ".git/") {
		p.raw = true
	}
	tree := p.commits[p.tip].tree
	entry := file{mode: "100644", data: data}
	switch verb {
	case "file":
	case "exec":
		entry.mode = "100755"
	case "crlf":
		entry.data = []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))
	case "bare":
		entry.data = []byte(strings.TrimSuffix(string(data), "\n"))
	case "symlink":
		entry = file{mode: "120000", data: []byte(strings.TrimSuffix(string(data), "\n"))}
	case "submodule":
		entry = file{mode: "160000", data: []byte(strings.TrimSpace(string(data)))}
	case "base64":
		if entry.data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), "")); err != nil {
			return err
		}
	case "delete", "rename":
		if verb == "delete" && strings.HasSuffix(path, "/") {
			return deleteDir(tree, path)
		}
		old, ok := tree[path]
		if !ok {
			return fmt.Errorf("no file %q to %s", path, verb)
		}
		delete(tree, path)
		if verb == "delete" {
			return nil
		}
		if !renamed {
			return fmt.Errorf("rename wants \"old -> new\"")
		}
		path, entry = to, old
		if len(data) > 0 {
			entry.data = data
		}
	}
	tree[path] = entry
	return nil
}

func deleteDir(tree map[string]file, dir string) error {
	before := len(tree)
	for path := range tree {
		if strings.HasPrefix(path, dir) {
			delete(tree, path)
		}
	}
	if len(tree) == before {
		return fmt.Errorf("nothing below %q to delete", dir)
	}
	return nil
}

// unquote reads a path or a subject; one that begins with a quote is a Go string, so that
// any byte can be written.
func unquote(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		return strconv.Unquote(s)
	}
	return s, nil
}

// commit begins a commit: header lines "key: value", an empty line, a body.
func (p *parser) commit(subject, text string) error {
	subject, err := unquote(subject)
	if err != nil {
		return err
	}
	c := commit{subject: subject, author: defaultAuthor, tree: map[string]file{}}
	if p.tip >= 0 {
		c.parents = []int{p.tip}
		for path, f := range p.commits[p.tip].tree {
			c.tree[path] = f
		}
	}
	header, body, _ := strings.Cut("\n"+text, "\n\n")
	c.body = strings.TrimSpace(body)
	date := epoch.Add(time.Duration(len(p.commits)) * time.Hour)
	if n := len(p.commits); n > 0 {
		date = p.commits[n-1].landed.Add(time.Hour)
	}
	c.landed = date
	for _, line := range strings.Split(strings.TrimSpace(header), "\n") {
		if line == "" {
			continue
		}
		key, value, _ := strings.Cut(line, ": ")
		if err := p.header(&c, key, value); err != nil {
			return err
		}
	}
	if c.authored.IsZero() {
		c.authored = c.landed
	}
	if c.committer == "" {
		c.committer = c.author
	}
	p.commits = append(p.commits, c)
	p.tip = len(p.commits) - 1
	return nil
}

func (p *parser) header(c *commit, key, value string) (err error) {
	switch key {
	case "date":
		c.landed, err = time.Parse(time.RFC3339, value)
	case "authored":
		c.authored, err = time.Parse(time.RFC3339, value)
	case "author":
		c.author = value
	case "committer":
		c.committer = value
	case "merge":
		other, ok := p.branches[value]
		if !ok {
			return fmt.Errorf("no branch %q to merge", value)
		}
		c.parents = append(c.parents, other)
		p.overlay(c, other)
	default:
		return fmt.Errorf("unknown header %q (date, authored, author, committer, merge)", key)
	}
	return err
}

// overlay brings what a branch changed since it forked into c. Conflicts are
// not looked for: the branch wins, and the commit's own blocks come after.
func (p *parser) overlay(c *commit, other int) {
	base := p.commits[p.fork(c.parents[0], other)].tree
	theirs := p.commits[other].tree
	for path, f := range theirs {
		if b, ok := base[path]; !ok || b.mode != f.mode || string(b.data) != string(f.data) {
			c.tree[path] = f
		}
	}
	for path := range base {
		if _, ok := theirs[path]; !ok {
			delete(c.tree, path)
		}
	}
}

// fork is the youngest common ancestor. Commits stand in the order they were
// written, so the greatest common index is it.
func (p *parser) fork(a, b int) int {
	ofA, ofB := p.ancestors(a), p.ancestors(b)
	for i := min(a, b); i > 0; i-- {
		if ofA[i] && ofB[i] {
			return i
		}
	}
	return 0
}

func (p *parser) ancestors(i int) map[int]bool {
	seen, todo := map[int]bool{}, []int{i}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[at] {
			seen[at] = true
			todo = append(todo, p.commits[at].parents...)
		}
	}
	return seen
}

// sortedKeys is the names of m in byte order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
