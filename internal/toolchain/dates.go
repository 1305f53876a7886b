package toolchain

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pythonMinors are the days of the x.y.0 releases (python.org, release schedule PEPs).
var pythonMinors = map[string]string{
	"2.7": "2010-07-03", "3.4": "2014-03-16", "3.5": "2015-09-13", "3.6": "2016-12-23",
	"3.7": "2018-06-27", "3.8": "2019-10-14", "3.9": "2020-10-05", "3.10": "2021-10-04",
	"3.11": "2022-10-24", "3.12": "2023-10-02", "3.13": "2024-10-07", "3.14": "2025-10-07",
	"3.15": "2026-10-01",
}

// goMinors are the days of the first release of each minor (go.dev/doc/devel/release).
var goMinors = map[string]string{
	"1.11": "2018-08-24", "1.12": "2019-02-25", "1.13": "2019-09-03", "1.14": "2020-02-25",
	"1.15": "2020-08-11", "1.16": "2021-02-16", "1.17": "2021-08-16", "1.18": "2022-03-15",
	"1.19": "2022-08-02", "1.20": "2023-02-01", "1.21": "2023-08-08", "1.22": "2024-02-06",
	"1.23": "2024-08-13", "1.24": "2025-02-11", "1.25": "2025-08-12", "1.26": "2026-02-10",
	"1.27": "2026-08-18",
}

// goPatches are, newest first, patches of each minor to ask the module proxy for
// where it gives no list of versions: its copies have gaps, so there are several.
var goPatches = map[string][]int{
	"1.11": {13, 5}, "1.12": {17, 14},
	"1.13": {15, 1}, "1.14": {15, 7}, "1.15": {15, 7, 3}, "1.16": {15, 3}, "1.17": {13, 1},
	"1.18": {10, 8, 4}, "1.19": {13, 4}, "1.20": {14, 4, 1}, "1.21": {13, 6, 0}, "1.22": {12, 11, 0},
	"1.23": {12, 10, 0}, "1.24": {13, 11, 0}, "1.25": {14, 11, 0}, "1.26": {11, 8, 0}, "1.27": {4, 3, 0},
}

// releasedPython is the day on which the version's minor came out. One that the table
// does not know yet is dated by CPython's rhythm: one a year, in October.
func releasedPython(version string) time.Time {
	return released(pythonMinors, version, func(minor int) time.Time {
		return time.Date(2011+minor, time.October, 1, 0, 0, 0, 0, time.UTC)
	})
}

// releasedGo is releasedPython for Go, which comes in February (even minors) and in
// August (odd).
func releasedGo(version string) time.Time {
	return released(goMinors, version, func(minor int) time.Time {
		month := time.February
		if minor%2 == 1 {
			month = time.August
		}
		return time.Date(2013+minor/2, month, 15, 0, 0, 0, 0, time.UTC)
	})
}

// released looks a version's minor up in a table of days, and else goes by a rhythm.
func released(table map[string]string, version string, rhythm func(minor int) time.Time) time.Time {
	if day, ok := table[minorOf(version)]; ok {
		if t, err := time.Parse(time.DateOnly, day); err == nil {
			return t
		}
	}
	if v := numbers(version); len(v) > 1 {
		return rhythm(v[1])
	}
	return time.Time{}
}

// minorOf is x.y of x.y.z.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return version
	}
	return parts[0] + "." + parts[1]
}

// numbers splits a plain version; nil where a part is no number (rc, beta).
func numbers(version string) []int {
	var out []int
	for _, p := range strings.Split(version, ".") {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// less orders plain versions; go1.20 and go1.20.0 are equal and neither is less.
func less(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := 0; i < max(len(x), len(y)); i++ {
		var p, q int
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			return p < q
		}
	}
	return false
}

// patch is minor.n as Go writes it: before 1.21 the first release has no ".0".
func patch(minor string, n int) string {
	if n == 0 && less(minor, "1.21") {
		return minor
	}
	return fmt.Sprintf("%s.%d", minor, n)
}
