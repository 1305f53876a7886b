package recipe_test

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/recipe"
)

// TestAdmit: what real projects set passes; what names a program, loads code, sends
// elsewhere or may be a credential does not, whatever tool it is for.
func TestAdmit(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"DJANGO_SETTINGS_MODULE=tests.settings", "TZ=Europe/Vienna", "TZ=UTC", "LANG=C.UTF-8", "LC_ALL=en_US.UTF-8",
		"PYTHONDEVMODE=1", "PYTHONWARNINGS=error,ignore::DeprecationWarning", "PYTHONUTF8=1", "HYPOTHESIS_PROFILE=ci",
		"PLAIN_MODE=strict", "NUMPY_EXPERIMENTAL_ARRAY_FUNCTION=0", "SQLALCHEMY_WARN_20=1", "AIOHTTP_NO_EXTENSIONS=1", "MULTIDICT_NO_EXTENSIONS=1",
		"DATABASE_URL=postgresql+psycopg://user@localhost:5432/db", "REDIS_URL=redis://localhost:6379/0", "TEST_HOST=127.0.0.1",
		"GODEBUG=netdns=go", "GOAMD64=v3", "GOEXPERIMENT=synctest", "CGO_ENABLED=0", "GOGC=off", "GORACE=halt_on_error=1",
		"CFLAGS=-O0 -g -DNDEBUG=1 -Wall -Wno-error=format -std=c11", "MYPKG_REQUIRE_CYTHON=1", "A=", "WIDGET_FLAGS=fast slow",
		"EXPECTED_FAILURES=3", "PASSING=1", "MONKEY=1",
	} {
		name, value, _ := strings.Cut(line, "=")
		if reason, ok := recipe.Admit(name, value); !ok {
			t.Errorf("%s is left out: %s", line, reason)
		}
	}
	for _, line := range []string{
		"CC=gcc-12", "CC=sh -c evil", "cc=evil", "CXX=evil", "CGO_CFLAGS=-O2", "CGO_ENABLED=1 x", "HOST_CC=evil", "TARGET_AR=evil", "FC=evil",
		"CFLAGS=-fplugin=evil.so", "CFLAGS=-O2 -B.", "CFLAGS=-wrapper sh", "CXXFLAGS=-specs=x", "CFLAGS=-Wl,-z", "CFLAGS=@file", "LDFLAGS=-O2", "CFLAGS=-D'x'",
		"LD_PRELOAD=evil.so", "LD_LIBRARY_PATH=lib", "DYLD_INSERT_LIBRARIES=x", "GCONV_PATH=x", "GLIBC_TUNABLES=x", "LIBRARY_PATH=x",
		"BASH_ENV=evil", "ENV=evil", "BASH_FUNC_ls=x", "SHELLOPTS=xtrace", "PROMPT_COMMAND=evil", "ZDOTDIR=x", "IFS=x",
		"PYTHONPATH=src", "PYTHONSTARTUP=x", "PYTHONHOME=x", "PYTHONBREAKPOINT=evil.run", "PYTHONHASHSEED=0", "PYTHONINSPECT=1", "PYTHONUSERBASE=x", "PYTHON=evil",
		"PYTHONWARNINGS=error::evil.Category", "PYTHONPLATLIBDIR=x", "PYTEST_PLUGINS=evil", "PYTEST_ADDOPTS=-p evil",
		"GOFLAGS=-toolexec=evil", "GOPROXY=direct", "GOROOT=x", "GOTOOLCHAIN=auto", "GOENV=x", "GOWORK=x", "GOAUTH=evil", "GOCACHEPROG=evil", "GONOSUMDB=all", "GOINSECURE=all",
		"GOVCS=all", "GCCGO=evil", "GO_EXTLINK_ENABLED=1", "PKG_CONFIG=evil", "PKG_CONFIG_PATH=x", "PATH=x", "HOME=x", "TMPDIR=x", "XDG_CACHE_HOME=x", "VIRTUAL_ENV=x",
		"PIP_INDEX_URL=https://evil.example/simple", "PIP_FIND_LINKS=x", "UV_INDEX=x", "UV_CACHE_DIR=x", "uv_index_url=x", "NPM_CONFIG_REGISTRY=x", "MY_INDEX_URL=https://x",
		"HTTPS_PROXY=http://evil", "https_proxy=evil", "SSL_CERT_FILE=x", "REQUESTS_CA_BUNDLE=x", "NODE_OPTIONS=x", "JAVA_TOOL_OPTIONS=x", "_JAVA_OPTIONS=x", "PERL5OPT=x", "RUBYOPT=x",
		"GIT_SSH_COMMAND=evil", "GIT_CONFIG_COUNT=1", "SSH_ASKPASS=evil", "EDITOR=evil", "VISUAL=evil", "PAGER=evil", "BROWSER=evil", "MAKEFLAGS=x", "MAKE=evil", "CMAKE_ARGS=x", "CMAKE_GENERATOR=Ninja",
		"SKBUILD_CMAKE_ARGS=x", "RUSTC_WRAPPER=evil", "CARGO_HOME=x", "TEST_RUNNER=evil", "MY_COMMAND=evil", "FOO_BIN=evil", "FOO_HOOK=evil", "FOO_OPTIONS=x", "DISTUTILS_USE_SDK=1",
		"OPENSSL_CONF=x", "API_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "DB_PASSWORD=x", "ENCRYPTION_KEY=x", "GITHUB_ACTIONS=true", "CI=1", "BENCHMINT_X=1", "HOSTALIASES=x",
		"ANY=/usr/bin/evil", "ANY=./evil", `ANY=a\b`, "ANY=$(evil)", "ANY=`evil`", "ANY=a;b", "ANY=a|b", "ANY=\"x\"", "ANY='x'", "ANY=(x)", "ANY=file:///x", "ANY=a\nb", "ANY=${HOME}",
		"A-B=1", "1A=1", "=1", "A B=1", "A%n=1",
	} {
		name, value, _ := strings.Cut(line, "=")
		reason, ok := recipe.Admit(name, value)
		if ok || reason == "" {
			t.Errorf("%s passes", line)
		}
		if e := recipe.Leave(name, reason, "ci.yml:3"); strings.Contains(e.Value, "evil") || !strings.Contains(e.Value, reason) {
			t.Errorf("evidence of %s: %+v", line, e)
		}
	}
}

// FuzzAdmit: nothing that passes holds a quote, a substitution, a pipe or a line's end.
func FuzzAdmit(f *testing.F) {
	f.Add("A", "x y")
	f.Add("CFLAGS", "-O2")
	f.Fuzz(func(t *testing.T, name, value string) {
		if _, ok := recipe.Admit(name, value); ok && strings.ContainsAny(value, "\n\r\x00`$;|<>\"'\\(){}") {
			t.Errorf("%q=%q passes", name, value)
		}
	})
}
