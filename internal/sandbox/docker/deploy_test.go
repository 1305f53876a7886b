package docker_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
		Files:      []sandbox.File{{Path: sandbox.TreePath + "/hello.sh", Mode: 0o755, Data: []byte(helloScript)}, {Path: sandbox.TreePath + "/.dockerignore", Mode: 0o644, Data: []byte("*\n")}, {Path: sandbox.TreePath + "/bomb.tar.gz", Mode: 0o644, Data: packed(t, 40, 5<<20)}, {Path: sandbox.TreePath + "/small.tar.gz", Mode: 0o644, Data: packed(t, 1, 6)}},
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

// packed is an archive of files of zeros.
func packed(t *testing.T, files int, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := range files {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint("zeros", i), Mode: 0o644, Size: size}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestUnbounded: what ADD would unpack is bounded before the engine sees it.
func TestUnbounded(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	files := []sandbox.File{{Path: "/testbed/a/link.tar", Mode: fs.ModeSymlink, Data: []byte("big.tar.gz")}, {Path: "/testbed/not.gz", Data: []byte("\x1f\x8b\x08")}}
	for name, data := range map[string][]byte{
		"a/big.tar.gz": packed(t, 1, most), "many.tar.gz": packed(t, 300, 0), "small.tar.gz": packed(t, 3, 1000), "half.tar.gz": packed(t, 1, most/2), "x.tar.xz": []byte("\xfd7zXZ\x00"), "a/plain": []byte("text"),
	} {
		files = append(files, sandbox.File{Path: "/testbed/" + name, Data: data})
	}
	for words, refused := range map[string]bool{
		"small.tar.gz /x": false, ". /x": false, "a /x": false, "a/ /x": false, "not.gz a/plain *.none /x/": false, "half.tar.gz /x": false,
		"a/big.tar.gz /x": true, "./a/../a/big.tar.gz /x": true, "a/*.gz /x": true, "many.tar.gz /x": true, "half.tar.gz half.tar.gz /x": true,
		"a/link.tar /x": true, "x.tar.xz /x": true, "linked/big.tar.gz /x": true,
	} {
		if why := docker.Unbounded(files, strings.Fields(words), most); (why != "") != refused {
			t.Errorf("ADD %s: %q", words, why)
		}
	}
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
		{"no_such_user", "FROM %\nUSER nobody-here\nRUN true\n", "nobody-here", sandbox.Limits{}, sandbox.Exited},
		{"no_such_shell", "FROM %\nSHELL [\"/no/such\"]\nRUN true\n", "non-zero code: 127", sandbox.Limits{}, sandbox.Exited},
		{"run_in_nothing", "FROM scratch\nRUN true\n", "nothing is in the image", sandbox.Limits{}, sandbox.Exited},
		{"run_without_shell", "FROM scratch\nCOPY hello.sh /\nRUN true\n", "/usr/bin/env", sandbox.Limits{}, sandbox.Exited},
		{"options_of_run", "FROM %\nRUN --mount=type=cache,target=/x true\n", "--mount", sandbox.Limits{}, sandbox.Exited},
		{"processes", "FROM %\nRUN perl -e 'for (1..700) { sleep 30 unless fork } sleep 30'\n", "passed a limit", sandbox.Limits{Processes: 64}, sandbox.Processes},
		{"memory", "FROM %\nRUN tail /dev/zero\n", "passed a limit", sandbox.Limits{Memory: 64 << 20}, sandbox.Memory},
		{"disk", "FROM %\nRUN for i in 1 2 3; do head -c 50M /dev/zero >/$i; done; sleep 30\n", "passed a limit", sandbox.Limits{Disk: 100 << 20}, sandbox.Disk},
		{"disk_in_steps", "FROM %\nRUN head -c 60M /dev/zero >/1\nRUN head -c 60M /dev/zero >/2\n", ">/2' passed a limit", sandbox.Limits{Disk: 100 << 20}, sandbox.Disk},
		{"disk_by_copies", "FROM %\nRUN head -c 60M /dev/zero >/1\nFROM %\nCOPY --from=0 /1 /1\nCOPY --from=0 /1 /2\n", "larger than 100 MiB", sandbox.Limits{Disk: 100 << 20}, sandbox.Disk},
		{"third_copy", "FROM %\nRUN head -c 60M /dev/zero >/1\nFROM %\nCOPY --from=0 /1 /1\nCOPY --from=0 /1 /2\nCOPY none /\n", "larger than 100 MiB", sandbox.Limits{Disk: 100 << 20}, sandbox.Disk},
		{"archive", "FROM %\nADD bomb.tar.gz /x/\n", "unpacks to more than the disk limit", sandbox.Limits{Disk: 100 << 20}, sandbox.Exited},
		{"endless_output", "FROM %\nRUN yes\n", "y\ny\n", sandbox.Limits{Output: 1 << 16}, sandbox.Output},
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

// TestDeployCalls: a command of a Dockerfile is root, without what root can do elsewhere.
func TestDeployCalls(t *testing.T) {
	t.Parallel()
	box := open(t, docker.Options{})
	const ask = `FROM %
RUN id -u; grep NoNewPrivs /proc/self/status
RUN perl -e 'for ([40, 1, 0], [2, 3, 1]) { print "socket @$_: ", (socket(S, $_->[0], $_->[1], $_->[2]) ? "open" : $!), "\n" } syscall(425, 1, 0); print "io_uring: $!\n";'
RUN false
`
	_, res, err := deployed(t, box, ask, sandbox.Limits{})
	if !errors.As(err, new(*sandbox.BuildError)) {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n0\nNoNewPrivs:\t1\n", "socket 40 1 0: Address family not supported by protocol\n",
		"socket 2 3 1: Operation not permitted\n", "io_uring: Function not implemented\n",
	} {
		if !strings.Contains(string(res.Output), want) {
			t.Errorf("%q is not in %q", want, res.Output)
		}
	}
}

// TestDeployMeans: what a Dockerfile says means what it means to the engine's own builder, although
// commands do not run there.
func TestDeployMeans(t *testing.T) {
	t.Parallel()
	box := open(t, docker.Options{})
	const text = `ARG WORD=before
ARG LONGER=${WORD}-from
FROM % AS first
ARG LONGER
ENV KEPT=env
ARG KEPT=arg
RUN echo "$LONGER $KEPT [$WORD]" >/first
FROM first AS second
RUN echo "[$LONGER] $HTTPS_PROXY" >/second
FROM %
ENTRYPOINT ["/bin/sh", "-c"]
CMD ["cat /srv/first /srv/second /data/file answers; echo $GREETING; env | grep -ic proxy; id -u; pwd; exit 3"]
VOLUME /data
ARG NUMBER=1
ARG MORE="$NUMBER 2"
ENV GREETING="hi $MORE"
COPY --from=first /first /srv/
COPY --from=1 /second /srv/
SHELL ["/bin/bash", "-c"]
ADD small.tar.gz /srv/
RUN [[ $MORE == "1 2" ]] && mkdir -p /data && echo volume >/data/file && [[ -s /srv/zeros0 ]]
WORKDIR /work
RUN ["chown", "61000", "."]
USER 61000
RUN echo "$(id -u) $PWD" >answers
`
	layer, res, err := deployed(t, box, text, sandbox.Limits{})
	if err != nil {
		t.Fatalf("%v\n%s", err, res.Output)
	}
	got := served(t, box, layer)
	const want = "before-from env []\n[] http://127.0.0.1:3128\nvolume\n61000 /work\nhi 1 2\n0\n61000\n/work\n"
	if string(got.Output) != want || got.ExitCode != 3 {
		t.Errorf("exit %d, %q, want %q", got.ExitCode, got.Output, want)
	}
}

// served is what the service of an image leaves, which ends by itself.
func served(t *testing.T, box *docker.Sandbox, layer sandbox.Layer) sandbox.Served {
	t.Helper()
	base, err := box.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := box.Run(t.Context(), sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"sleep", "2"}}, Beside: &sandbox.Beside{Layer: layer, Deployed: true}})
	if err != nil {
		t.Fatal(err)
	}
	return *got.Beside
}

