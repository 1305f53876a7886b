package sources

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/hosts"
)

// ReadRepositories reads a list of sources, one on a line: owner/name (on GitHub),
// owner/name=PATH-OR-URL, or PATH-OR-URL. Empty lines and what follows a # do not count, and
// a line that stands there twice is one source. What is on GitHub is asked of there where
// token says that it can be.
func ReadRepositories(file string, token bool) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, &RefusedError{Err: fmt.Errorf("reading --repositories: %w", err)}
	}
	var out []string
	var problems config.Problems
	for i, line := range strings.Split(string(b), "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case strings.ContainsAny(line, " \t,;"):
			problems = append(problems, config.Problem{Where: fmt.Sprintf("%s:%d", file, i+1), Text: fmt.Sprintf("%q is not one repository (owner/name, a path or a URL)", line)})
			continue
		case OwnerName.MatchString(line) && token:
			line = config.OnGitHub + line
		case OwnerName.MatchString(line):
			line = line + "=" + hosts.GitHub + line + ".git"
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return out, nil
}
