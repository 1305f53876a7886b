package schemas

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// RecordPath is a path as records hold it: itself, or quoted as Go quotes where it is
// not UTF-8, because JSON would replace the bytes silently. No two paths have one form:
// a path that begins with a quote is quoted as well.
func RecordPath(path string) string {
	if utf8.ValidString(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return strconv.Quote(path)
}
