package python

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// candidate is what decides about a function's construct.
type candidate struct {
	def        syntax.Node
	name       string // its own
	decorators []string
	layout     layout
	generator  bool
}

// construct is the first that strict keeps, else the most specific one.
func (r *reader) construct(d candidate) mask.Construct {
	member := r.Member()
	switch {
	case member && d.name == "__del__":
		return mask.Destructor
	case d.decorated("overload"):
		return mask.Overload
	case isTrivial(d.layout.statements):
		if member && (d.decorated("abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod") ||
			slices.Contains(r.bases[r.Class()], "Protocol")) {
			return mask.Abstract
		}
		return mask.Trivial
	case r.isHook(d):
		return mask.Hook
	case d.name == "main" && !member && r.Function() < 0:
		return mask.Main
	}
	return d.specific(member)
}

// specific is the construct of a function that strict does not keep for what it is.
func (d candidate) specific(member bool) mask.Construct {
	switch {
	case d.decorated("setter", "deleter"):
		return mask.Setter
	case member && d.readLikeData():
		return mask.Getter
	case member && (d.name == "__init__" || d.name == "__new__"):
		return mask.Constructor
	case slices.Contains(unseen, d.name), strings.HasPrefix(d.name, "__array_"): // numpy asks what is like its arrays
		return mask.Special
	case d.generator:
		return mask.Generator
	case d.def.Has("async"):
		return mask.Async
	case member:
		return mask.Method
	}
	return mask.Plain
}

// readLikeData tells a property by the name of what decorates it: lazyproperty,
// class_property, DictProperty.
func (d candidate) readLikeData() bool {
	return d.decorated("getter", "reify") || slices.ContainsFunc(d.decorators, func(decorator string) bool {
		return strings.HasSuffix(strings.ToLower(decorator), "property")
	})
}

// unseen are the dunders that run without a word of the code: an object that is made
// while a file is loaded keeps them. All others run where the code says so, by a call, an
// operator, a with, an await, or for a text, or are some library's own.
var unseen = strings.Fields(`__hash__ __eq__ __bool__ __len__ __length_hint__ __index__ __fspath__
	__iter__ __next__ __contains__ __getitem__ __setitem__ __delitem__ __missing__
	__getattr__ __getattribute__ __setattr__ __delattr__
	__get__ __set__ __delete__ __set_name__
	__subclasses__ __prepare__
	__init_subclass__ __class_getitem__ __mro_entries__ __buffer__ __release_buffer__
	__post_init__ __attrs_pre_init__ __attrs_post_init__
	__aiter__ __anext__ __sizeof__ __dir__ __bytes__`)

// decorated goes by the last word of a decorator: typing.overload, t.overload, overload.
func (d candidate) decorated(names ...string) bool {
	return slices.ContainsFunc(d.decorators, func(decorator string) bool {
		return slices.Contains(names, decorator[strings.LastIndexByte(decorator, '.')+1:])
	})
}

// isTrivial: pass, ..., a string, and a raise of not-implemented leave nothing to mask.
func isTrivial(all []syntax.Node) bool {
	return !slices.ContainsFunc(all, func(n syntax.Node) bool { return !saysNothing(n) })
}

func saysNothing(n syntax.Node) bool {
	inner := n.First()
	switch n.Kind() {
	case "pass_statement":
		return true
	case "expression_statement":
		return inner.Kind() == "ellipsis" || isDocstring(n)
	case "raise_statement":
		if inner.Kind() == "call" {
			inner = inner.Child("function")
		}
		return inner.Text() == "NotImplementedError"
	}
	return false
}

// The methods that run while classes are made.
var (
	classHooks = []string{
		"__init_subclass__", "__set_name__", "__class_getitem__", "__mro_entries__",
		"__subclasshook__", "__subclasscheck__", "__instancecheck__", // isinstance and register ask the class
	}
	metaHooks = []string{"__new__", "__init__", "__prepare__", "mro", "__setattr__"}
	enumHooks = []string{"__new__", "__init__", "_generate_next_value_"}
)

func (r *reader) isHook(d candidate) bool {
	if !r.Member() {
		return r.Function() < 0 && (d.name == "__getattr__" || d.name == "__dir__")
	}
	if slices.Contains(classHooks, d.name) || r.isOfClass(d) {
		return true
	}
	bases := r.bases[r.Class()]
	switch {
	case isDunder(d.name) && (d.decorated("classmethod") || slices.Contains(bases, "ModuleType")): // who is given the class, or imports, asks it
		return true
	case slices.Contains(metaHooks, d.name) && slices.ContainsFunc(bases, metaclass.MatchString):
		return true
	}
	return slices.Contains(enumHooks, d.name) && slices.ContainsFunc(bases, enumeration.MatchString)
}

// The classes by whose names a class that inherits from them is known.
var (
	metaclass   = lazyregexp.New(`^type$|Meta([cC]lass)?$|^EnumType$`)
	enumeration = lazyregexp.New(`(Enum|Flag)$`)
)

// isOfClass tells what a decorator of others makes an attribute of the class: it gets the
// class alone, and others read it when they make one. The standard library reads none.
func (r *reader) isOfClass(d candidate) bool {
	all := statements(d.def.Child("parameters"))
	if len(all) != 1 || all[0].Text() != "cls" || d.decorated("classmethod", "staticmethod") || d.readLikeData() {
		return false
	}
	return slices.ContainsFunc(d.decorators, func(decorator string) bool {
		first, _, _ := strings.Cut(decorator, ".")
		return !plain[decorator[strings.LastIndexByte(decorator, '.')+1:]] && r.ofOthers(first)
	})
}

// plain are well-known decorators that leave the function what it is.
var plain = map[string]bool{
	"property": true, "classmethod": true, "staticmethod": true, "cached_property": true, "wraps": true, "contextmanager": true,
	"asynccontextmanager": true, "lru_cache": true, "overload": true, "abstractmethod": true, "final": true, "override": true,
}

// ofOthers tells a name that a file takes from a package that is neither its own nor the language's, and does not define.
func (r *reader) ofOthers(name string) bool {
	own, _, _ := strings.Cut(r.module, ".")
	found := false
	for _, im := range r.File.Imports {
		from, _, _ := strings.Cut(im.Module, ".")
		if im.Local == name && (from == "" || from == own) {
			return false
		}
		found = found || im.Local == name && !slices.Contains(stdlib, from)
	}
	return found && !slices.ContainsFunc(r.File.Functions, func(f mask.Function) bool { return f.Name == name })
}

func isDunder(name string) bool {
	return strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

// isPublic goes by the underscores of a name and of those around it.
func isPublic(qualified string) bool {
	for part := range strings.SplitSeq(qualified, ".") {
		if strings.HasPrefix(part, "_") && !isDunder(part) {
			return false
		}
	}
	return true
}
