package recipe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Edit is one edit of a recipe, of a closed set: nothing else can be said.
type Edit struct {
	Op    Op
	Name  string // of a variable
	Value string
}

// Op is what an edit does.
type Op string

// The edits.
const (
	AddSystemPackage  Op = "add_system_package"
	AddRequirement    Op = "add_requirement"
	RemoveRequirement Op = "remove_requirement"
	AddExtra          Op = "add_extra"
	ConstrainBuild    Op = "constrain_build"
	SetVariable       Op = "set_variable"
	SetToolchain      Op = "set_toolchain"
	SetTestCommand    Op = "set_test_command"
)

var (
	debianPackage = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]{1,60}$`) // Debian policy 5.6.7
	// A name with extras and versions (PEP 508): no URL, no path, no option, no marker.
	requirement = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,60}(?:\[[A-Za-z0-9,_-]{1,60}\])?(?:(?:===?|[<>!~]=|<|>)[0-9A-Za-z.*+!-]{1,40}(?:,(?:===?|[<>!~]=|<|>)[0-9A-Za-z.*+!-]{1,40}){0,3})?$`)
	// What may be left out: by its name, whatever its versions look like; not the project itself.
	named    = lazyregexp.New(`^(?:-c )?[A-Za-z0-9]`)
	extra    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$`)
	own      = lazyregexp.New(`^(\.[\w./-]*)(?:\[([\w.,-]*)\])?$`)
	variable = lazyregexp.New(`^[A-Z][A-Z0-9_]{1,60}$`)
	// What decides which programs, packages and tests run is not for a variable to say.
	reserved = lazyregexp.New(`^(?:PATH|HOME|SHELL|IFS|ENV|BASH_ENV|LD_.*|DYLD_.*|PYTHON(?:PATH|HOME|STARTUP)|PYTEST_.*|GO(?:FLAGS|PROXY|SUMDB|PRIVATE|NOSUMDB|ROOT|PATH|TOOLCHAIN)|.*_PROXY|.*INDEX.*|PIP_.*|UV_.*|NPM_.*|SSL_.*|GIT_.*|BENCHMINT_.*)$`)
)

// BuildConstraint begins a line of a recipe's requirements that holds for what source
// distributions are built with, and for nothing that is installed.
const BuildConstraint = "-b "

// Apply makes an edit of a recipe, and says what it changed. available are the versions of
// its toolchain that can be had. An edit that there is not, or that changes nothing, is an
// error. A recipe whose dependencies may be others now has lost its lock.
func Apply(r schemas.Recipe, e Edit, available []string) (schemas.Recipe, string, error) {
	refuse := func(form string, args ...any) (schemas.Recipe, string, error) {
		return r, "", fmt.Errorf("%s %q: %s", e.Op, e.Value, fmt.Sprintf(form, args...))
	}
	switch e.Op {
	case AddSystemPackage:
		if !debianPackage.MatchString(e.Value) || slices.Contains(r.SystemPackages, e.Value) {
			return refuse("it is not the name of a Debian package, or is there already")
		}
		r.SystemPackages = sortedWith(r.SystemPackages, e.Value)
		return unlocked(r), "system_packages += " + e.Value, nil
	case AddRequirement:
		return require(r, "", e)
	case ConstrainBuild:
		return require(r, BuildConstraint, e)
	case AddExtra:
		return addExtra(r, e)
	case RemoveRequirement:
		if !slices.Contains(r.Requirements, e.Value) || !named.MatchString(e.Value) {
			return refuse("the recipe has no such requirement, or it is the project itself")
		}
		r.Requirements = slices.DeleteFunc(slices.Clone(r.Requirements), func(line string) bool { return line == e.Value })
		return unlocked(r), "requirements -= " + e.Value, nil
	case SetVariable:
		switch {
		case !variable.MatchString(e.Name) || reserved.MatchString(e.Name):
			return refuse("%s is not a variable that may be set", e.Name)
		case strings.Contains(e.Value, "://") || r.Variables[e.Name] == e.Value:
			return refuse("it is not a value of %s, or is there already", e.Name)
		}
		if reason, ok := Admit(e.Name, e.Value); !ok {
			return refuse("%s may not be set: %s", e.Name, reason)
		}
		r.Variables = maps.Clone(r.Variables)
		if r.Variables == nil {
			r.Variables = map[string]string{}
		}
		r.Variables[e.Name] = e.Value
		return r, "variables += " + e.Name + "=" + e.Value, nil
	case SetToolchain:
		if !slices.Contains(available, e.Value) || r.Toolchain.Version == e.Value {
			return refuse("it is not another version that can be had")
		}
		r.Toolchain = schemas.Toolchain{Name: r.Toolchain.Name, Version: e.Value}
		return unlocked(r), "toolchain = " + e.Value, nil
	case SetTestCommand:
		at := slices.IndexFunc(r.Rivals, func(x schemas.Rival) bool { return x.Other == "" && x.Line() == e.Value })
		if at < 0 {
			return refuse("it is not one of the commands that were found")
		}
		chosen := r.Rivals[at]
		r.Rivals = slices.Concat([]schemas.Rival{{Test: r.Test, Other: "a repair replaced it"}}, r.Rivals[:at], r.Rivals[at+1:])
		r.Test = chosen.Test
		return r, "test = " + e.Value, nil
	}
	return r, "", errors.New("there is no edit " + string(e.Op))
}

func require(r schemas.Recipe, kind string, e Edit) (schemas.Recipe, string, error) {
	line := kind + strings.Join(strings.Fields(e.Value), "")
	if r.Language != "python" || !requirement.MatchString(line[len(kind):]) || slices.Contains(r.Requirements, line) {
		return r, "", fmt.Errorf("%s %q: it is not a requirement with a name and versions, or is there already", e.Op, e.Value)
	}
	r.Requirements = sortedWith(r.Requirements, line)
	return unlocked(r), "requirements += " + line, nil
}

// addExtra asks for an extra of the project's own.
func addExtra(r schemas.Recipe, e Edit) (schemas.Recipe, string, error) {
	at := slices.IndexFunc(r.Requirements, own.MatchString)
	if at < 0 || !extra.MatchString(e.Value) {
		return r, "", fmt.Errorf("%s %q: it is not the name of an extra, or the recipe does not install the project", e.Op, e.Value)
	}
	parts := own.FindStringSubmatch(r.Requirements[at])
	extras := strings.FieldsFunc(parts[2], func(c rune) bool { return c == ',' })
	if slices.Contains(extras, e.Value) {
		return r, "", fmt.Errorf("%s %q: it is there already", e.Op, e.Value)
	}
	r.Requirements = slices.Clone(r.Requirements)
	r.Requirements[at] = parts[1] + "[" + strings.Join(sortedWith(extras, e.Value), ",") + "]"
	return unlocked(r), "requirements: " + r.Requirements[at], nil
}

func sortedWith(list []string, one string) []string {
	out := append(slices.Clone(list), one)
	slices.Sort(out)
	return out
}

func unlocked(r schemas.Recipe) schemas.Recipe {
	r.Lock, r.Setup = "", nil
	return r
}
