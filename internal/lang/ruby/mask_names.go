package ruby

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// longest is how many links of a chain (a.b.c) are told apart; what is longer comes from
// generators.
const longest = 16

// path is what a receiver is: names from the left, "?" for what is no name.
func (r *reader) path(n syntax.Node) []string {
	var names []string
	for range longest {
		switch {
		case n.Is("parenthesized_statements"):
			n = n.First()
			continue
		case !n.Is("call") || !n.Child("receiver").Is():
		case n.Child("method").Text() == "new": // what a class makes has the class's methods
			n = n.Child("receiver")
			continue
		case !n.Child("arguments").Is() && !n.Child("block").Is():
			names = append(names, n.Child("method").Text())
			n = n.Child("receiver")
			continue
		}
		break
	}
	head := r.head(n)
	if head == nil {
		if len(names) == 0 {
			return []string{"?"}
		}
		return []string{"?", names[0]}
	}
	slices.Reverse(names)
	return append(head, names...)
}

// tasks are Rake's words: their blocks run when the task is asked for.
var tasks = []string{"task", "multitask", "file", "rule"}

// Use leaves out what a task does: it is not loaded with what declares it. An operator is
// kept with the object that has it; * is no beginning of names.
func (r *reader) Use(n syntax.Node, use mask.Use, names ...string) {
	if last := names[len(names)-1]; last == "*" || last == "**" {
		return
	}
	if r.Function() < 0 && rake(r.file) {
		for up := n.Parent(); up.Is(); up = up.Parent() {
			if up.Is("block", "do_block") && slices.Contains(tasks, up.Parent().Child("method").Text()) {
				return
			}
		}
	}
	r.Walker.Use(n, use, names...)
}

func rake(file string) bool { return path.Base(file) == "Rakefile" || path.Ext(file) == ".rake" }

func (r *reader) head(n syntax.Node) []string {
	switch n.Kind() {
	case "constant", "scope_resolution":
		return constant(n)
	case "self":
		return []string{"self"}
	case "super":
		return []string{"super"}
	case "instance_variable", "class_variable":
		return []string{"self", n.Text()}
	case "global_variable":
		return []string{n.Text()}
	case "identifier":
		if r.local(n.Text()) && (r.Function() >= 0 || !r.bound(n.Text())) {
			return nil
		}
		return []string{n.Text()}
	}
	return nil
}

// bound reports whether the file said what a name holds.
func (r *reader) bound(name string) bool {
	return slices.ContainsFunc(r.File.Bindings, func(b mask.Binding) bool { return b.Name == name })
}

// local reports whether a name is a variable of the function around.
func (r *reader) local(name string) bool { return r.locals[r.Function()][name] }

func (r *reader) variable(name string) {
	of := r.Function()
	if r.locals[of] == nil {
		r.locals[of] = map[string]bool{}
	}
	r.locals[of][name] = true
}

// use writes down what a node calls or names.
func (r *reader) use(n syntax.Node) {
	switch n.Kind() {
	case "call":
		r.call(n)
	case "super":
		if f := r.Function(); f >= 0 {
			name := r.File.Functions[f].Name
			r.Use(n, mask.Called, "super", name[strings.LastIndexByte(name, '.')+1:])
		}
	case "element_reference":
		if of := r.path(n.Child("object")); of[0] != "?" {
			r.Use(n, mask.Called, append(of, "[]"+assigned(n))...)
		}
	case "binary":
		// Only where a constant stands on the left: what else is there tells nothing.
		if left := n.Child("left"); left.Is("constant", "scope_resolution") {
			between := string(r.tree.Source[left.End():max(left.End(), n.Child("right").Start())])
			r.Use(n, mask.Called, append(constant(left), strings.TrimSpace(between))...)
		}
	case "identifier":
		r.identifier(n)
	case "constant", "scope_resolution":
		r.constant(n)
	case "alias": // the old name
		r.Use(n, mask.Named, n.Child("alias").Text())
	case "block_argument":
		if s := n.First("simple_symbol"); s.Is() {
			r.Use(n, mask.Handed, "?", strings.TrimPrefix(s.Text(), ":"))
		}
	}
}

// assigned is "=" for what stands on the left of an assignment: that is another method.
func assigned(n syntax.Node) string {
	if n.Field() == "left" && n.Parent().Is("assignment", "operator_assignment") || n.Parent().Is("left_assignment_list") {
		return "="
	}
	return ""
}