// TestDeployedEnds: a service that ends, by whatever code, is no fault of the machine.
func TestDeployedEnds(t *testing.T) {
	t.Parallel()
	box := open(t, docker.Options{})
	for _, tt := range []struct {
		name, text string
		code       int
		says       string
	}{
		{"as_if_killed", "CMD echo dying; exit 137", 137, "dying"},
		{"no_such_command", `CMD ["/no/such"]`, 127, "/no/such"},
		{"no_command", "ENTRYPOINT []\nCMD []", 126, "No command"},
		{"no_such_user", "USER nobody-here\nCMD true", 126, "nobody-here"},
		// As our own first process says that the machine was short of memory.
		{"forged_end", "RUN mkdir -p /run/benchmint-end && echo killed 1 >/run/benchmint-end/end\nCMD echo dying; exit 5", 5, "dying"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			layer, res, err := deployed(t, box, "FROM %\n"+tt.text+"\n", sandbox.Limits{})
			if err != nil {
				t.Fatalf("%v\n%s", err, res.Output)
			}
			if b := served(t, box, layer); b.End != sandbox.Exited || b.ExitCode != tt.code || !strings.Contains(string(b.Output), tt.says) {
				t.Errorf("%s, exit %d, output %q", b.End, b.ExitCode, b.Output)
			}
		})
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
