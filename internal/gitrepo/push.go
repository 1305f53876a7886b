package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	// ErrRejected is a push that the remote did not take: a ref is there already, or has moved.
	ErrRejected = errors.New("the remote rejects the push")
	// ErrNoAccess is a remote that wants a credential which git does not have.
	ErrNoAccess = errors.New("the remote wants a credential that git does not have")
)

// Outbox is a bare repository of its own, in which commits are made and pushed to one remote.
type Outbox struct {
	dir, url string
	environ  []string
}

// NewOutbox makes one in an empty folder. A relative path of a remote is one from here; environ
// says where git's configuration lies.
func NewOutbox(ctx context.Context, url, dir string, environ []string) (*Outbox, error) {
	if _, err := os.Stat(url); err == nil {
		if url, err = filepath.Abs(url); err != nil {
			return nil, err
		}
	}
	_, err := output(inside(ctx, filepath.Dir(dir), "init", "-q", "--bare", "--template=", "--object-format=sha1", dir))
	return &Outbox{dir, url, environ}, err
}

// outgoing is git that writes to a remote: with the credential helpers, addresses and proxies of
// its user's and machine's configuration, and with no prompt and no hook.
func (o *Outbox) outgoing(ctx context.Context, args ...string) *exec.Cmd {
	cmd := online(ctx, o.dir, args...)
	own := []string{"GIT_CONFIG_NOSYSTEM=", "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_GLOBAL=", "XDG_CONFIG_HOME="}
	ours := func(e string) bool {
		return slices.ContainsFunc(own, func(name string) bool { return strings.HasPrefix(e, name) })
	}
	cmd.Env = slices.DeleteFunc(cmd.Env, ours)
	for _, e := range o.environ {
		if ours(e) {
			cmd.Env = append(cmd.Env, e)
		}
	}
	return cmd
}

var (
	rejected = lazyregexp.New(`\[(?:remote )?rejected\]|does not support --atomic`)
	noAccess = lazyregexp.New(`(?i)could not read (?:Username|Password)|Authentication failed|Permission denied|Invalid username or|returned error: 40[13]`)
)

// talk runs git with the remote. ErrRemote, ErrGone, ErrNoAccess, ErrRejected.
func (o *Outbox) talk(ctx context.Context, args ...string) ([]byte, error) {
	out, err := converse(ctx, o.url, o.outgoing(ctx, args...))
	switch {
	case err == nil || ctx.Err() != nil:
		return out, err
	case noAccess.MatchString(err.Error()):
		return nil, fmt.Errorf("%w: %w", ErrNoAccess, err)
	}
	return nil, err
}

// Refs are the remote's, by name, and the branch of its HEAD ("" where none is named). Annotated
// tags stand for the commits that they tag. ErrRemote.
func (o *Outbox) Refs(ctx context.Context) (refs map[string]string, branch string, err error) {
	out, err := o.talk(ctx, "ls-remote", "--symref", "--", o.url)
	if err != nil {
		return nil, "", err
	}
	refs = map[string]string{}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if to, ok := strings.CutPrefix(id, "ref: refs/heads/"); ok && name == "HEAD" {
			branch = to
			continue
		}
		refs[strings.TrimSuffix(name, "^{}")] = id // the tagged commit comes after its tag
	}
	return refs, branch, nil
}

// Fetch brings the newest commit of each ref, without its history. ErrRemote.
func (o *Outbox) Fetch(ctx context.Context, refs ...string) error {
	args := []string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "fetch", "--progress", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--", o.url}
	for _, r := range refs {
		args = append(args, "+"+r+":refs/remote/"+r)
	}
	_, err := o.talk(ctx, args...)
	return err
}

// Files are the files of a commit by path, each with git's name of its content.
func (o *Outbox) Files(ctx context.Context, commit string) (map[string]string, error) {
	out, err := output(command(ctx, o.dir, "ls-tree", "-r", "-z", "--full-tree", commit))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for row := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if head, name, ok := strings.Cut(row, "\t"); ok {
			files[name] = strings.Fields(head)[2]
		}
	}
	return files, nil
}

// Blob is the content of a file.
func (o *Outbox) Blob(ctx context.Context, id string) ([]byte, error) {
	return output(command(ctx, o.dir, "cat-file", "blob", id))
}

// Snapshot is a commit whose tree is made of files; without any it is the parent, which gets a tag.
type Snapshot struct {
	Parent  string            // "" for none
	Keep    bool              // the parent's other files stay
	Files   map[string]string // path → file on this disk
	Texts   map[string]string // path → content
	Message string
	Date    time.Time // of the commit and its tag, in UTC
	Tag     string    // the name of an annotated tag; "" for none
}

