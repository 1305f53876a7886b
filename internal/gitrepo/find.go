package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// found is what must be known of a repository on disk before it can be read.
type found struct {
	common  string // the directory that holds objects
	head    string
	name    string
	tags    []ref
	shallow []byte
	// promisor is the address from which a partial clone may fetch what it lacks; "" where
	// the clone is none.
	promisor string
}

type ref struct{ id, name string }

// pull is the head of one pull request, as the remote offers it.
type pull struct {
	number int
	head   string
}

// find asks git where path's repository is. Only names and IDs are read here;
// objects are read through the view.
func find(ctx context.Context, path string) (*found, error) {
	dir, err := filepath.Abs(path)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRepo, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is not a directory", ErrNoRepo, path)
	}
	out, err := output(inside(ctx, dir, "rev-parse", "--path-format=absolute", "--show-object-format", "--git-common-dir"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRepo, err)
	}
	format, common, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if format != "sha1" {
		return nil, fmt.Errorf("object format %s is not supported, only sha1", format)
	}
	s := &found{common: common}
	out, err = output(inside(ctx, dir, "rev-parse", "--verify", "--end-of-options", "HEAD"))
	if err != nil {
		return nil, fmt.Errorf("%w: HEAD has no commit: %w", ErrNoRepo, err)
	}
	s.head = strings.TrimSpace(string(out))
	if err := s.readTags(ctx, dir); err != nil {
		return nil, err
	}
	if s.shallow, err = os.ReadFile(filepath.Join(common, "shallow")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	origin := s.remotes(ctx, dir)
	s.name = inferName(origin, common)
	return s, nil
}

func (s *found) readTags(ctx context.Context, dir string) error {
	return eachRef(ctx, dir, func(id, name string) { s.tags = append(s.tags, ref{id, name}) }, tagRefs)
}

const tagRefs = "refs/tags"

// eachRef visits the refs that git lists for some arguments.
func eachRef(ctx context.Context, dir string, visit func(id, name string), args ...string) error {
	out, err := output(inside(ctx, dir, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, args...)...))
	if err != nil {
		return fmt.Errorf("listing refs: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		visit(id, name)
	}
	return nil
}

// pullRefs are the heads of pull requests that a repository has, by number.
func pullRefs(ctx context.Context, dir string) ([]pull, error) {
	var out []pull
	err := eachRef(ctx, dir, func(id, name string) {
		m := pullRef.FindStringSubmatch(name)
		if m == nil {
			return
		}
		if n, err := strconv.Atoi(m[1]); err == nil { // a number beyond int is not a pull request
			out = append(out, pull{n, id})
		}
	}, "refs/pull")
	slices.SortFunc(out, func(a, b pull) int { return a.number - b.number })
	return out, err
}

var pullRef = lazyregexp.New(`^refs/pull/([1-9][0-9]{0,8})/head$`)

// remotes reads where the clone comes from, and whether it is a partial one. Only
// addresses are taken from its configuration.
func (s *found) remotes(ctx context.Context, dir string) (origin string) {
	out, err := output(inside(ctx, dir, "config", "-z", "--get-regexp", `^remote\..*\.(url|promisor|partialclonefilter)$|^extensions\.partialclone$`))
	if err != nil {
		return "" // no remote
	}
	urls, promisors := map[string]string{}, []string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if key == "extensions.partialclone" {
			promisors = append(promisors, value)
			continue
		}
		name, variable := strings.TrimPrefix(key, "remote."), ""
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name, variable = name[:i], name[i+1:]
		}
		switch variable {
		case "url":
			urls[name] = value
		case "promisor", "partialclonefilter":
			if value != "false" {
				promisors = append(promisors, name)
			}
		}
	}
	for _, name := range promisors {
		if s.promisor = urls[name]; s.promisor != "" {
			break
		}
	}
	return urls["origin"]
}

// inferName takes owner/name from origin where that is a URL, else the folder's name.
func inferName(origin, common string) string {
	if url := strings.TrimSpace(origin); isURL(url) && !strings.HasPrefix(url, "file:") {
		return nameOfURL(url)
	}
	base := filepath.Base(common) // the main work tree's name, wherever the linked one lies
	if base == ".git" {
		base = filepath.Base(filepath.Dir(common))
	}
	return localName(base)
}

func localName(base string) string {
	base = strings.TrimSuffix(base, ".git")
	if base == "" || base == "/" || base == "." {
		base = "repository"
	}
	return "local/" + base
}

var scpLike = lazyregexp.New(`^[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:[^/].*|^[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:/.*`)

// isURL distinguishes a URL (or git's user@host:path) from a path; what exists is a path.
func isURL(source string) bool {
	if strings.Contains(source, "://") {
		return true
	}
	if _, err := os.Lstat(source); err == nil {
		return false
	}
	return scpLike.MatchString(source)
}

// nameOfURL is the last two parts of a URL's path: owner/name.
func nameOfURL(url string) string {
	path := url
	if _, rest, ok := strings.Cut(url, "://"); ok {
		if strings.HasPrefix(url, "file:") {
			return localName(filepath.Base(strings.TrimRight(rest, "/")))
		}
		_, path, _ = strings.Cut(rest, "/")
	} else if _, rest, ok := strings.Cut(url, ":"); ok {
		path = rest
	}
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return localName(path)
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}
