package github

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/schemas"
)

// world is what a GitHub would say of clones, as far as their histories tell: each number
// of a subject is a merged pull request, each tag a release that lists those since the tag
// before it.
func (b *bench) world(ctx context.Context, args []string) (all githubtest.Repositories, names []string, err error) {
	all = githubtest.Repositories{}
	for _, arg := range args {
		name, clone, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, nil, fmt.Errorf("%q is not OWNER/NAME=CLONE", arg)
		}
		r, err := repositoryOf(ctx, name, clone)
		if err != nil {
			return nil, nil, err
		}
		dir, err := git(ctx, clone, "rev-parse", "--absolute-git-dir")
		if err != nil {
			return nil, nil, err
		}
		link := filepath.Join(b.dir, "git", name+".git")
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return nil, nil, err
		}
		if err := os.Symlink(strings.TrimSpace(dir), link); err != nil {
			return nil, nil, err
		}
		all[name], names = r, append(names, name)
	}
	return all, names, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", strings.Join(args, " "), dir, err)
	}
	return string(out), nil
}

// Of each repository so many commits and releases are read.
const (
	mostCommits  = 3000
	mostReleases = 150
)

func repositoryOf(ctx context.Context, name, clone string) (*githubtest.Repository, error) {
	r := &githubtest.Repository{Forge: schemas.Forge{Stars: 5000}, Pulls: map[int]github.Pull{}}
	log, err := git(ctx, clone, "log", "--first-parent", fmt.Sprintf("-n%d", mostCommits), "--format=%H%x00%cI%x00%D%x00%s%x00%b%x01")
	if err != nil {
		return nil, err
	}
	var release *github.Release
	for entry := range strings.SplitSeq(log, "\x01") {
		f := strings.SplitN(strings.TrimSpace(entry), "\x00", 5)
		if len(f) < 5 {
			continue
		}
		at, err := time.Parse(time.RFC3339, f[1])
		if err != nil {
			return nil, err
		}
		for ref := range strings.SplitSeq(f[2], ", ") {
			if tag, ok := strings.CutPrefix(ref, "tag: "); ok && len(r.Releases) < mostReleases {
				r.Releases = append(r.Releases, github.Release{Tag: tag, Title: tag, Body: "## What's Changed\n", Published: at.UTC()})
				release = &r.Releases[len(r.Releases)-1]
			}
		}
		number, from := gitrepo.SubjectNumber(f[3])
		if number == 0 {
			continue
		}
		title, body := f[3], f[4]
		if from == schemas.NumberMerge {
			title, body, _ = strings.Cut(body, "\n")
		}
		title = strings.TrimSuffix(title, fmt.Sprintf(" (#%d)", number))
		r.Pulls[number] = github.Pull{Pull: schemas.Pull{Number: number, Title: title, Body: body, Merge: f[0]}, Updated: at.UTC()}
		if release != nil {
			release.Body += fmt.Sprintf("* %s by @dev in %s%s/pull/%d\n", title, hosts.GitHub, name, number)
		}
	}
	return r, nil
}
