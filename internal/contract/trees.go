package contract

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// maxList is the longest list whose order is compared element by element.
const maxList = 200

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// merge matches one value of each replay. steps lead to it. nil: they have nothing in common.
func (m *merger) merge(all []any, steps []string) *Matcher {
	key := lastKey(steps)
	kind := commonKind(all)
	if len(steps) >= maxDepth && (kind == kindObject || kind == kindArray) {
		return m.lose(all, kind)
	}
	switch kind {
	case kindObject:
		return m.mergeObjects(all, steps)
	case kindArray:
		return m.mergeLists(all, steps)
	case "":
		if slices.ContainsFunc(all, func(v any) bool { k := kindOf(v); return k == kindObject || k == kindArray }) {
			m.leaves.Lost += leavesIn(all[0])
			return nil
		}
	}
	got, by := m.leaf(all, key)
	if got == nil {
		m.leaves.Lost++
		return nil
	}
	m.count(by)
	return got
}

// lastKey is the name of what steps lead to: of a list, for its elements.
func lastKey(steps []string) string {
	for _, s := range slices.Backward(steps) {
		if strings.Trim(s, "0123456789") != "" {
			return s
		}
	}
	return ""
}

// lose gives up on all that is below a value.
func (m *merger) lose(all []any, kind string) *Matcher {
	m.leaves.Lost += leavesIn(all[0])
	return &Matcher{Type: kind}
}

func leavesIn(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += leavesIn(e)
		}
	case []any:
		for _, e := range v {
			n += leavesIn(e)
		}
	default:
		n = 1
	}
	return n
}

func (m *merger) mergeObjects(all []any, steps []string) *Matcher {
	first, _ := all[0].(map[string]any)
	keys := sortedKeys(first)
	for _, v := range all[1:] {
		other, _ := v.(map[string]any)
		if !slices.Equal(keys, sortedKeys(other)) {
			return m.lose(all, kindObject)
		}
	}
	before := m.leaves
	out := make(map[string]*Matcher, len(keys))
	for _, k := range keys {
		var column []any
		for _, v := range all {
			object, _ := v.(map[string]any)
			column = append(column, object[k])
		}
		if out[k] = m.merge(column, append(steps, k)); out[k] == nil {
			m.leaves = before
			return m.lose(all, kindObject)
		}
	}
	if literal, ok := literalObject(out); ok {
		return equalTo(literal)
	}
	return &Matcher{Object: out}
}

func (m *merger) mergeLists(all []any, steps []string) *Matcher {
	rows := make([][]any, len(all))
	for i, v := range all {
		rows[i], _ = v.([]any)
		if len(rows[i]) != len(rows[0]) {
			return m.lose(all, kindArray)
		}
	}
	rows, moved := m.aligned(rows)
	before := m.leaves
	out := make([]*Matcher, len(rows[0]))
	for i := range out {
		var column []any
		for _, r := range rows {
			column = append(column, r[i])
		}
		// What has no order has no places either: its elements are known by the list.
		if out[i] = m.merge(column, append(steps, "0")); out[i] == nil {
			m.leaves = before
			return m.lose(all, kindArray)
		}
	}
	if moved {
		return &Matcher{Set: out}
	}
	if literal, ok := literalList(out); ok {
		return equalTo(literal)
	}
	return &Matcher{List: out}
}

// aligned puts the elements of each list into the order of the first, where the lists have the
// same elements in another order, all that varies from run to run left aside: what is not in each
// of the lists, too, such as an ID that is made up.
func (m *merger) aligned(rows [][]any) ([][]any, bool) {
	n := len(rows[0])
	if n < 2 || n > maxList {
		return rows, false
	}
	common := map[string]int{}
	for _, r := range rows {
		in := map[string]bool{}
		scalars(r, in)
		for k := range in {
			common[k]++
		}
	}
	everywhere := func(v any) bool { return common[valueKey(v)] == len(rows) }
	keys := make([][]string, len(rows))
	moved := false
	for i, r := range rows {
		for _, v := range r {
			keys[i] = append(keys[i], m.outline(v, "", everywhere))
		}
		moved = moved || !slices.Equal(keys[i], keys[0])
	}
	if !moved {
		return rows, false
	}
	want := slices.Sorted(slices.Values(keys[0]))
	out := [][]any{rows[0]}
	for i, r := range rows[1:] {
		if !slices.Equal(want, slices.Sorted(slices.Values(keys[i+1]))) {
			return rows, false
		}
		places := map[string][]int{}
		for at, k := range keys[i+1] {
			places[k] = append(places[k], at)
		}
		var row []any
		for _, k := range keys[0] {
			row = append(row, r[places[k][0]])
			places[k] = places[k][1:]
		}
		out = append(out, row)
	}
	return out, true
}

// scalars adds the keys of all values below v that hold no others.
func scalars(v any, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			scalars(e, to)
		}
	case []any:
		for _, e := range v {
			scalars(e, to)
		}
	default:
		to[valueKey(v)] = true
	}
}

// outline is a value as text, with a mark in the place of what varies.
func (m *merger) outline(v any, key string, everywhere func(any) bool) string {
	switch x := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, k := range sortedKeys(x) {
			b.WriteString(k + ":" + m.outline(x[k], k, everywhere) + ",")
		}
		return "{" + b.String() + "}"
	case []any:
		var parts []string
		for _, e := range x {
			parts = append(parts, m.outline(e, key, everywhere))
		}
		sort.Strings(parts)
		return "[" + strings.Join(parts, ",") + "]"
	}
	if m.volatile(v, key) || !everywhere(v) {
		return "?" + kindOf(v)
	}
	return valueKey(v) + kindOf(v)
}

// literalObject is the value of an object all of whose members are literals.
func literalObject(of map[string]*Matcher) (any, bool) {
	out := make(map[string]any, len(of))
	for k, c := range of {
		v, ok := c.literal()
		if !ok {
			return nil, false
		}
		out[k] = v
	}
	return out, true
}

func literalList(of []*Matcher) (any, bool) {
	out := make([]any, len(of))
	for i, c := range of {
		v, ok := c.literal()
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// literal is the one value that a matcher fits.
func (m *Matcher) literal() (any, bool) {
	if m.Equal != nil {
		return *m.Equal, true
	}
	return nil, m.Type == kindNull
}
