// Command boot makes the recipe of the service of a checkout by rule and prints it with its
// evidence. With -try it also builds the environment and starts the service in bwrap, without a
// network but its own, and says how it answered. It never runs anything of a checkout outside of the
// sandbox.
//
//	go run ./bench/boot [-try] [-at COMMIT] [-json] FOLDER…
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

func main() {
	b := &boot{}
	flag.BoolVar(&b.try, "try", false, "build the environment and start the service in bwrap")
	flag.StringVar(&b.at, "at", "HEAD", "commit")
	flag.StringVar(&b.framework, "framework", "", "instead of that of the routes")
	flag.StringVar(&b.cache, "cache", "", "folder of toolchains and layers; the default is benchmint's own")
	flag.BoolVar(&b.shift, "shift", false, "start it under a shifted clock")
	asJSON := flag.Bool("json", false, "print the recipe as JSON")
	flag.Parse()
	b.json = *asJSON
	failed := false
	for _, dir := range flag.Args() {
		fmt.Printf("== %s\n", filepath.Base(dir))
		if err := b.one(context.Background(), dir); err != nil {
			fmt.Println("END:", err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

type boot struct {
	try, json, shift     bool
	at, framework, cache string
	builder              *environment.Builder
}

// one reads one checkout, and tries it where that is asked for.
func (b *boot) one(ctx context.Context, dir string) error {
	t, date, err := checkout(dir, b.at)
	if err != nil {
		return err
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	language, table := read(t)
	if b.framework != "" {
		table.Framework = b.framework
		language = map[string]string{"flask": "python", "fastapi": "python"}[b.framework]
		if language == "" {
			language = "go"
		}
	}
	if language == "" {
		return errors.New("no framework declares a route")
	}
	l := b.builder.Languages[language]
	server, ok := l.(lang.Server)
	if !ok {
		return errors.New(language + " starts no services")
	}
	available, err := b.builder.Toolchains.Available(ctx, l.Toolchains()...)
	if err != nil {
		return err
	}
	p := lang.Project{Name: filepath.Base(dir), Base: t, Solution: t, Date: date, PinToDate: true, Available: available}
	r, err := server.Serve(p, table.Framework)
	if err != nil {
		return err
	}
	b.print(r)
	if !b.try {
		return nil
	}
	return b.start(ctx, p, t, r, table)
}

func (b *boot) print(r schemas.Recipe) {
	if b.json {
		text, _ := json.MarshalIndent(r, "", "  ")
		fmt.Println(string(text))
		return
	}
	for _, e := range r.Evidence {
		if e.Field != "requirements" {
			fmt.Printf("  %-20s %s   [%s]\n", e.Field, e.Value, e.Source)
		}
	}
	fmt.Printf("  %d requirements; start in %q: %s\n", len(r.Requirements), r.Service.Start.Dir, recipe.ShellLine(schemas.Command{Argv: r.Service.Start.Argv}))
}

// start builds what a proof builds, and asks the service from inside of its sandbox.
func (b *boot) start(ctx context.Context, p lang.Project, t *tree.Tree, r schemas.Recipe, table routes.Table) error {
	for attempt := 1; ; attempt++ {
		log, err := b.attempt(ctx, p, t, &r, table)
		if err == nil {
			return nil
		}
		repaired, ok := b.builder.Languages[r.Language].Repair(p, r, log)
		if !ok || attempt == environment.Attempts {
			return fmt.Errorf("%w\n%s", err, tail(log))
		}
		r = repaired
		fmt.Printf("  repair: %s\n", r.Repairs[len(r.Repairs)-1].Edit)
	}
}

func (b *boot) attempt(ctx context.Context, p lang.Project, t *tree.Tree, r *schemas.Recipe, table routes.Table) (log []byte, err error) {
	began := time.Now()
	var built *sandbox.BuildError
	locked, err := b.builder.Lock(ctx, p, *r)
	if err != nil {
		errors.As(err, &built)
		return logOf(built), fmt.Errorf("lock: %w", err)
	}
	env, err := b.builder.Env(ctx, locked)
	if err != nil {
		errors.As(err, &built)
		return logOf(built), fmt.Errorf("environment: %w", err)
	}
	*r = locked
	fmt.Printf("  environment %.0f s\n", time.Since(began).Seconds())
	began = time.Now()
	files, err := seal.Files(t, p.Date)
	if err != nil {
		return nil, err
	}
	state := locked
	state.Build = append(state.Build, serve.Prepare(*locked.Service)...)
	layer, err := b.builder.State(ctx, env, state, files)
	if err != nil {
		errors.As(err, &built)
		return logOf(built), fmt.Errorf("state: %w", err)
	}
	defer func() { _ = b.builder.Sandbox.Remove(ctx, layer) }()
	fmt.Printf("  state %.0f s\n", time.Since(began).Seconds())
	command := serve.Start(*locked.Service, b.shift)
	res, err := b.builder.Sandbox.Run(ctx, sandbox.Run{
		Layer: layer, Env: locked.Variables, Limits: b.builder.Limits,
		Command: schemas.Command{Argv: append([]string{"bash", "-c", ask, "ask", strconv.Itoa(locked.Service.Port), probes(table)}, command.Argv...), Dir: command.Dir, Env: command.Env},
	})
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s", indent(res.Output))
	if res.ExitCode != 0 {
		return res.Output, fmt.Errorf("the service does not answer (%s, %d)", res.End, res.ExitCode)
	}
	return nil, nil
}

// ask starts the service beside itself and asks it: $1 is the port, $2 the paths.
const ask = `port=$1 paths=$2; shift 2
"$@" >/tmp/service.log 2>&1 &
service=$!
began=$(date +%s%N)
for i in $(seq 300); do
  kill -0 $service 2>/dev/null || { echo "the service ended"; tail -n 60 /tmp/service.log; exit 3; }
  code=$(curl -s -o /tmp/body -m 5 -w '%{http_code}' "http://127.0.0.1:$port/")
  [ "$code" != 000 ] && break
  sleep 0.1
done
curl -s -o /dev/null -D - "http://127.0.0.1:$port/" | grep -i '^date:'
echo "answers after $(( ($(date +%s%N) - began) / 1000000 )) ms: / $code"
[ "$code" = 000 ] && { echo "listening:"; awk 'NR>1 && $4=="0A" {print $2}' /proc/net/tcp /proc/net/tcp6; tail -n 60 /tmp/service.log; exit 4; }
good=0
for p in $paths; do
  code=$(curl -s -o /tmp/body -m 5 -w '%{http_code}' "http://127.0.0.1:$port$p")
  echo "GET $p $code $(head -c 100 /tmp/body | tr '\n' ' ')"
  [ "$code" = 000 ] || [ "$code" -ge 500 ] || good=1
done
[ "$good" = 1 ] || [ -z "$paths" ] || { tail -n 60 /tmp/service.log; exit 5; }
`

func probes(table routes.Table) string {
	var all []serve.Route
	for _, r := range table.Routes {
		all = append(all, serve.Route{Method: r.Method, Path: r.Path, Group: r.Group()})
	}
	return strings.Join(serve.Probes(all, func(string) bool { return true }), " ")
}

func indent(text []byte) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    ") + "\n"
}

func tail(log []byte) string {
	const most = 3000
	return string(log[max(0, len(log)-most):])
}

func logOf(e *sandbox.BuildError) []byte {
	if e == nil {
		return nil
	}
	return e.Result.Output
}

// read is the language with the most routes.
func read(t lang.Tree) (language string, table routes.Table) {
	for _, l := range []string{"python", "go"} {
		if own, err := routes.Read(t, l); err == nil && len(own.Routes) > len(table.Routes) {
			language, table = l, own
		}
	}
	return language, table
}

// checkout reads a commit of a folder.
func checkout(dir, at string) (*tree.Tree, time.Time, error) {
	rows, err := git(dir, "ls-tree", "-r", "-z", at)
	if err != nil {
		return nil, time.Time{}, err
	}
	var entries []tree.Entry
	for _, row := range strings.Split(strings.TrimSuffix(string(rows), "\x00"), "\x00") {
		head, p, _ := strings.Cut(row, "\t")
		words := strings.Fields(head)
		if len(words) != 3 || words[1] != "blob" {
			continue
		}
		if data, err := git(dir, "cat-file", "blob", words[2]); err == nil { // large files may be absent
			entries = append(entries, tree.Entry{Path: p, Mode: words[0], Data: data})
		}
	}
	t, err := tree.New(entries)
	if err != nil {
		return nil, time.Time{}, err
	}
	stamp, err := git(dir, "log", "-1", "--format=%ct", at)
	if err != nil {
		return nil, time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(stamp)), 10, 64)
	return t, time.Unix(seconds, 0).UTC(), err
}

func git(dir string, args ...string) ([]byte, error) {
	return exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
}

// open makes the builder once.
func (b *boot) open(ctx context.Context) error {
	if b.builder != nil {
		return nil
	}
	cache := b.cache
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(user, "benchmint")
	}
	bundle := os.Getenv("SSL_CERT_FILE")
	if bundle == "" {
		bundle = "/etc/ssl/certs/ca-certificates.crt"
	}
	env := sandbox.RegistryEnv(os.Environ())
	b.builder = &environment.Builder{
		Toolchains: toolchain.New(toolchain.Host{Cache: cache, Env: os.Environ(), CABundle: bundle}),
		Languages:  plugins.Languages(), Runners: plugins.Runners(), Limits: sandbox.Limits{Timeout: 20 * time.Minute},
	}
	if !b.try {
		return nil
	}
	box, err := bwrap.New(ctx, bwrap.Options{
		Dir: filepath.Join(cache, "sandbox"), CABundle: bundle, Env: env, Upstream: http.ProxyFromEnvironment,
		Registries: append(sandbox.PublicRegistries(), sandbox.RegistryHosts(env)...),
	})
	if err != nil {
		return err
	}
	b.builder.Sandbox = sandbox.Again(box)
	return nil
}
