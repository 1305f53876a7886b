package python

import (
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

var (
	ordering = []string{"__lt__", "__le__", "__gt__", "__ge__"}
	copying  = []string{
		"__copy__", "__deepcopy__", "__replace__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__",
		"__getnewargs__", "__getnewargs_ex__", "__getinitargs__",
	}

	// byOperator are the dunders behind an operator, those of the right side and of an
	// assignment included.
	byOperator = sync.OnceValue(func() map[string][]string {
		return map[string][]string{
			"<": ordering, ">": ordering, "<=": ordering, ">=": ordering, "!=": {"__ne__"}, "<>": {"__ne__"},
			"+": {"__add__", "__radd__", "__iadd__", "__pos__"}, "-": {"__sub__", "__rsub__", "__isub__", "__neg__"},
			"*": {"__mul__", "__rmul__", "__imul__"}, "@": {"__matmul__", "__rmatmul__", "__imatmul__"},
			"/": {"__truediv__", "__rtruediv__", "__itruediv__"}, "//": {"__floordiv__", "__rfloordiv__", "__ifloordiv__"},
			"%": {"__mod__", "__rmod__", "__imod__"}, "**": {"__pow__", "__rpow__", "__ipow__"},
			"<<": {"__lshift__", "__rlshift__", "__ilshift__"}, ">>": {"__rshift__", "__rrshift__", "__irshift__"},
			"&": {"__and__", "__rand__", "__iand__"}, "|": {"__or__", "__ror__", "__ior__"}, "^": {"__xor__", "__rxor__", "__ixor__"},
			"~": {"__invert__"},
		}
	})

	// byCall are those behind a call, by the last word of what is called.
	byCall = sync.OnceValue(func() map[string][]string {
		return map[string][]string{
			"sorted": ordering, "sort": ordering, "min": ordering, "max": ordering, "bisect": ordering, "bisect_left": ordering,
			"bisect_right": ordering, "insort": ordering, "insort_left": ordering, "insort_right": ordering, "heapify": ordering,
			"heappush": ordering, "heappop": ordering, "heappushpop": ordering, "heapreplace": ordering, "nlargest": ordering, "nsmallest": ordering,
			"deepcopy": copying,
			"sum":      {"__add__", "__radd__"}, "prod": {"__mul__", "__rmul__"}, "abs": {"__abs__"}, "int": {"__int__", "__trunc__"},
			"float": {"__float__"}, "complex": {"__complex__"}, "round": {"__round__"}, "trunc": {"__trunc__"}, "floor": {"__floor__"},
			"ceil": {"__ceil__"}, "divmod": {"__divmod__", "__rdivmod__"}, "pow": {"__pow__", "__rpow__"}, "reversed": {"__reversed__"},
			"reduce": {"__add__", "__radd__", "__mul__", "__rmul__", "__and__", "__or__", "__xor__"},
		}
	})
)

// copiers are modules that copy objects or write them down.
var copiers = map[string]bool{"copy": true, "pickle": true, "cPickle": true, "cloudpickle": true, "dill": true, "marshal": true}

// behind are the methods that a call runs without their names.
func behind(path []string) []string {
	if len(path) > 0 && copiers[path[0]] {
		return copying
	}
	if len(path) == 0 {
		return nil
	}
	return byCall()[path[len(path)-1]]
}

// operators notes what the operators of an expression or an assignment run: what stands
// between its parts. Numbers and strings have none of ours: tables of negative numbers are long.
func (r *reader) operators(n syntax.Node) {
	if onlyLiterals(n) {
		return
	}
	at := n.Start()
	for c := range n.Children() {
		if !c.Named() {
			continue
		}
		sign := strings.Trim(string(r.src[at:c.Start()]), " \t\r\n\\\f")
		if n.Kind() == "augmented_assignment" {
			sign = strings.TrimSuffix(sign, "=")
		}
		r.unnamed(byOperator()[sign], n)
		at = c.End()
	}
}

func onlyLiterals(n syntax.Node) bool {
	for c := range n.Children() {
		if c.Named() && !c.Is("integer", "float", "string", "concatenated_string") {
			return false
		}
	}
	return true
}

// unnamed are methods that run although nobody writes their names: on any object.
func (r *reader) unnamed(names []string, at syntax.Node) {
	for _, name := range names {
		r.emit(mask.Ref{Path: []string{"?", name}, Use: mask.Called, Class: r.class, Line: at.Line()})
	}
}
