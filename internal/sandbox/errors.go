package sandbox

import (
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// BuildError is a build step that did not exit 0, or passed a limit.
type BuildError struct {
	Step   schemas.Command
	Result Result
}

func (e *BuildError) Error() string {
	if e.Result.End != Exited {
		return fmt.Sprintf("%s: over the limit on %s", strings.Join(e.Step.Argv, " "), e.Result.End)
	}
	return fmt.Sprintf("%s: exit %d: %s", strings.Join(e.Step.Argv, " "), e.Result.ExitCode, lastLines(e.Result.Output, 5))
}

// lastLines is the tail of a log that fits in a message.
func lastLines(b []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
