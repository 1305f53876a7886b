package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/push"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output/release"
)

// pushFlags are those of release push.
type pushFlags struct {
	branch          string
	private, dryRun bool
}

func newReleasePush(p *program) *cobra.Command {
	var f pushFlags
	cmd := &cobra.Command{
		Use: "push hf:OWNER/NAME|git:URL [VERSION]", Short: "push versions to a dataset hub or a git repository, each under a tag that never moves",
		Args: argsOf(cobra.RangeArgs(1, 2)),
		Long: "Pushes a version (default: the newest), and before it all older ones that are not there, in order. Head is\nthe newest; each is one commit and one tag, and is read back and compared. Nothing is sent if a tag with other\ncontent is there. hf: wants a token in HF_TOKEN, and HF_ENDPOINT names another hub; git: has git's own credentials.\n\n" +
			"Exit codes: 0 pushed, or it was there; 1 refused, or what is read back differs; 2 target, token or version is\nwrong; 3 the remote does not answer: run again, and it goes on.",
		Example: "  HF_TOKEN=… benchmint release push hf:acme/widgets\n  benchmint release push git:git@git.example.org:acme/widgets.git 2026.07",
		RunE:    func(cmd *cobra.Command, args []string) error { return p.releasePush(cmd.Context(), args, f) },
	}
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf")
	cmd.Flags().StringVar(&f.branch, "branch", "", "`BRANCH` of a git repository (default: its own, or main)")
	cmd.Flags().BoolVar(&f.private, "private", false, "make the repository on the hub private, if it is not there yet")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "read the remote, say what would be pushed, and send nothing")
	return cmd
}

func (p *program) releasePush(ctx context.Context, args []string, f pushFlags) (err error) {
	to, err := push.Parse(args[0])
	if err != nil {
		return &ended{exitUsage, err}
	}
	c, err := p.load()
	if err != nil {
		return err
	}
	s, err := release.Read(c.Releases)
	if err != nil { // before a lock makes the folder
		return &ended{exitUsage, err}
	}
	o := release.Push{DryRun: f.dryRun, Say: p.sayNow()}
	if len(args) > 1 {
		o.Version = release.Version(args[1])
		if _, err := s.Entry(o.Version); err != nil {
			return &ended{exitUsage, err}
		}
	}
	if o.Remote, err = p.remote(ctx, c, to, f); err != nil {
		return p.pushFault(ctx, err)
	}
	defer func() { err = errors.Join(err, o.Remote.Close()) }()
	if s, err = p.openReleases(ctx, c, ""); err != nil {
		return err
	}
	defer s.Close()
	done, failed := s.Push(ctx, o)
	return errors.Join(p.pushFault(ctx, failed), p.sayPushed(done, failed == nil))
}

// remote is where to push, by the kind of a target.
func (p *program) remote(ctx context.Context, c *config.Config, to push.Target, f pushFlags) (push.Remote, error) {
	if to.Kind == push.GitKind {
		if f.private {
			return nil, &usageError{errors.New("--private is for hf: alone")}
		}
		return push.NewGit(ctx, to.Where, f.branch, p.environ)
	}
	if f.branch != "" {
		return nil, &usageError{errors.New("--branch is for git: alone")}
	}
	hub, err := push.NewHub(to.Where, p.lookup(push.HubEndpoint), p.lookup(push.HubToken), f.private, p.machine(c).clients())
	if err != nil {
		return nil, err
	}
	if err := p.useCache(ctx); err != nil {
		return nil, &ended{exitUsage, err}
	}
	return hub, verify.Ready(ctx, verify.HuggingFaceName, hub.Client)
}

// pushFault gives an error its exit code.
func (p *program) pushFault(ctx context.Context, err error) error {
	var refused *push.RefusedError
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.As(err, &refused):
		return &ended{exitFailed, err}
	case errors.Is(err, push.ErrAway):
		return &ended{exitDeferred, fmt.Errorf("%w; run again, and it goes on", err)}
	case errors.Is(err, push.ErrUnmet), errors.Is(err, verify.ErrNoClient), errors.Is(err, release.ErrUnknownVersion), errors.Is(err, release.ErrNoShelf):
		return &ended{exitUsage, err}
	}
	return err
}

// sayPushed says what a push did, also one that failed in the middle.
func (p *program) sayPushed(done release.Pushed, whole bool) error {
	if p.json {
		return p.writeJSON(done)
	}
	t := p.out()
	for _, v := range done.Versions {
		if whole || v.State != release.PushWaits {
			t.line("%-10s %s", v.Version, visible(v.Text()))
		}
	}
	if done.Feed != "" {
		t.line("%s is new at head (%.12s)", release.FeedFile, done.Feed)
	}
	if n := len(done.Replaced); n > 0 {
		t.line("replaced   at head, changed there since the version before: %s", visible(strings.Join(done.Replaced[:min(n, 5)], ", ")))
	}
	for _, text := range done.Decide {
		t.line("decide     %s", visible(text))
	}
	return t.err
}
