package docker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/schemas"
)

// hello answers one line on port 8000, as whom the Dockerfile says.
const hello = `FROM %
COPY hello.sh /srv/hello.sh
RUN chmod 755 /srv/hello.sh && mkdir /var/lib/hello && chown 61000:61000 /var/lib/hello
ENV GREETING="good day"
WORKDIR /var/lib/hello
`

const helloScript = `#!/bin/sh
echo "$GREETING of $(id -u) in $(pwd)" >answer
exec socat TCP-LISTEN:8000,fork,reuseaddr SYSTEM:'cat answer'
`

// deployed builds a Dockerfile in which % stands for the base.
func deployed(t *testing.T, box *docker.Sandbox, text string, limits sandbox.Limits) (sandbox.Layer, sandbox.Result, error) {
	t.Helper()
	base, err := box.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	layer, res, err := box.Deploy(t.Context(), sandbox.Deployment{
		Key: schemas.DigestOf([]any{t.Name(), text}), Base: base, Limits: limits,
		Files:      []sandbox.File{{Path: sandbox.TreePath + "/hello.sh", Mode: 0o755, Data: []byte(helloScript)}, {Path: sandbox.TreePath + "/.dockerignore", Mode: 0o644, Data: []byte("*\n")}},
		Dockerfile: func(base string) ([]byte, error) { return []byte(strings.ReplaceAll(text, "%", base)), nil },
	})
	if err == nil {
		t.Cleanup(func() {
			if err := box.Remove(context.WithoutCancel(t.Context()), layer); err != nil {
				t.Error(err)
			}
		})
	}
	return layer, res, err
}

// TestDeploy: the image's own command serves beside a run, as the user and in the folder that it
// names.
func TestDeploy(t *testing.T) {
	t.Parallel()
	box := open(t, docker.Options{})
	for _, tt := range []struct{ name, more, want string }{
		{"as_root", `CMD ["/srv/hello.sh"]`, "good day of 0 in /var/lib/hello"},
		{"as_another", "USER 61000\nENTRYPOINT [\"/bin/sh\"]\nCMD [\"/srv/hello.sh\"]\n", "good day of 61000 in /var/lib/hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			layer, res, err := deployed(t, box, hello+tt.more, sandbox.Limits{})
			if err != nil {
				t.Fatalf("%v\n%s", err, res.Output)
			}
			base, err := box.Base(t.Context(), sandbox.Base{})
			if err != nil {
				t.Fatal(err)
			}
			ask := `for i in $(seq 100); do curl -s --http0.9 --max-time 5 http://127.0.0.1:8000/ && exit 0; sleep 0.1; done; exit 9`
			got, err := box.Run(t.Context(), sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"/bin/sh", "-c", ask}}, Beside: &sandbox.Beside{Layer: layer, Deployed: true}})
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.TrimSpace(string(got.Output)); got.ExitCode != 0 || said != tt.want {
				t.Errorf("exit %d, %q, want %q; the service: %q", got.ExitCode, said, tt.want, got.Beside.Output)
			}
			if got.Beside.End != "" {
				t.Errorf("the service ended before the run: %s", got.Beside.End)
			}
		})
	}
}

// TestDeployFails: what is wrong with a Dockerfile is a *sandbox.BuildError that says it.
func TestDeployFails(t *testing.T) {
	t.Parallel()
	box := open(t, docker.Options{})
	for _, tt := range []struct {
		name, text, says string
		limits           sandbox.Limits
		end              sandbox.End
	}{
		{"command", "FROM %\nRUN echo before && false\n", "before", sandbox.Limits{}, sandbox.Exited},
		{"no_dockerfile", "", "", sandbox.Limits{}, sandbox.Exited},
		{"unknown_word", "FROM %\nRUNN true\n", "RUNN", sandbox.Limits{}, sandbox.Exited},
		{"no_file", "FROM %\nCOPY none /\n", "none", sandbox.Limits{}, sandbox.Exited},
		{"past_the_proxy", "FROM %\nRUN curl -f --max-time 20 -sS http://192.0.2.1/ || exit 9\n", "returned a non-zero code: 9", sandbox.Limits{}, sandbox.Exited},
		{"too_slow", "FROM %\nRUN sleep 60\n", "", sandbox.Limits{Timeout: 5 * time.Second}, sandbox.TimedOut},
		{"no_way_out", "FROM %\nRUN curl --noproxy '*' --max-time 20 -sS http://192.0.2.1/\n", "returned a non-zero code", sandbox.Limits{}, sandbox.Exited},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, res, err := deployed(t, box, tt.text, tt.limits)
			var failed *sandbox.BuildError
			if !errors.As(err, &failed) {
				t.Fatalf("%v, want a build that failed; it said %q", err, res.Output)
			}
			if failed.Result.End != tt.end || !strings.Contains(string(failed.Result.Output), tt.says) {
				t.Errorf("end %s, want %s; it said %q, want %q", failed.Result.End, tt.end, failed.Result.Output, tt.says)
			}
		})
	}
}

// TestDeployedEnds: a service that ends, by whatever code, is no fault of the machine.
func TestDeployedEnds(t *testing.T) {
	t.Parallel()
	box := open(t, docker.Options{})
	layer, res, err := deployed(t, box, "FROM %\nCMD [\"/bin/sh\", \"-c\", \"echo dying; exit 137\"]\n", sandbox.Limits{})
	if err != nil {
		t.Fatalf("%v\n%s", err, res.Output)
	}
	base, err := box.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := box.Run(t.Context(), sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"sleep", "2"}}, Beside: &sandbox.Beside{Layer: layer, Deployed: true}})
	if err != nil {
		t.Fatal(err)
	}
	if b := got.Beside; b.End != sandbox.Exited || b.ExitCode != 137 || strings.TrimSpace(string(b.Output)) != "dying" {
		t.Errorf("%+v, output %q", b, b.Output)
	}
}

// TestDeployLeavesNoStep: the steps of a build that failed, and of stages that are no part of the
// image, go with it. Not parallel: other builds have steps of their own.
func TestDeployLeavesNoStep(t *testing.T) {
	box := open(t, docker.Options{})
	// The base for builds is made by the first.
	if _, _, err := deployed(t, box, "FROM %\nCMD true\n", sandbox.Limits{}); err != nil {
		t.Fatal(err)
	}
	before := box.Unnamed(t)
	for _, tt := range []struct {
		name, text string
		builds     bool
	}{
		{"failed", "FROM %\nRUN echo one >/one\nRUN echo two >/two && false\n", false},
		{"stages", "FROM % AS first\nRUN echo one >/one\nFROM %\nCOPY --from=first /one /two\nCMD true\n", true},
		{"printed", "FROM %\nRUN echo ' ---> 0123456789ab'; false\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			layer, res, err := deployed(t, box, tt.text, sandbox.Limits{})
			if tt.builds != (err == nil) {
				t.Fatalf("%v; it said %q", err, res.Output)
			}
			if err == nil {
				if err := box.Remove(t.Context(), layer); err != nil {
					t.Fatal(err)
				}
			}
			if after := box.Unnamed(t); after != before {
				t.Errorf("%d images have no name, %d before", after, before)
			}
		})
	}
}
