// Package push sends versions of a dataset to a remote: a dataset repository on a hub (hub.go, by
// the client that the hub publishes), or any git repository (git.go). At its head a remote has the
// newest version, and under a tag each version.
//
// It never moves a tag, never makes a commit upon a head that it has not read, asks nobody for a
// credential, and keeps none. What is pushed, and in which order, package output/release decides.
package push

import (
	"context"
	"crypto/sha1" //nolint:gosec // git names its objects by it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
)

// The ends of a push beside success. Each says what it is of.
var (
	// ErrUnmet is a target, token or program that is wrong or missing: nothing was sent.
	ErrUnmet = errors.New("not pushed")
	// ErrAway is a remote that does not answer now: the same command goes on later.
	ErrAway = errors.New("the remote does not answer")
)

// RefusedError is a push that must not be: by the remote, or because it would change what is
// published.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Refused makes one.
func Refused(form string, args ...any) error { return &RefusedError{fmt.Sprintf(form, args...)} }

// Remote is one place that versions are pushed to.
type Remote interface {
	// Look reads head, and those tags that are wanted. ErrUnmet, ErrAway.
	Look(ctx context.Context, wanted func(tag string) bool) (State, error)
	// Send makes the commit of a parcel upon the head of the state, tags it, and compares what
	// others get with the files. It gives the state afterwards. RefusedError, ErrUnmet, ErrAway.
	Send(ctx context.Context, s State, p Parcel) (State, error)
	// URL is where people see a tag, or the remote itself for "".
	URL(tag string) string
	Close() error
}

// State is what a remote has.
type State struct {
	There  bool   // false: no such repository yet
	Head   string // a commit; "" for none
	Record []byte // release.json at head; nil for none
	Files  Files  // at head
	Tags   map[string]Tag
	// Open is a repository that everybody reads.
	Open bool
}

// Tag is one tag of a remote.
type Tag struct {
	Commit string
	Record []byte // release.json in it; nil for none
}

// Files are the files of a commit by path, each with the name of its content: "sha256:HEX", or
// "blob:HEX" as git names a file.
type Files map[string]string

// Parcel is what one commit brings.
type Parcel struct {
	Files map[string]string // of the whole tree: path → file on this disk
	// Feed is the one file that changes without a version; it counts for no version.
	Feed string
	// FeedOnly leaves all other files as they are at head.
	FeedOnly bool
	Tag      string    // "" for none
	Message  string    // its first line is the subject
	Date     time.Time // of commit and tag, where a remote lets them be set
	// Made reports that head has the version already, and only the tag is missing.
	Made bool
	// Rows are the IDs of each configuration by split, for a client that opens them from Folder.
	Folder string
	Rows   map[string]map[string][]string
}

// RecordFile is what says of a tree that it is a version.
const RecordFile = "release.json"

// attributes is a file that a remote has of its own.
const attributes = ".gitattributes"

// Differences are the paths of a parcel that a tree lacks or has otherwise, and those that only
// the tree has, in order.
func (p Parcel) Differences(has Files) (other, extra []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		same, err := holds(p.Files[name], has[name])
		if err != nil {
			return nil, nil, err
		}
		if !same {
			other = append(other, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if _, ours := p.Files[name]; !ours && name != attributes {
			extra = append(extra, name)
		}
	}
	return other, extra, nil
}

// IsAt reports whether a tree is that of the parcel's version, whatever its feed says.
func (p Parcel) IsAt(has Files) (bool, error) {
	other, extra, err := p.Differences(has)
	if err != nil {
		return false, err
	}
	feed := func(name string) bool { return name == p.Feed }
	return len(slices.DeleteFunc(other, feed)) == 0 && len(slices.DeleteFunc(extra, feed)) == 0, nil
}

// holds reports whether a file has the content of a name.
func holds(file, name string) (bool, error) {
	if name == "" {
		return false, nil
	}
	of := blobOf
	if strings.HasPrefix(name, "sha256:") {
		of = sumOf
	}
	has, err := of(file)
	return has == name, err
}

// sumOf names the content of a file by its digest, and blobOf as git does.
func sumOf(file string) (string, error) {
	return named(file, "sha256:", func(int64) hash.Hash { return sha256.New() })
}

func blobOf(file string) (string, error) {
	return named(file, "blob:", func(size int64) hash.Hash {
		h := sha1.New() //nolint:gosec // as above
		fmt.Fprintf(h, "blob %d\x00", size)
		return h
	})
}

func named(file, kind string, begin func(size int64) hash.Hash) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := begin(info.Size())
	_, err = io.Copy(h, f)
	return kind + hex.EncodeToString(h.Sum(nil)), err
}

// differs says what of a tree is not as the parcel has it; nil for nothing.
func (p Parcel) differs(has Files) error {
	other, extra, err := p.Differences(has)
	if err != nil {
		return err
	}
	if p.FeedOnly {
		other, extra = nil, nil
		if same, err := holds(p.Files[p.Feed], has[p.Feed]); err != nil || !same {
			other = []string{p.Feed}
		}
	}
	if p.Made { // an older feed may stand in it
		other = slices.DeleteFunc(other, func(name string) bool { return name == p.Feed })
	}
	if n := len(other) + len(extra); n > 0 {
		return fmt.Errorf("%d files differ, the first is %s", n, slices.Concat(other, extra)[0])
	}
	return nil
}

// Target is where to push, as a person writes it.
type Target struct {
	Kind  string // HubKind or GitKind
	Where string // OWNER/NAME, or a URL or path
}

// Kinds of targets.
const (
	HubKind = "hf"
	GitKind = "git"
)

func (t Target) String() string { return t.Kind + ":" + t.Where }

var repository = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$`)

// Parse reads a target. ErrUnmet, with the form that was probably meant.
func Parse(word string) (Target, error) {
	kind, where, _ := strings.Cut(word, ":")
	unknown := func(meant string) (Target, error) {
		if meant != "" {
			meant = "; did you mean " + meant + "?"
		}
		return Target{}, fmt.Errorf("%w: %q is not hf:OWNER/NAME or git:URL%s", ErrUnmet, word, meant)
	}
	switch {
	case kind == HubKind && repository.MatchString(where), kind == GitKind && where != "" && !strings.HasPrefix(where, "-"):
		return Target{kind, where}, nil
	case kind == HubKind || kind == GitKind:
		return unknown(hubName(where))
	case strings.HasPrefix(word, hosts.HuggingFace):
		return unknown(hubName(word))
	case strings.Contains(word, "://"), strings.HasPrefix(word, "/"), strings.HasPrefix(word, "."), strings.Contains(kind, "@"):
		return unknown(GitKind + ":" + word)
	case repository.MatchString(word):
		return unknown(HubKind + ":" + word)
	}
	if near, ok := nearest.Word(kind, []string{HubKind, GitKind}); ok && where != "" {
		return unknown(near + ":" + where)
	}
	return unknown("")
}

// hubName is a target for the address of a dataset on the hub; "" for what is none.
func hubName(address string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(address, hosts.HuggingFace+"/"), "datasets/")
	if parts := strings.Split(name, "/"); len(parts) >= 2 && repository.MatchString(parts[0]+"/"+parts[1]) {
		return HubKind + ":" + parts[0] + "/" + parts[1]
	}
	return ""
}
