// Package settings reads what a repository says about the environment that its service runs
// in: .env files and examples of them, compose files, Dockerfiles and readmes.
//
// It never reads the environment of this machine, and never runs a shell: a value that only a
// shell could expand is left out.
package settings

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Tree is one commit's tree, as the settings are read from it.
type Tree interface {
	Paths() []string
	Has(path string) bool
	Read(path string) ([]byte, error)
}

// Value is what one source says about one variable.
type Value struct {
	Text   string
	Source string // path:line
}

// Settings are the variables of a service. The first source that names a variable decides.
type Settings struct {
	Values map[string]Value
	// Example is the file that an .env is copied from, "" where the tree has an .env or no
	// example of one; its content is ExampleText.
	Example     string
	ExampleText string
	// Own reports that the folder of the service holds an .env.
	Own bool
	// Hosts are the kinds of databases of the services of compose files, by their name.
	Hosts map[string]string
	// Commands are the shell lines that Dockerfiles, compose files, Procfiles and start
	// scripts run, in that order; readmes come last.
	Commands []Value
}

// The bounds of what is read of one tree.
const (
	maxFile  = 256 << 10
	maxFiles = 200
)

// exampleNames are the files of example settings, best first.
var exampleNames = []string{
	".env.example", ".env.sample", ".env.template", ".env.dist", ".env.tmpl", "env.example", "example.env", "sample.env", "env.sample", ".env-example",
	".env-sample", "dev.env", ".env.dev", ".env.development", ".env.local", ".env.docker", ".env.default", "default.env", ".flaskenv",
}

// otherExample matches the files of example settings that people call otherwise.
var otherExample = lazyregexp.New(`(?i)^\.?env[._-](?:[\w.-]*[._-])?(?:examples?|samples?|template|dist|default|rename|copy|local|dev)(?:[._-]\w+)*$`)

// Read reads the sources of a service whose folder is dir ("" is the root). The folder comes
// before the root of the tree.
func Read(t Tree, dir string) *Settings {
	s := &Settings{Values: map[string]Value{}, Hosts: map[string]string{}}
	dirs := folders(dir)
	s.Own = t.Has(path.Join(dir, ".env"))
	for _, d := range dirs {
		s.dotenv(t, path.Join(d, ".env"))
	}
	for _, d := range dirs {
		for _, name := range exampleNames {
			s.example(t, path.Join(d, name), d == dir)
		}
		for _, p := range t.Paths() {
			if folderOf(p) == d && otherExample.MatchString(path.Base(p)) && !slices.Contains(exampleNames, path.Base(p)) {
				s.example(t, p, d == dir)
			}
		}
	}
	for _, d := range dirs {
		s.compose(t, d)
	}
	s.dockerfiles(t, dirs)
	s.scripts(t, dirs)
	s.readmes(t, dirs)
	return s
}

// folders are a folder and those above it, the root last.
func folders(dir string) []string {
	if dir == "." {
		dir = ""
	}
	out := []string{dir}
	for dir != "" {
		if dir = path.Dir(dir); dir == "." {
			dir = ""
		}
		out = append(out, dir)
	}
	return out
}

func read(t Tree, p string) string {
	if !t.Has(p) {
		return ""
	}
	data, err := t.Read(p)
	if err != nil || len(data) > maxFile {
		return ""
	}
	return string(data)
}

func (s *Settings) example(t Tree, p string, own bool) {
	text := read(t, p)
	if text == "" {
		return
	}
	if s.Example == "" && own && !s.Own && path.Base(p) != ".flaskenv" {
		s.Example, s.ExampleText = p, text
	}
	s.dotenv(t, p)
}

var assignment = lazyregexp.New(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*[=:]\s*(.*)$`)

// dotenv takes the assignments of one file of NAME=value lines.
func (s *Settings) dotenv(t Tree, p string) {
	for i, line := range strings.Split(read(t, p), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if x := assignment.FindStringSubmatch(line); x != nil {
			s.set(x[1], unquote(x[2]), place(p, i))
		}
	}
}

func place(p string, line int) string { return p + ":" + strconv.Itoa(line+1) }

// unquote takes quotes and a comment behind a blank off a value.
func unquote(v string) string {
	v = strings.TrimSpace(v)
	if v == "" {
		return ""
	}
	if q := v[0]; q == '"' || q == '\'' || q == '`' {
		if end := strings.IndexByte(v[1:], q); end >= 0 {
			return v[1 : 1+end]
		}
	}
	if v[0] == '#' {
		return ""
	}
	if i := strings.Index(v, " #"); i >= 0 {
		v = v[:i]
	}
	return strings.TrimSpace(v)
}