// identifier is a variable, or a call without arguments; which one, Ruby decides by
// whether it was assigned to before, and so is it here.
func (r *reader) identifier(n syntax.Node) {
	parent, name := n.Parent(), n.Text()
	switch parent.Kind() {
	case "method_parameters", "block_parameters", "lambda_parameters", "destructured_parameter",
		"optional_parameter", "keyword_parameter", "splat_parameter", "hash_splat_parameter", "block_parameter":
		if n.Field() != "value" {
			r.variable(name)
			return
		}
	case "left_assignment_list", "destructured_left_assignment", "rest_assignment", "exception_variable":
		r.variable(name)
		return
	case "for":
		if n.Field() == "pattern" {
			r.variable(name)
			return
		}
	case "call":
		if n.Field() == "method" {
			return
		}
	case "method", "singleton_method", "setter", "alias", "undef":
		if n.Field() != "body" { // an endless method may consist of one
			return
		}
	}
	if !r.local(name) && !r.visibility(n, name) {
		if name == "new" {
			r.own(n)
		}
		r.Use(n, mask.Called, append(r.whoever(n), name)...)
	}
}

// whoever begins the path of a bare name in a block that is loaded: it may run for another
// object.
func (r *reader) whoever(n syntax.Node) []string {
	if r.Function() >= 0 {
		return nil
	}
	for range longest {
		switch n = n.Parent(); {
		case n.Is("block", "do_block"):
			return []string{mask.Whoever}
		case !n.Is() || n.Is("method", "singleton_method", "class", "module"):
			return nil
		}
	}
	return nil
}

// own is a bare new: an object of the class around.
func (r *reader) own(n syntax.Node) {
	if class := r.Class(); class >= 0 {
		r.Use(n, mask.Called, strings.Split(r.File.Classes[class].Name, ".")...)
	}
}

// visibility is a bare private, or public again, in the body of a class; a word of the
// language in either case.
func (r *reader) visibility(n syntax.Node, word string) bool {
	switch word {
	case "__FILE__", "__LINE__": // the grammar does not know them here
	case "private", "protected":
		r.hidden[n.Parent().Index()] = true
	case "public", "module_function":
		r.hidden[n.Parent().Index()] = false
	default:
		return false
	}
	return true
}

// constant is one that is read.
func (r *reader) constant(n syntax.Node) {
	parent := n.Parent()
	switch {
	case parent.Is("scope_resolution", "superclass"):
		return
	case parent.Is("class", "module", "singleton_method") && n.Field() != "value" && n.Field() != "body":
		return
	case parent.Is("call") && (n.Field() == "receiver" || n.Field() == "method"):
		return
	case parent.Is("assignment") && n.Field() == "left", parent.Is("pattern", "exceptions"):
		return
	case parent.Is("argument_list") && slices.Contains(askers, parent.Parent().Child("method").Text()):
		return
	}
	r.Use(n, mask.Named, constant(n)...)
}

// evals run a block for an object.
var evals = []string{"instance_eval", "instance_exec", "class_eval", "class_exec", "module_eval", "module_exec"}

// askers ask about a class, or take what it has for another.
var askers = []string{"is_a?", "kind_of?", "instance_of?", "raise", "fail", "include", "extend", "prepend"}

// mixins make a module an ancestor of the class around.
var mixins = []string{"include", "extend", "prepend"}

// loaders take in files.
var loaders = []string{"require", "require_relative", "load", "autoload"}

// senders call the method whose name they get.
var senders = []string{"send", "public_send", "__send__", "method", "instance_method"}

func (r *reader) call(n syntax.Node) {
	method, receiver, arguments := n.Child("method"), n.Child("receiver"), n.Child("arguments")
	name := method.Text()
	switch {
	case !method.Is(): // f.(x)
		name = "call"
	case method.Is("super"):
		return // the word is a node of its own
	}
	var of []string
	if receiver.Is() {
		if of = r.path(receiver); of[0] == "?" {
			of = of[:1]
		}
	}
	// new is the class's own, or makes one of it: then the constructor runs.
	switch {
	case name == "new" && len(of) > 0 && of[0] != "?":
		r.Use(n, mask.Called, of...)
	case name == "new" && len(of) == 0:
		r.own(n)
	}
	if len(of) == 0 {
		r.Use(n, mask.Called, append(r.whoever(n), name+assigned(n))...)
	} else {
		r.Use(n, mask.Called, append(slices.Clone(of), name+assigned(n))...)
	}
	switch {
	case slices.Contains(evals, name) && len(of) == 0 && r.Class() >= 0:
		r.Use(n, mask.Named, strings.Split(r.File.Classes[r.Class()].Name, ".")...)
	case slices.Contains(evals, name) && receiver.Is("constant", "scope_resolution"):
		r.Use(n, mask.Named, of...)
	case len(of) == 0 && slices.Contains(mixins, name) && r.Member():
		for c := range arguments.Children() {
			if c.Is("constant", "scope_resolution") {
				r.base(r.Class(), c)
			}
		}
	case receiver.Is("identifier") && name == "extend" && r.Class() >= 0 && r.hooked():
		for c := range arguments.Children() {
			if c.Is("constant", "scope_resolution") {
				r.base(r.Class(), c)
			}
		}
	case len(of) == 0 && slices.Contains(loaders, name):
		r.required(name, arguments)
	case slices.Contains(senders, name):
		r.symbols(arguments, mask.Called, of)
	default:
		r.symbols(arguments, mask.Named, nil)
	}
	r.route(n, name, arguments)
	if parent := n.Parent(); parent.Is("assignment") && n.Field() == "right" && parent.Child("left").Is("constant") {
		r.made(parent.Child("left").Text(), n)
	}
}

