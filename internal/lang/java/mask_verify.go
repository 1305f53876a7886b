package java

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ verify.Language = Masker{}

// The variables by which a check knows Maven, where there is one.
const (
	mavenVariable      = "MAVEN"
	repositoryVariable = "REPOSITORY"
)

// Toolchain is the javac of this machine, with the jars that were named, or Maven with
// those that it downloaded.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	program, err := m.Look("javac")
	if err != nil {
		return nil, err
	}
	version, err := m.Ask(ctx, program, "-version")
	if err != nil {
		return nil, err
	}
	kit := &verify.Kit{Label: version, Env: map[string]string{}}
	if kit.Program, err = kit.ShowProgram("jdk", program); err != nil {
		return nil, err
	}
	for i, jar := range m.Classpath {
		dir, base := jar, ""
		if info, err := os.Stat(jar); err == nil && !info.IsDir() {
			dir, base = filepath.Split(jar)
		}
		shown, err := kit.Show("classpath"+strconv.Itoa(i), dir)
		if err != nil {
			return nil, err
		}
		kit.Depends = append(kit.Depends, path.Join(shown, base))
	}
	if len(m.Classpath) == 0 {
		err = showMaven(kit, m)
	}
	return kit, err
}

// showMaven shows Maven's program and what it downloaded, and none of its settings, which
// may hold passwords.
func showMaven(kit *verify.Kit, m verify.Machine) error {
	program, err := m.Look("mvn")
	if err != nil {
		return nil // javac alone is enough for what depends on nothing
	}
	repository := filepath.Join(m.Lookup("HOME"), ".m2", "repository")
	if _, err := os.Stat(repository); err != nil {
		return nil
	}
	mvn, err := kit.ShowProgram("maven", program)
	if err != nil {
		return err
	}
	kit.Env[mavenVariable] = path.Dir(path.Dir(mvn))
	kit.Env[repositoryVariable], err = kit.Show("maven-repository", repository)
	return err
}

// compile compiles without running anything of the tree but what its pom names, and goes
// on behind a fault. Maven is asked for the jars without its script and its settings, and
// without looking whence they came.
const compile = `javac=$1 list=$2 classpath=$3
if [ -n "$MAVEN" ] && [ -f pom.xml ]; then
	printf 'main is org.apache.maven.cli.MavenCli from plexus.core\n[plexus.core]\nload ${maven.home}/lib/*.jar\n' >/tmp/m2.conf
	"${javac%javac}java" -cp "$(ls "$MAVEN"/boot/*.jar | tr '\n' :)" -Dclassworlds.conf=/tmp/m2.conf -Dmaven.home="$MAVEN" \
		-Dmaven.multiModuleProjectDirectory="$PWD" org.codehaus.plexus.classworlds.launcher.Launcher \
		-o -q -fn -B -Dmaven.repo.local="$REPOSITORY" -Dmaven.legacyLocalRepo=true -Daether.enhancedLocalRepository.trackingFilename=none \
		dependency:build-classpath -Dmdep.outputFile=.benchmint-classpath </dev/null >/tmp/maven 2>&1
	classpath=$(find . -name .benchmint-classpath -exec cat {} + -exec echo : \; | tr -d '\n')
	[ -n "$classpath" ] || echo "maven: $(sed -n '/ERROR/{s/.*ERROR[] ]*//;s/^org[^ ]* - //;p;q}' /tmp/maven)"
fi
mkdir /tmp/classes
exec "$javac" -proc:none -implicit:none -nowarn -encoding UTF-8 -Xmaxerrs 10000 -XDshould-stop.ifError=FLOW -XDshouldStopPolicyIfError=FLOW \
	-d /tmp/classes -cp "$classpath" "@$list"
`

// Checks compile what ships, all at once: the names of a class path, not of modules.
func (Masker) Checks(t *verify.Tree, k *verify.Kit) ([]verify.Check, error) {
	var files, quoted []string
	for _, f := range t.Files {
		if (Masker{}).Exempt(f.Path, nil).Kind == "" && f.Kind != mask.Vendored && !otherRelease.MatchString(f.Path) {
			files = append(files, f.Path)
			quoted = append(quoted, strconv.Quote(f.Path))
		}
	}
	if len(files) == 0 {
		return nil, errors.New("the source has no Java but tests")
	}
	list, at := verify.List(quoted)
	return []verify.Check{{
		What: "javac", Of: "files", Inputs: []sandbox.File{list},
		Command: schemas.Command{Argv: []string{"/bin/sh", "-c", compile, "sh", k.Program, at, strings.Join(k.Depends, ":")}},
		Read:    func(s verify.Said) verify.Report { return readJavac(files, s) },
	}}, nil
}

var (
	// Sources for one release of Java, beside the same classes for another, and templates.
	otherRelease = lazyregexp.New(`(^|/)(META-INF/versions/\d+|src/main/java-?\d+|src/main/resources)/`)
	javacError   = lazyregexp.New(`^([^\s:].*\.java):(\d+): error: (.*)$`)
	symbolLine   = lazyregexp.New(`^\s+symbol:\s+(.*)$`)
)

func readJavac(files []string, s verify.Said) verify.Report {
	r := verify.Report{Units: files}
	for line := range strings.Lines(string(s.Output)) {
		line = strings.TrimRight(line, "\r\n")
		if m := javacError.FindStringSubmatch(line); m != nil {
			at, _ := strconv.Atoi(m[2]) // digits
			r.Faults = append(r.Faults, verify.Fault{Unit: m[1], Path: m[1], Line: at, Message: m[3]})
		} else if why, ok := strings.CutPrefix(line, "maven: "); ok && why != "" {
			r.Lacks = "without the jars of its pom: " + why
		} else if m := symbolLine.FindStringSubmatch(line); m != nil && len(r.Faults) > 0 {
			r.Faults[len(r.Faults)-1].Message += ": " + m[1]
		}
	}
	if s.Code != 0 && len(r.Faults) == 0 {
		r.Untold = "javac: " + verify.First(string(s.Output))
	}
	return r
}
