package routes

import (
	"go/ast"
	"slices"
	"strings"
)

// defaultMux is that of package net/http.
func (in *interpreter) defaultMux() any {
	for _, k := range in.kinds {
		if k.framework() == "net/http" {
			if in.fallback == nil {
				in.fallback = in.newRouter(k)
			}
			return in.fallback
		}
	}
	return nil
}

// callExternal calls a function of another package.
func (in *interpreter) callExternal(p, name string, x *ast.CallExpr, c goContext) any {
	for _, k := range in.kinds {
		if k.makes(p, name) {
			in.arguments(x, c)
			return in.newRouter(k)
		}
	}
	args := in.arguments(x, c)
	if s, ok := text(p, name, args); ok {
		return s
	}
	if p == "github.com/spf13/viper" && name == "GetString" && len(args) == 1 {
		if key, ok := args[0].(string); ok && in.src.viperDefaults()[strings.ToLower(key)] != "" {
			return in.src.viperDefaults()[strings.ToLower(key)]
		}
	}
	if p == "net/http" {
		switch name {
		case "Handle", "HandleFunc":
			if r, ok := in.defaultMux().(*router); ok {
				return in.callRouter(r, name, args, x)
			}
			return nil
		case "HandlerFunc":
			return first(several(args))
		case "StripPrefix":
			if len(args) == 2 {
				return in.stripped(args[0], args[1])
			}
			return nil
		case "ListenAndServe", "ListenAndServeTLS", "Serve":
			in.serve(args)
			return nil
		}
	}
	if p == "github.com/gin-gonic/gin" && (name == "WrapF" || name == "WrapH") {
		return first(several(args))
	}
	in.hooks(args, x)
	filled(args)
	if v := in.handlerAmong(args, &external{path: p, name: name, args: args, called: true}); v != nil {
		return v
	}
	return &external{path: p, name: name, args: args, called: true}
}

// serve notes what stands around a router that is served.
func (in *interpreter) serve(args []any) {
	for _, a := range args {
		if r, mws := asRouter(a); r != nil && len(mws) > 0 && r.bucket.outside == nil {
			r.bucket.outside = mws
		}
	}
}

// stripped is http.StripPrefix.
func (in *interpreter) stripped(prefix, h any) any {
	p, ok := prefix.(string)
	r, mws := asRouter(h)
	if r == nil {
		return h
	}
	out := *r
	out.strip, out.unknown = &p, r.unknown || !ok
	return in.behind(&out, mws)
}

// filled notes objects that another package is given: it may set their fields.
func filled(args []any) {
	for _, a := range args {
		if o, ok := a.(*object); ok {
			o.plain = false
		}
	}
}

// hooks runs literals that another package is given to call: once.Do, fx.Invoke.
func (in *interpreter) hooks(args []any, x *ast.CallExpr) {
	for _, a := range args {
		f, ok := a.(*function)
		if !ok || f.lit == nil || shapeOf(a) != "" || in.aside {
			continue
		}
		in.enter(f, nil, x.Pos())
	}
}

// callOn calls a method of a value of another package.
func (in *interpreter) callOn(v *external, name string, args []any, x *ast.CallExpr) any {
	in.hooks(args, x)
	filled(args)
	next := &external{path: v.path, name: v.name + "." + name, args: slices.Concat(v.args, args), called: true}
	chain := others(v.args, nil)
	if h := in.handlerAmong(args, next); h != nil {
		return in.behind(h, chain)
	}
	return next
}
