package environment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Attempts bounds every loop of repairs.
const Attempts = 5

// Repairer edits a recipe after an attempt that failed.
type Repairer interface {
	// Repair returns an edited copy of r, or false where it has nothing to change (any
	// more). It records the edit in Repairs, and clears Lock where the recipe has to be
	// resolved again. log is what the failed attempt printed. An error means that it cannot
	// answer now, and says nothing about the recipe.
	Repair(ctx context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error)
}

// FailureTable repairs by the table of the recipe's language. It never fails, and has no
// edit for an unknown language.
type FailureTable map[string]lang.Language

var _ Repairer = FailureTable{}

// Repair implements Repairer.
func (t FailureTable) Repair(_ context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	l, ok := t[r.Language]
	if !ok {
		return r, false, nil
	}
	edited, ok := l.Repair(p, r, log)
	return edited, ok, nil
}

var _ Repairer = (*Builder)(nil)

// Repair asks the failure table, then b.Repairers in order. The first edit holds.
func (b *Builder) Repair(ctx context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	for _, by := range append([]Repairer{FailureTable(b.Languages)}, b.Repairers...) {
		edited, ok, err := by.Repair(ctx, p, r, log)
		if err != nil {
			return r, false, fmt.Errorf("repairing the recipe: %w", err)
		}
		if ok {
			return edited, true, nil
		}
	}
	return r, false, nil
}

// same is how often a loop may meet one error: an edit was made for it twice, and neither
// made another error of it.
const same = 2

// Loop is the repairs of one recipe, one attempt after another. The zero value begins one.
type Loop struct {
	made int            // repairs
	met  map[string]int // how often an edit was made for an error (errorOf)
	vain bool           // the last error was met too often
}

// Repair asks for an edit after an attempt that failed with what log says. There is none
// after Attempts, and none for an error that two edits left as it was.
func (l *Loop) Repair(ctx context.Context, by Repairer, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	if l.made >= Attempts-1 {
		return r, false, nil
	}
	said := errorOf(log)
	if l.vain = l.met[said] >= same; l.vain {
		return r, false, nil
	}
	edited, ok, err := by.Repair(ctx, p, r, log)
	if err != nil || !ok {
		return r, false, err
	}
	if l.met == nil {
		l.met = map[string]int{}
	}
	l.met[said]++
	l.made++
	return edited, true, nil
}

// History says which attempt it was that ended the loop of r, and after which repairs.
func (l *Loop) History(r schemas.Recipe) string {
	edits := make([]string, len(r.Repairs))
	for i, x := range r.Repairs {
		edits[i] = x.Rule
		if x.Edit != "" {
			edits[i] += ": " + x.Edit
		}
		const most = 120
		edits[i] += " (" + strings.ToValidUTF8(x.Symptom[:min(len(x.Symptom), most)], "") + ")"
	}
	text := fmt.Sprintf("attempt %d", l.made+1)
	if len(edits) > 0 {
		text += fmt.Sprintf(", after repairs [%s]", strings.Join(edits, "; "))
	}
	if l.vain {
		text += fmt.Sprintf(", of which %d gave the same error again, so that no other is tried", same)
	}
	return text
}

// wrap adds to an error after which attempts it came.
func (l *Loop) wrap(r schemas.Recipe, err error) error {
	if l.made == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", l.History(r), err)
}

// moving is what differs between two logs of one error: colours, times, durations,
// addresses, and names that a run makes up.
var moving = []*lazyregexp.Regexp{
	lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`),
	lazyregexp.New(`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?`),
	lazyregexp.New(`\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?`),
	lazyregexp.New(`\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?\s?(?:ns|[µu]s|ms|s|secs?|seconds?|minutes?)\b|"Elapsed":[\d.e+-]+`),
	lazyregexp.New(`0x[0-9a-fA-F]+|\b[0-9a-f]{12,64}\b`),
	lazyregexp.New(`(?:/var)?/tmp/[\w./+-]+|\.tmp\w+|\b(?:tmp|go-build|pip-[a-z-]+-)[\w]{6,}`),
	lazyregexp.New(`\bgoroutine \d+|\b(?:pid|PID)[ =:]+\d+|\[\d{2,7}\]`),
}

// lastLines is how many lines at the end of a log say what its error is. Both a tool and a
// suite name what fails there; the more is looked at, the less is another error taken for
// the same one.
const lastLines = 200

// errorOf is what two logs of the same error have in common: their last lines without
// what moves, in any order.
func errorOf(log []byte) string {
	lines := strings.Split(strings.TrimSpace(string(tail(log))), "\n")
	lines = slices.Clone(lines[max(0, len(lines)-lastLines):])
	for i, line := range lines {
		for _, re := range moving {
			line = re.ReplaceAllString(line, "*")
		}
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	slices.Sort(lines)
	return strings.TrimSpace(strings.Join(slices.Compact(lines), "\n"))
}