// by is whose name commits have: the same on every machine, so that equal ones are one.
const by = "benchmint <>"

// Commit makes it, and gives its ID and that of its tag. The same snapshot has the same IDs.
func (o *Outbox) Commit(ctx context.Context, s Snapshot) (commit, tag string, err error) {
	const branch = "refs/heads/outbox"
	cmd := command(ctx, o.dir, "fast-import", "--quiet", "--force", "--done", "--date-format=raw")
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", "", err
	}
	said := &tailed{max: maxSaid}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	wrote := s.write(in, branch)
	err = errors.Join(wrote, in.Close())
	if ended := cmd.Wait(); ended != nil {
		return "", "", gitError(cmd, ended, said.bytes)
	}
	if err != nil {
		return "", "", err
	}
	if commit = s.Parent; !s.bare() {
		commit, err = o.id(ctx, branch)
	}
	if err != nil || s.Tag == "" {
		return commit, "", err
	}
	tag, err = o.id(ctx, "refs/tags/"+s.Tag)
	return commit, tag, err
}

func (o *Outbox) id(ctx context.Context, ref string) (string, error) {
	out, err := output(command(ctx, o.dir, "rev-parse", "--verify", ref))
	return strings.TrimSpace(string(out)), err
}

func (s Snapshot) bare() bool { return len(s.Files)+len(s.Texts) == 0 }

// write writes it for git fast-import.
func (s Snapshot) write(to io.Writer, branch string) error {
	w := bufio.NewWriter(to)
	who := fmt.Sprintf("%s %d +0000", by, s.Date.Unix())
	tagged := s.Parent
	if !s.bare() {
		tagged = ":1"
		if err := s.writeCommit(w, branch, who); err != nil {
			return err
		}
	}
	if s.Tag != "" {
		fmt.Fprintf(w, "tag %s\nfrom %s\ntagger %s\ndata %d\n%s\n", s.Tag, tagged, who, len(s.Message), s.Message)
	}
	fmt.Fprintln(w, "done")
	return w.Flush()
}

func (s Snapshot) writeCommit(w *bufio.Writer, branch, who string) error {
	fmt.Fprintf(w, "reset %s\n\ncommit %s\nmark :1\ncommitter %s\ndata %d\n%s\n", branch, branch, who, len(s.Message), s.Message)
	if s.Parent != "" {
		fmt.Fprintf(w, "from %s\n", s.Parent)
	}
	if !s.Keep {
		fmt.Fprintln(w, "deleteall")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Texts)) {
		fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", name, len(s.Texts[name]), s.Texts[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if err := writeFile(w, name, s.Files[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(w *bufio.Writer, name, file string) error {
	if strings.ContainsAny(name, "\n\"") {
		return fmt.Errorf("%q: a file of this name cannot be pushed", name)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := "100644"
	if info.Mode().Perm()&0o100 != 0 {
		mode = "100755"
	}
	fmt.Fprintf(w, "M %s inline %s\ndata %d\n", mode, name, info.Size())
	if n, err := io.Copy(w, f); err != nil {
		return err
	} else if n != info.Size() {
		return fmt.Errorf("%s changes while it is read", name)
	}
	_, err = w.WriteString("\n")
	return err
}

// Push brings objects to refs of the remote, all or none, and forces nothing: a branch goes on, and
// a tag that is there stays. ErrRejected, ErrRemote, ErrNoAccess.
func (o *Outbox) Push(ctx context.Context, refs map[string]string) error {
	args := []string{"-c", "push.followTags=false", "-c", "push.gpgSign=false", "push", "--atomic", "--progress", "--no-verify", "--", o.url}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		args = append(args, refs[name]+":"+name)
	}
	cmd := o.outgoing(ctx, args...)
	said := &tailed{max: maxSaid}
	_, err := conversed(ctx, o.url, cmd, said)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case rejected.Match(said.bytes):
		line := rejected.FindIndex(said.bytes)
		text, _, _ := strings.Cut(string(said.bytes[line[0]:]), "\n")
		return fmt.Errorf("%w: %s", ErrRejected, strings.Join(strings.Fields(text), " "))
	case noAccess.Match(said.bytes):
		return fmt.Errorf("%w: %w", ErrNoAccess, err)
	}
	return err
}

// Clone brings the files of a tag into a folder that is not there yet, as anybody would.
func (o *Outbox) Clone(ctx context.Context, ref, dir string) error {
	_, err := o.talk(ctx, "clone", "-q", "--depth=1", "--branch="+ref, "--template=", "--no-recurse-submodules", "--", o.url, dir)
	return err
}
