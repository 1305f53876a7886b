// Package hosts names every public host that benchmint talks to unasked; a test
// of the whole repository holds that no other file does.
//
// It never talks to one: others allow them to builds (which, says package languages) or
// read from them.
package hosts

// GitHub is the host of repositories that are named owner/name alone.
const GitHub = "https://github.com/"

// GitHubAPI is where GitHub is asked of pull requests.
const GitHubAPI = "https://api.github.com/"

// HuggingFace is the hub that releases are pushed to.
const HuggingFace = "https://huggingface.co"

// What builds may reach when the machine names no registries of its own.
const (
	PyPI        = "pypi.org"
	PyPIFiles   = "files.pythonhosted.org"
	GoProxy     = "proxy.golang.org"
	GoSum       = "sum.golang.org"
	Debian      = "deb.debian.org"
	DebianSec   = "security.debian.org"
	DebianURL   = "http://" + Debian + "/debian"
	SecurityURL = "http://" + Debian + "/debian-security"
)

// OfSolutions are the hosts that have a project's later versions: forge and registries. Somebody who solves its tasks must not reach them
// (Commit0 takes an answer for void that asked the first two).
func OfSolutions() []string {
	return []string{"github.com", "raw.githubusercontent.com", "codeload.github.com", PyPI, PyPIFiles, GoProxy}
}

// Packages is where builds find what is kept beside a dataset: no host, since the build's own
// proxy answers.
const Packages = "http://packages.invalid"
