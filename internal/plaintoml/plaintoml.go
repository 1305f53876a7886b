// Package plaintoml decodes TOML that people write, and refuses TOML that is made to cost
// the decoder more than its size: it compares each key with all that stand before it.
//
// It never says what a text means, and never repairs one.
package plaintoml

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ErrCostly is a text that would take too long.
var ErrCostly = errors.New("the TOML has too many keys")

// maxCost bounds the comparisons of keys: about a second. A manifest of 10,000 keys has
// half as many, the lock file of 5,000 packages a hundredth of that.
const maxCost = 100_000_000

// Decode is toml.Unmarshal with a bound. ErrCostly.
func Decode(data []byte, into any) error {
	if costly(data) {
		return ErrCostly
	}
	return toml.Unmarshal(data, into)
}

// costly follows what the decoder remembers: keys by the table that they stand in. A list
// of tables ("[[a]]") forgets those of its element before.
func costly(data []byte) bool {
	var p unstable.Parser
	p.Reset(data)
	kept := map[string]int{}
	seen, cost, table := 0, 0, ""
	for cost <= maxCost && p.NextExpression() {
		e := p.Expression()
		cost += seen
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			table = name(e)
		}
		if _, again := kept[table]; again && e.Kind == unstable.ArrayTable {
			cost += len(kept)
			for other, n := range kept {
				if strings.HasPrefix(other, table) {
					seen -= n
					delete(kept, other)
				}
			}
		}
		n := keys(e)
		kept[table] += n
		seen += n
		cost += n * seen
	}
	return cost > maxCost
}

// name ends in a mark, so that no table's begins with that of another one beside it.
func name(e *unstable.Node) string {
	var b strings.Builder
	for it := e.Key(); it.Next(); {
		b.Write(it.Node().Data)
		b.WriteByte(0)
	}
	return b.String()
}

// keys counts those of an expression, with those of tables in its value.
func keys(e *unstable.Node) int {
	n := 0
	switch e.Kind {
	case unstable.KeyValue, unstable.Table, unstable.ArrayTable:
		for it := e.Key(); it.Next(); {
			n++
		}
		if e.Kind == unstable.KeyValue {
			n += keys(e.Value())
		}
	case unstable.Array, unstable.InlineTable:
		for it := e.Children(); it.Next(); {
			n += keys(it.Node())
		}
	}
	return n
}
