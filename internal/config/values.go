package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Size is a number of bytes, written 4GiB.
type Size int64

var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

func (s Size) String() string {
	for _, u := range units[:4] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

const sizePattern = `^[0-9]+(\.[0-9]+)? ?([KMGT]iB|[kKMGT]?B)$`

// ParseSize reads 4GiB, 512 MB, 1.5GiB. A bare number is refused: 4 would be four bytes.
func ParseSize(text string) (Size, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || n < 0 || math.IsNaN(n) || n*float64(u.bytes) > math.MaxInt64/2 {
			break
		}
		return Size(n * float64(u.bytes)), nil
	}
	return 0, errForm
}

const durationPattern = `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`

var durationShape = lazyregexp.New(durationPattern)

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil && !durationShape.MatchString(text) {
		return 0, errForm
	}
	return d, err
}

// formatDuration is the short form: 30m, not 30m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Date is a day in UTC; the zero Date is no bound.
type Date struct{ time.Time }

const datePattern = `^([0-9]{4}-[0-9]{2}-[0-9]{2})?$`

func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return d.Format(time.DateOnly)
}

// ParseDate reads YYYY-MM-DD as the day's first moment in UTC.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	return Date{t}, err
}

// assign reads text into what ptr points to; the pointer's type is the key's type.
// What cannot be read leaves the value as it was, so that one fault is told once.
func assign(ptr any, text string) error {
	switch p := ptr.(type) {
	case *string:
		*p = text
	case *int:
		return keep(p, text, "whole number", strconv.Atoi)
	case *float64:
		return keep(p, text, "number", parseFloat)
	case *bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is not true or false", text)
		}
		*p = text == "true"
	case *Size:
		return keep(p, text, "size (a number and B, KiB, MiB, GiB or TiB, such as 4GiB)", ParseSize)
	case *time.Duration:
		return keep(p, text, "duration (such as 90s, 30m, 1h30m)", parseDuration)
	case *Date:
		if text == "" { // no bound
			*p = Date{}
			return nil
		}
		return keep(p, text, "date (YYYY-MM-DD, UTC)", ParseDate)
	case *Prices:
		prices, err := parsePrices(text)
		if err != nil {
			return err
		}
		*p = prices
	case *Shares:
		shares, err := parseShares(text)
		if err != nil {
			return err
		}
		*p = shares
	case *[]string:
		*p = splitList(text)
	}
	return nil
}

func keep[T any](p *T, text, what string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err != nil {
		return fmt.Errorf("%q is not a %s", text, what)
	}
	*p = v
	return nil
}

var errForm = errors.New("wrong form")

func parseFloat(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, errForm
	}
	return f, err
}

// splitList reads a list of the environment or a flag: words between commas.
func splitList(text string) []string {
	list := []string{}
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// format is a value as YAML: what assign reads back.
func format(ptr any) string {
	switch p := ptr.(type) {
	case *string:
		return quote(*p)
	case *int:
		return strconv.Itoa(*p)
	case *float64:
		return strconv.FormatFloat(*p, 'g', -1, 64)
	case *bool:
		return strconv.FormatBool(*p)
	case *Size:
		return p.String()
	case *time.Duration:
		return formatDuration(*p)
	case *Date:
		return quote(p.String())
	case *Search:
		return p.String()
	case *Projects:
		return p.String()
	case *Prices:
		return p.String()
	case *Shares:
		return p.String()
	case *[]string:
		words := make([]string, len(*p))
		for i, w := range *p {
			words[i] = quote(w)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	return ""
}

var plain = lazyregexp.New(`^[A-Za-z0-9./_~][A-Za-z0-9./_@:+~-]*$`)

// quote is a YAML scalar: bare where nothing in it can be taken for syntax.
func quote(s string) string {
	if plain.MatchString(s) && !strings.HasSuffix(s, ":") {
		return s
	}
	return strconv.Quote(s)
}
