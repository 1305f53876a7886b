package sandbox

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/languages"
)

// CAPath is where a build finds the machine's CA bundle; it exists for the build only.
const CAPath = RunPath + "/ca-certificates.crt"

// standard is the environment of every step and run; nothing of the host's is in it.
var standard = map[string]string{
	"HOME":    HomePath,
	"LANG":    "C.UTF-8",
	"LOGNAME": "tester",
	"PATH":    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"SHELL":   "/bin/bash",
	"TZ":      "UTC",
	"USER":    "tester",
}

// Environ joins the standard environment and the given ones, later ones first in
// rank, as sorted NAME=value.
func Environ(envs ...map[string]string) []string {
	all := maps.Clone(standard)
	for _, env := range envs {
		maps.Copy(all, env)
	}
	out := make([]string, 0, len(all))
	for name, value := range all {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// caVariables are those from which OpenSSL, curl and git read the path of a CA bundle;
// those of languages are in package languages.
var caVariables = []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"}

// Env is the environment of a run on a person's terminal, beside the standard one.
func (t *Terminal) Env() map[string]string {
	if t == nil || !t.TTY {
		return nil
	}
	return map[string]string{"TERM": "xterm"} // what every terminal of today understands
}

// CAEnv points builds at the bundle under CAPath.
func CAEnv() map[string]string {
	env, names := map[string]string{}, slices.Clone(caVariables)
	for _, l := range languages.All() {
		maps.Copy(env, l.Registry.Trust)
		names = append(names, l.Registry.Bundle...)
	}
	for _, name := range names {
		env[name] = CAPath
	}
	return env
}

// ProxyEnv points builds at a proxy of ours; loopback stays direct.
func ProxyEnv(proxyURL string) map[string]string {
	const direct = "localhost,127.0.0.1,::1"
	return map[string]string{
		"http_proxy": proxyURL, "https_proxy": proxyURL, "HTTP_PROXY": proxyURL, "HTTPS_PROXY": proxyURL,
		"no_proxy": direct, "NO_PROXY": direct,
	}
}

// PublicRegistries are the hosts that builds may reach where the machine names no others:
// the registries of the languages and Debian's.
func PublicRegistries() []string {
	var out []string
	for _, l := range languages.All() {
		out = append(out, l.Registry.Hosts...)
	}
	return append(out, hosts.Debian, hosts.DebianSec)
}

// RegistryEnv picks from a process environment the variables that name package
// registries. User names and passwords in their URLs are taken out: a build step
// is a stranger's code and gets no credential.
func RegistryEnv(environ []string) map[string]string {
	var names []string
	for _, l := range languages.All() {
		names = append(names, l.Registry.Variables...)
	}
	out := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && slices.Contains(names, name) {
			out[name] = mapURLs(value, func(u *url.URL) string { u.User = nil; return u.String() })
		}
	}
	return out
}

// RegistryEnv is what a build is told of registries on a machine with these variables.
func (b Build) RegistryEnv(machine map[string]string) map[string]string {
	if b.Registry != nil {
		return languages.Kept()
	}
	return machine
}

// RegistryHosts are the hosts (with the port, where one is given) that the values
// of RegistryEnv name.
func RegistryHosts(env map[string]string) []string {
	var out []string
	for _, value := range env {
		mapURLs(value, func(u *url.URL) string { out = append(out, u.Host); return "" })
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mapURLs replaces each URL of a list that is separated by blanks, commas or bars.
func mapURLs(value string, f func(*url.URL) string) string {
	isSeparator := func(r rune) bool { return r == ' ' || r == ',' || r == '|' }
	var b strings.Builder
	for value != "" {
		end := strings.IndexFunc(value, isSeparator)
		if end < 0 {
			end = len(value)
		}
		word := value[:end]
		name, rest, named := strings.Cut(word, "=") // UV_INDEX: name=URL
		if !named || strings.Contains(name, ":") {
			name, rest = "", word
		} else {
			name += "="
		}
		if u, err := url.Parse(rest); err == nil && u.Host != "" {
			word = name + f(u)
		}
		b.WriteString(word)
		if end < len(value) {
			b.WriteByte(value[end])
			end++
		}
		value = value[end:]
	}
	return b.String()
}
