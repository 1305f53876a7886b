package contamination

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// parquet reads the columns that a family wants, row group by row group and page by page.
func (r *reader) parquet(f *os.File, sums hash.Hash) (err error) {
	defer func() {
		// The library panics on some damaged files.
		if x := recover(); x != nil {
			err = fmt.Errorf("parquet: %v", x)
		}
	}()
	if _, err := io.Copy(sums, f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	var names []string
	for _, path := range file.Schema().Columns() {
		names = append(names, columnName(path))
	}
	var top []string
	for _, c := range file.Root().Columns() {
		top = append(top, c.Name())
	}
	fam, err := familyOf(top)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknownFamily, err)
	}
	n := 0
	for _, g := range file.RowGroups() {
		if n, err = r.rowGroup(g, fam, names, f.Name(), n); err != nil {
			return fmt.Errorf("parquet: row %d: %w", n+1, err)
		}
	}
	return nil
}

// columnName is outer.inner, without what parquet puts between a list and its values.
func columnName(path []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(path), func(s string) bool { return s == "list" || s == "element" || s == "item" || s == "array" }), ".")
}

func (r *reader) rowGroup(g parquet.RowGroup, f family, names []string, file string, n int) (int, error) {
	var columns []*column
	for i, c := range g.ColumnChunks() {
		if slices.Contains(f.columns(), names[i]) {
			one := &column{name: names[i], pages: c.Pages()}
			defer one.pages.Close()
			columns = append(columns, one)
		}
	}
	for range g.NumRows() {
		if err := r.ctx.Err(); err != nil {
			return n, err
		}
		c := cells{}
		for _, one := range columns {
			text, err := one.next()
			if err != nil {
				return n, fmt.Errorf("%s: %w", one.name, err)
			}
			c[one.name] = text
		}
		n++
		r.add(f, c, file, n)
	}
	return n, nil
}

// column reads one column of a row group, a row at a time.
type column struct {
	name   string
	pages  parquet.Pages
	values parquet.ValueReader
	buffer [64]parquet.Value
	held   []parquet.Value
}

// value is the next one, which stays; io.EOF after the last.
func (c *column) value() (parquet.Value, error) {
	for len(c.held) == 0 {
		if c.values != nil {
			k, err := c.values.ReadValues(c.buffer[:])
			c.held = c.buffer[:k]
			if err != nil && !errors.Is(err, io.EOF) {
				return parquet.Value{}, err
			}
			if k > 0 {
				break
			}
		}
		page, err := c.pages.ReadPage()
		if err != nil {
			return parquet.Value{}, err
		}
		c.values = page.Values()
	}
	return c.held[0], nil
}

// next is the text of a row: of a list, all of its values.
func (c *column) next() (string, error) {
	var texts []string
	for first := true; ; first = false {
		v, err := c.value()
		if errors.Is(err, io.EOF) && !first || err == nil && !first && v.RepetitionLevel() == 0 {
			return strings.Join(texts, "\n\n"), nil
		}
		if err != nil {
			return "", err
		}
		c.held = c.held[1:]
		if !v.IsNull() {
			texts = append(texts, strings.Clone(v.String()))
		}
	}
}