// reserved are the variables that the sandbox sets, by which a loader takes code, or a program lists words instead of running.
var reserved = lazyregexp.New(`^(?:PATH|HOME|PWD|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_.*|LD_.*|BASH_.*|ENV|IFS|PYTHON\w*|VIRTUAL_ENV|WEB_CONCURRENCY|(?:UVICORN|GUNICORN)_.*|CGO_ENABLED|GO(?:CACHE|PATH|ROOT|FLAGS|PROXY|ENV|MODCACHE|TOOLCHAIN|OS|ARCH|DEBUG|MAXPROCS|MEMLIMIT)|PIP_.*|UV_.*|POETRY_.*|DEBIAN_FRONTEND|https?_proxy|HTTPS?_PROXY|DOCKER_.*|COMPOSE_.*|GO_FLAGS_COMPLETION|COMP_(?:LINE|POINT)|_\w+_COMPLETE)$`)

// Reserved reports whether a variable is the sandbox's to set, whatever a program asks for.
func Reserved(name string) bool { return reserved.MatchString(name) }

// set keeps the first value of a name. What a shell would have to expand is resolved by the
// names that are known, and left out where it is not.
func (s *Settings) set(name, value, source string) {
	if _, there := s.Values[name]; there || reserved.MatchString(name) || len(value) > 4096 || strings.ContainsAny(value, "\x00\n\r") {
		return
	}
	value, ok := s.expand(value)
	if !ok {
		return
	}
	s.Values[name] = Value{value, source}
}

var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-?])([^}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)`)

// expand replaces ${NAME}, ${NAME-default} and $NAME; false where a name is not known.
func (s *Settings) expand(value string) (string, bool) {
	known := true
	out := reference.ReplaceAllStringFunc(value, func(m string) string {
		x := reference.FindStringSubmatch(m)
		name := x[1] + x[4]
		if v, ok := s.Values[name]; ok && v.Text != "" {
			return v.Text
		}
		if strings.HasSuffix(x[2], "-") {
			return x[3]
		}
		known = known && s.Values[name] != (Value{})
		return ""
	})
	return out, known
}

// compose reads the environment of the services of a folder's compose files, those that
// are built from the tree first.
func (s *Settings) compose(t Tree, dir string) {
	for _, name := range []string{"docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "docker-compose.dev.yml", "docker-compose.override.yml", "docker-compose.local.yml"} {
		p := path.Join(dir, name)
		services := composeServices(read(t, p))
		slices.SortStableFunc(services, func(a, b composeService) int {
			return rank(a) - rank(b)
		})
		for _, c := range services {
			if kind := kindOfImage(c.image); kind != "" {
				s.Hosts[c.name] = kind
			}
			for _, f := range c.envFiles {
				s.dotenv(t, path.Join(dir, f))
			}
			for _, e := range c.env {
				s.set(e.name, e.value, place(p, e.line))
			}
			if c.built && c.command != "" {
				s.Commands = append(s.Commands, Value{c.command, place(p, c.commandLine)})
			}
		}
	}
}

func rank(c composeService) int {
	if c.built {
		return 0
	}
	return 1
}

var (
	dockerENV = lazyregexp.New(`(?i)^\s*(?:ENV|ARG)\s+(.+)$`)
	dockerRun = lazyregexp.New(`(?i)^\s*(?:CMD|ENTRYPOINT)\s+(.+)$`)
	envPair   = lazyregexp.New(`([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|\S*)`)
)

func (s *Settings) dockerfiles(t Tree, dirs []string) {
	for _, p := range Dockerfiles(t, dirs) {
		for i, line := range strings.Split(joinLines(read(t, p)), "\n") {
			if x := dockerENV.FindStringSubmatch(line); x != nil {
				pairs := envPair.FindAllStringSubmatch(x[1], -1)
				if name, value, ok := strings.Cut(x[1], " "); ok && len(pairs) == 0 {
					pairs = [][]string{{"", name, value}}
				}
				for _, e := range pairs {
					s.set(e[1], unquote(e[2]), place(p, i))
				}
			}
			if x := dockerRun.FindStringSubmatch(line); x != nil {
				s.Commands = append(s.Commands, Value{words(x[1]), place(p, i)})
			}
		}
	}
}

// Dockerfiles are the Dockerfiles of folders, and of those that hold nothing else.
func Dockerfiles(t Tree, dirs []string) []string {
	var out []string
	for _, d := range dirs {
		for _, name := range []string{"Dockerfile", "docker/Dockerfile", "build/Dockerfile", "deploy/Dockerfile", "Dockerfile.dev", "Containerfile"} {
			if p := path.Join(d, name); t.Has(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// joinLines joins what a backslash continues and keeps the number of lines.
func joinLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := len(lines) - 2; i >= 0; i-- {
		if head, ok := strings.CutSuffix(strings.TrimRight(lines[i], " \t"), `\`); ok {
			lines[i], lines[i+1] = head+" "+strings.TrimSpace(lines[i+1]), ""
		}
	}
	return strings.Join(lines, "\n")
}

var jsonWord = lazyregexp.New(`"((?:[^"\\]|\\.)*)"`)

