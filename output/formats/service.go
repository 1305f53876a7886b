package formats

import (
	_ "embed" // what judges a service
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed convert/serve.sh
var serveScript string

//go:embed convert/http.py
var convertHTTP []byte

// testerUID is whom the suite of a service runs as: not the owner of the tree, who can neither
// read the cases nor write a report, nor end or look into the tester.
const testerUID = sandbox.UID + 1

// serviceTime is how long a service is built and asked: less than clients wait for a script, as
// an answer that hangs has failed.
const serviceTime = 25 * time.Minute

// JudgeImage is the local name of the image that a task's answer is judged in: the task's own, or
// that of the judge of a service, which has the environment of the tester.
func JudgeImage(r output.Row) string {
	if x := r.Benchmint; x.Kind != schemas.KindService || x.Service == nil || x.Service.BaseImage != "" {
		return Image(r)
	}
	return Image(r) + "-judge"
}

// serviceFits is nil where a service can be judged within one container.
func serviceFits(t Task) error {
	if t.Recipe.Service == nil {
		return nil
	}
	if t.Recipe.Deployed() {
		return errors.New("the answer brings the image of its service: no client builds one within its container")
	}
	if t.Recipe.Service.Tester == nil {
		return errors.New("its recipe has no environment for the tester")
	}
	for _, p := range changed(t.Base, t.Start) {
		if !schemas.InSuite(p) {
			return fmt.Errorf("test_patch changes a file that the service has: %q", p)
		}
	}
	return nil
}

// serve asks the service as run runs tests: $rc is 0 where all cases pass, $work/log what was
// said. The suite lies where only the tester reads it, and not in the tree.
func (s *script) serve(t Task) (results string, err error) {
	if err := serviceFits(t); err != nil {
		return "", err
	}
	place := func(n int) httpsuite.Place {
		return httpsuite.Place{Python: httpsuite.JudgePython, Folder: "@suite@", Report: fmt.Sprintf("@reports@/%d.xml", n)}
	}
	s.say("\n# The suite is the tester's alone, whatever the patch brings under its name.")
	s.say("rm -rf -- %s", schemas.SuiteFolder)
	s.say("chmod 711 \"$work\" && : >\"$work/log\" && chmod 600 \"$work/log\" || exit 2")
	s.say("mkdir -m 700 \"$work/private\" \"$work/reports\" && mkdir -m 750 \"$work/suite\" && mkdir \"$work/suite/%s\" || exit 2", schemas.SuiteFolder)
	for _, p := range t.Start.Paths() {
		if !schemas.InSuite(p) {
			continue
		}
		data, err := t.Start.Read(p)
		if err != nil {
			return "", err
		}
		s.put(&s.Buffer, path.Join("suite", p), data)
	}
	s.say("chown -R 0:%[1]d \"$work/suite\" && chown %[1]d:%[1]d \"$work/reports\" || exit 2", testerUID)

	s.say("\n# The service is built once. Each process of the tester asks one of its own, in the state after the build.")
	s.say("tester=%d deadline=%d rc=0 kept=(%s) passing=(%s)", testerUID, int(serviceTime.Seconds()), strings.Join(sandbox.Kept(), " "), strings.Join(append(sandbox.Shared(), sandbox.RunPath), " "))
	s.WriteString(serveScript)
	start := serve.Start(*t.Recipe.Service, false)
	s.say("serve() { owned %s; }", placed(start, t.Recipe.Variables))
	var build strings.Builder
	for _, c := range t.Recipe.Build {
		build.WriteString(recipe.ShellLine(c, nil, t.Recipe.Variables) + " || exit 4\n")
	}
	s.put(&s.Buffer, "build.sh", []byte(build.String()))
	questions := httpsuite.Questions(t.Recipe, t.Start, place)
	cases := [][]string{}
	for _, q := range questions {
		cases = append(cases, q.Tests)
	}
	known, err := json.Marshal(cases)
	if err != nil {
		return "", err
	}
	s.put(&s.Buffer, "cases.json", append(known, '\n'))
	s.put(&s.Buffer, "convert.py", convertHTTP)
	s.say("chmod 600 \"$work/cases.json\"")
	for _, name := range t.Recipe.Names() {
		s.say("echo 127.0.0.1 %s >>/etc/hosts || exit 2", recipe.Quote(name))
	}
	s.say("mkdir -p %[1]s && chown -R \"$owner\" . %[1]s || exit 2", sandbox.RunPath)
	s.say("build %s \"$work/build.sh\" || exit 2", placed(schemas.Command{Dir: sandbox.TreePath, Argv: []string{"bash"}}, t.Recipe.Variables))
	s.say("[ \"$built\" = 0 ] || rc=$built")
	own := map[string]string{"HOME": "@reports@", "TMPDIR": "@reports@"}
	for n, q := range questions {
		line := placed(q.Command, t.Recipe.Service.Tester.Variables, own)
		s.say("ask %d %s", n, strings.NewReplacer("@suite@", `"$work/suite"`, "@reports@", `"$work/reports"`).Replace(line))
	}
	return httpsuite.JudgePython + ` -I -S -B "$work/convert.py" "$work/cases.json" "$work/private/code" "$work/reports"`, nil
}

// placed is a command as the script's functions take it: folder, variables, words.
func placed(c schemas.Command, envs ...map[string]string) string {
	words := slices.Concat([]string{c.Dir}, sandbox.Environ(append(envs, c.Env)...), c.Argv)
	for i, w := range words {
		words[i] = recipe.Quote(w)
	}
	return strings.Join(words, " ")
}
