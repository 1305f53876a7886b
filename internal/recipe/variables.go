package recipe

import (
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// rule is one row of the table of variables.
type rule struct {
	names  *lazyregexp.Regexp
	values *lazyregexp.Regexp // of those that pass; nil is every plain value, none is no value
	reason string
}

// none is the pattern that no value matches.
var none = lazyregexp.New(`\z.\A`)

// plain is a value that names no program and no path, and that no shell takes for more
// than words: numbers, switches, versions, names of modules and settings, lists of these.
var plain = lazyregexp.New(`^[A-Za-z0-9_.,:=+@%^~!* -]*$`)

// address is where a service answers: it names nothing on this machine.
var address = lazyregexp.New(`^(?:https?|postgres(?:ql)?(?:\+[a-z0-9]+)?|mysql(?:\+[a-z0-9]+)?|mariadb|mongodb|rediss?|amqps?|memcached?|nats|tcp|ldaps?|smtps?)://[A-Za-z0-9_.,:=+@%&?/\[\]*-]*$`)

// credential is how variables are called that may hold one.
var credential = lazyregexp.New(`(?i)TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|(?:^|_)KEYS?$`)

// rules is the one table of variables that a project may set for its builds and tests by
// its CI, its test runner's configuration or a repair. The first rule that knows a name
// decides. What no rule knows passes with a plain value or the address of a service: such
// a value names no program to be run and no path to load code from.
var rules = []rule{
	{credential, none, "it may be a credential"},
	{lazyregexp.New(`(?i)^(?:CI$|CI_|GITHUB_|GITLAB_|RUNNER_|TRAVIS|CIRCLE|APPVEYOR|CODECOV|COVERALLS|COVERAGE|COVER|PRE_COMMIT|CACHE|CIBW_|TOX|NOX|HATCH_|PDM_|POETRY_|PIPENV_|FORCE_COLOR$|NO_COLOR$|CLICOLOR|PY_COLORS$|COLUMNS$|LINES$|TERM$)`), none, "it speaks to a service or to a tool that no step runs"},
	{lazyregexp.New(`(?i)^(?:PATH|HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|TMP|TEMP|TMPDIR|CDPATH|XDG_.*|VIRTUAL_ENV.*|CONDA.*|HOSTALIASES|HOSTNAME|BENCHMINT.*)$`), none, "the recipe and the sandbox set it"},
	{lazyregexp.New(`(?i)^(?:LD_|DYLD_|GLIBC_|GCONV_|NLSPATH|LOCPATH|MALLOC_|LIBC_|ASAN_|LSAN_|UBSAN_|TSAN_|LIBRARY_PATH|C_INCLUDE_PATH|CPLUS_INCLUDE_PATH|CPATH|COMPILER_PATH|GCC_|OPENSSL_|SSL_|CURL_|REQUESTS_CA)`), none, "a loader, compiler or library reads code or trust from where it says"},
	{lazyregexp.New(`(?i)^(?:ENV|BASH.*|SH_.*|ZDOTDIR|IFS|PS[0-9]|PROMPT_COMMAND|SHELLOPTS|POSIXLY_CORRECT)$`), none, "a shell reads commands from where it says"},
	{lazyregexp.New(`^PYTHON(?:UTF8|IOENCODING|DEVMODE|FAULTHANDLER|UNBUFFERED|DONTWRITEBYTECODE|ASYNCIODEBUG|TRACEMALLOC|MALLOC|OPTIMIZE|INTMAXSTRDIGITS|WARNDEFAULTENCODING|NODEBUGRANGES|_GIL)$`), nil, "a switch of the interpreter"},
	// A category with a dot in it is a module that is imported at the start.
	{lazyregexp.New(`^PYTHONWARNINGS$`), lazyregexp.New(`^[A-Za-z0-9_:, -]*$`), "a warning category with a dot in it imports a module"},
	{lazyregexp.New(`(?i)^(?:_?PYTHON|PYENV|PY_|__PY)`), none, "the interpreter loads code from where it says, or the recipe sets it"},
	{lazyregexp.New(`(?i)^PYTEST_(?:PLUGINS|ADDOPTS|DISABLE_PLUGIN_AUTOLOAD|THEME|XDIST)`), none, "the run's own flags and plugins are the recipe's"},
	{lazyregexp.New(`(?i)^(?:PIP|UV|EASY_INSTALL|DISTUTILS|NPM|YARN|PNPM|NODE|BUNDLE|GEM|CARGO|RUSTUP|RUSTC|RUSTDOC|MAVEN|GRADLE|JAVA|JDK|_JAVA|JVM|CLASSPATH|PERL|PERL5|RUBY|LUA|PHP|GIT|SSH|GPG|DOCKER|COMPOSE|KUBE|SUDO|APT|DEBIAN|DPKG)(?:_|[0-9]|OPT|LIB|HOME|RC|$)`), none, "it steers a tool that runs programs or says where packages come from"},
	{lazyregexp.New(`(?i)(?:^|_)(?:PROXY|INDEX|INDEX_URL|MIRROR|REGISTRY|REPOSITORY)(?:_|$)`), none, "the machine says where packages come from"},
	{lazyregexp.New(`^GO(?:DEBUG|GC|MEMLIMIT|TRACEBACK|AMD64|ARM|ARM64|386|RACE)$`), nil, "a switch of Go's runtime or code generation"},
	{lazyregexp.New(`^GOEXPERIMENT$`), lazyregexp.New(`^[a-z0-9,]*$`), "it is a list of experiments"},
	{lazyregexp.New(`^CGO_ENABLED$`), lazyregexp.New(`^[01]$`), "it is 0 or 1"},
	{lazyregexp.New(`^(?:GO[A-Z0-9_]*|CGO_.*|GCCGO.*|PKG_CONFIG.*)$`), none, "the go command takes programs, flags and places from it, or the recipe sets it"},
	// Optimisation, definitions, warnings, standards: no plugin, no wrapper, no file.
	{lazyregexp.New(`^(?:C|CXX|CPP|F|FC)FLAGS$`), lazyregexp.New(`^(?:-(?:O[0-3sgz]?|g[0-3]?|D[A-Za-z_][A-Za-z0-9_]*(?:=[A-Za-z0-9_.]*)?|W(?:no-)?[a-z][a-z0-9+-]*(?:=[a-z0-9-]*)?|std=[a-z0-9+]+|m[a-z0-9.=-]+|pthread|w)(?:\s+|$))*$`), "a compiler takes programs and plugins from flags"},
	{lazyregexp.New(`(?i)^(?:TZ|LANG|LANGUAGE|LC_[A-Z]+|DJANGO_SETTINGS_MODULE|HYPOTHESIS_PROFILE|SOURCE_DATE_EPOCH)$`), lazyregexp.New(`^[A-Za-z0-9_.,:=+@/-]*$`), "a name of a zone, a language, a module or a profile"},
	// Words of a name that say what kind of thing it names. It comes after the exact names.
	{lazyregexp.New(`(?i)(?:^|_)(?:CC|CXX|CPP|FC|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|CMD|COMMAND|COMMANDS|EXE|EXEC|EXECUTABLE|PROGRAM|PROG|BIN|BINARY|BINDIR|COMPILER|LINKER|ASSEMBLER|INTERPRETER|WRAPPER|LAUNCHER|RUNNER|HOOKS?|PLUGINS?|PRELOAD|STARTUP|EDITOR|VISUAL|PAGER|BROWSER|OPENER|MAKE|MAKEFLAGS|MAKEFILES|CMAKE|NINJA|MESON|(?:CMAKE|NINJA|MESON)_[A-Z0-9_]+|TOOLCHAIN|TOOLEXEC|LDFLAGS|ARFLAGS|ASFLAGS|LDSHARED|OPTS|OPTIONS|RC|RCFILE|PATH|PATHS|LIBRARY_DIRS?|INCLUDE_DIRS?|LIBDIR)$|(?i)^(?:CMAKE|NINJA|MESON|SCIKIT_BUILD|SKBUILD|MAKE)_`), none, "it names a program to run, a path to load from or a tool's own flags"},
}

// Admit says whether a variable that a project asks for is set in its builds and tests;
// reason says why where it is not.
func Admit(name, value string) (reason string, ok bool) {
	if !exported.MatchString(name) {
		return "its name is not that of a variable", false
	}
	const most = 4096
	if len(value) > most || strings.ContainsAny(value, "\n\r\x00") {
		return "its value is not a single line", false
	}
	for _, r := range rules {
		if !r.names.MatchString(name) {
			continue
		}
		allowed := r.values
		if allowed == nil {
			allowed = plain
		}
		if allowed.MatchString(value) {
			return "", true
		}
		return r.reason, false
	}
	if plain.MatchString(value) || address.MatchString(value) {
		return "", true
	}
	return "no rule knows it, and its value could name a program or a path", false
}

// Reasons that a language gives for variables of its own.
const (
	Own     = "the recipe sets it"
	OfSteps = "steps of CI use it"
)

var exported = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,100}$`)

// LeftOut is the field of the evidence of a variable that is not set.
const LeftOut = "variables_left_out"

// Leave is the evidence of a variable that is not set: its name and the reason. The value
// is not quoted, which may be a credential.
func Leave(name, reason, source string) schemas.Evidence {
	return schemas.Evidence{Field: LeftOut, Value: fmt.Sprintf("%.100s: %s", name, reason), Source: source}
}

// Credential reports whether a variable may hold a credential, by its name.
func Credential(name string) bool { return credential.MatchString(name) }