// words is a command as one line: the JSON form of Docker loses its brackets.
func words(command string) string {
	command = strings.TrimSpace(command)
	if !strings.HasPrefix(command, "[") {
		return command
	}
	var out []string
	for _, x := range jsonWord.FindAllStringSubmatch(command, -1) {
		out = append(out, x[1])
	}
	return strings.Join(out, " ")
}

// scriptNames are the scripts by which containers and people start a service.
var scriptNames = lazyregexp.New(`(?i)^(?:.*/)?(?:prestart|pre[-_]start|entry-?point|docker[-_]entrypoint|start[\w-]*|run|boot|serve|launch|init|setup[-_]db)\.sh$|(?:^|/)Procfile$|(?:^|/)Makefile$`)

func (s *Settings) scripts(t Tree, dirs []string) {
	root := dirs[0]
	var procfiles, shells, makes []string
	for _, p := range t.Paths() {
		under := root == "" || strings.HasPrefix(p, root+"/")
		depth := strings.Count(strings.TrimPrefix(p, root), "/")
		if !scriptNames.MatchString(p) || !(under && depth <= 3 || !strings.Contains(p, "/")) {
			continue
		}
		switch path.Base(p) {
		case "Procfile":
			procfiles = append(procfiles, p)
		case "Makefile":
			makes = append(makes, p)
		default:
			shells = append(shells, p)
		}
	}
	for _, p := range slices.Concat(procfiles, shells, makes)[:min(maxFiles, len(procfiles)+len(shells)+len(makes))] {
		for i, line := range strings.Split(joinLines(read(t, p)), "\n") {
			line = strings.TrimSpace(line)
			if path.Base(p) == "Procfile" {
				if kind, rest, ok := strings.Cut(line, ":"); ok && (kind == "web" || kind == "release" || kind == "api") {
					s.Commands = append(s.Commands, Value{strings.TrimSpace(rest), place(p, i)})
				}
				continue
			}
			line = strings.TrimLeft(line, "@-")
			if line != "" && line[0] != '#' {
				s.Commands = append(s.Commands, Value{line, place(p, i)})
			}
		}
	}
}

var (
	readmeName   = lazyregexp.New(`(?i)^readme(?:\.\w+)?$`)
	readmeExport = lazyregexp.New("^[\\s$>`]*(?:export|set)\\s+([A-Z_][A-Z0-9_]*)=(.*?)`?$")
	readmeRun    = lazyregexp.New("^[\\s$>`]*((?:[A-Z_]+=\\S+\\s+)*(?:\\./\\S+|python3?|flask|uvicorn|gunicorn|hypercorn|fastapi|alembic|poetry run|pipenv run|uv run|go run|make)\\s.*?)`*$")
)

// readmes give what people are told to export, and the commands that they are told to run.
func (s *Settings) readmes(t Tree, dirs []string) {
	for _, p := range t.Paths() {
		if !slices.Contains(dirs, folderOf(p)) || !readmeName.MatchString(path.Base(p)) {
			continue
		}
		for i, line := range strings.Split(read(t, p), "\n") {
			if x := readmeExport.FindStringSubmatch(strings.TrimRight(line, "\r ")); x != nil {
				s.set(x[1], unquote(x[2]), place(p, i))
			}
			if x := readmeRun.FindStringSubmatch(strings.TrimRight(line, "\r ")); x != nil {
				s.Commands = append(s.Commands, Value{x[1], place(p, i)})
			}
		}
	}
}

func folderOf(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

// Dotenv is the text of the example with the values that a service is started with.
func (s *Settings) Dotenv(values map[string]string) string {
	lines := strings.Split(strings.ReplaceAll(s.ExampleText, "\r\n", "\n"), "\n")
	for i, line := range lines {
		x := assignment.FindStringSubmatch(strings.TrimSpace(line))
		if x == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if v, ok := values[x[1]]; ok && v != unquote(x[2]) {
			lines[i] = x[1] + "=" + v
		}
	}
	return strings.Join(lines, "\n")
}
