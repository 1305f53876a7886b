package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/routes"
)

// routeSlice are the functions that answer the routes under a prefix, by whole segments: /user is not above /users.
func routeSlice(source, prefix string) (mask.Slice, error) {
	t, err := routes.Open(source)
	if err != nil {
		return mask.Slice{}, err
	}
	var out mask.Slice
	known := map[string]bool{} // routes, with what is above them
	count := 0
	for _, language := range []string{"python", "go"} {
		table, err := routes.Read(t, language)
		if unread := (*routes.Unread)(nil); errors.As(err, &unread) {
			continue
		}
		if err != nil {
			return mask.Slice{}, err
		}
		count += len(table.Routes)
		for _, r := range table.Routes {
			for at := whole(r.Path); at != ""; at = at[:strings.LastIndexByte(at, '/')] {
				known[at] = true
			}
			if under := whole(prefix); under == "/" || whole(r.Path) == under || strings.HasPrefix(whole(r.Path), under+"/") {
				out = withHandler(out, r)
			}
		}
	}
	if len(out.Names) == 0 {
		return out, fmt.Errorf("no handler of a route under %q%s (%d routes in %s, of the frameworks that are read in Python and Go)",
			prefix, nearest.Hint(whole(prefix), slices.Sorted(maps.Keys(known))), count, source)
	}
	return out, nil
}

// withHandler adds the function that answers a route; one without a name has none to add.
func withHandler(s mask.Slice, r routes.Route) mask.Slice {
	name := r.Handler.Path + "::" + r.Handler.Name
	if r.Handler.Name == "" || slices.Contains(s.Names, name) {
		return s
	}
	s.Names = append(s.Names, name)
	if r.Made {
		s.Returned = append(s.Returned, name)
	}
	return s
}

// whole is a path with one slash at its head and none at its end.
func whole(p string) string { return "/" + strings.Trim(p, "/") }