// eigen reports whether a node is in the body of class << self.
func (r *reader) eigen(n syntax.Node) bool {
	for up := n.Parent(); up.Is("body_statement", "argument_list", "call", "singleton_class"); up = up.Parent() {
		if up.Is("singleton_class") {
			return true
		}
	}
	return false
}

// hooked reports whether the place is in a hook: what that extends, who includes the module
// has as its own.
func (r *reader) hooked() bool {
	return r.Function() >= 0 && r.File.Functions[r.Function()].Construct == mask.Hook
}

// symbols are names of methods among arguments: before_action :x, send(:x). Those that a
// class's body declares with are called later, if at all.
func (r *reader) symbols(arguments syntax.Node, use mask.Use, of []string) {
	for c := range arguments.Children() {
		if text, ok := strings.CutPrefix(c.Text(), ":"); ok && c.Is("simple_symbol") {
			r.Use(c, use, append(slices.Clone(of), text)...)
			if use == mask.Called {
				return
			}
		}
	}
}

// required are the files that this one takes in. Their constants hold everywhere.
func (r *reader) required(word string, arguments syntax.Node) {
	var name string
	for c := range arguments.Children() {
		if text, ok := literal(c); ok {
			name = text
		}
	}
	if name == "" {
		return
	}
	name = strings.TrimSuffix(name, ".rb")
	if word == "require_relative" || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = required(path.Join(path.Dir(r.file), name) + ".rb")
	}
	r.File.Imports = append(r.File.Imports, mask.Import{Module: name, Name: "*"})
}

// literal is the text of a string without anything to fill in.
func literal(n syntax.Node) (string, bool) {
	if !n.Is("string") || n.Has("interpolation", "escape_sequence") {
		return "", false
	}
	return n.First("string_content").Text(), true
}

// assignment learns variables, and what constants and instance variables hold.
func (r *reader) assignment(n syntax.Node) {
	left, right := n.Child("left"), n.Child("right")
	name := ""
	switch left.Kind() {
	case "identifier":
		r.variable(left.Text())
		if r.Function() < 0 && r.Class() < 0 {
			name = left.Text()
		}
	case "constant", "instance_variable", "class_variable", "global_variable":
		name = left.Text()
		// What a method keeps in a variable of its object is the class's to know.
		if r.Class() >= 0 && !left.Is("global_variable") {
			name = r.File.Classes[r.Class()].Name + "." + name
		}
	}
	made := right.Is("call") && right.Child("method").Text() == "new"
	value := mask.Ref{Path: r.path(right), Use: mask.Named, Class: r.Class(), Line: n.Line()}
	if made {
		value.Use = mask.Called
	}
	if name != "" && value.Path[0] != "?" && (made || right.Is("constant", "scope_resolution")) && classes[called(right)] == "" && !r.bound(name) {
		r.File.Bindings = append(r.File.Bindings, mask.Binding{Name: name, Value: value})
	}
}

// verbs are the methods that declare a route, in routers which name the handler.
var verbs = map[string]string{"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE", "options": "OPTIONS"}

// route is get "/x", to: "posts#show". A block is code of what is around it, and no
// handler of ours (Sinatra); what resources makes is not in the file.
func (r *reader) route(n syntax.Node, name string, arguments syntax.Node) {
	method, ok := verbs[name]
	place, plain := literal(arguments.First())
	if !ok || !plain {
		return
	}
	for c := range arguments.Children() {
		if !c.Is("pair") || strings.Trim(c.Child("key").Text(), ":") != "to" {
			continue
		}
		text, _ := literal(c.Child("value"))
		controller, action, ok := strings.Cut(text, "#")
		if !ok {
			return
		}
		r.File.Routes = append(r.File.Routes, mask.Route{
			Method: method, Path: place, Function: -1,
			Handler: mask.Ref{Path: append(controllerOf(controller), action), Use: mask.Named, Class: r.Class(), Line: n.Line()},
		})
	}
}

// controllerOf is the class of admin/blog_posts: Admin::BlogPostsController.
func controllerOf(name string) []string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		words := strings.Split(part, "_")
		for j, w := range words {
			if w != "" {
				words[j] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		parts[i] = strings.Join(words, "")
	}
	parts[len(parts)-1] += "Controller"
	return parts
}
