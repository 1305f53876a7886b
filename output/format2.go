package output

import (
	"encoding/json"

	"github.com/benchmint/benchmint/schemas"
)

// format2 is what was written before there was an object per kind and more than one
// split. Rows and manifest are read into today's form; what they lack stays empty.
const format2 = "benchmint-dataset/2"

// changeKeys stood beside the keys of every kind.
var changeKeys = []string{"commit", "number", "number_from", "subject", "release", "notes", "label", "label_evidence", "label_provider"}

// layout is one version of the format, as far as reading it differs.
type layout struct {
	format string
	// manifest and row turn JSON of the format into today's; nil where it is today's.
	// What is not JSON comes back as it is: the reader says where.
	manifest, row func([]byte) []byte
	// lacks are the keys of a row that it does not have.
	lacks []string
}

// layouts are those that can be read, the newest first.
var layouts = []layout{
	{format: Format},
	{format: format2, manifest: manifestOf2, row: rowOf2, lacks: []string{"adequacy.finding", "adequacy.skipped_for"}},
}

// findLayout is the layout of a format; false where it cannot be read.
func findLayout(format string) (layout, bool) {
	for _, l := range layouts {
		if l.format == format {
			return l, true
		}
	}
	return layout{}, false
}

// Lacks are the keys of a row that the manifest's format does not have: they are empty
// in rows that are read. There are none where it is Format.
func (m Manifest) Lacks() []string {
	l, _ := findLayout(m.Format)
	return l.lacks
}

// object is a JSON object whose values are left as they stand.
type object map[string]json.RawMessage

// edited gives an object back after a change; what is not an object, as it was.
func edited(b []byte, edit func(object)) []byte {
	var o object
	if strict(b, &o) != nil || o == nil {
		return b
	}
	edit(o)
	out, err := json.Marshal(o)
	if err != nil {
		return b
	}
	return out
}

// manifestOf2 gives the one split and its tasks a list.
func manifestOf2(b []byte) []byte {
	return edited(b, func(o object) {
		var counts struct{ Tasks int }
		var name string
		if json.Unmarshal(o["split"], &name) != nil || json.Unmarshal(o["counts"], &counts) != nil {
			return
		}
		delete(o, "split")
		o["splits"] = mustJSON([]Split{{Name: name, Tasks: counts.Tasks}})
	})
}

// rowOf2 puts the keys of the change into its object.
func rowOf2(b []byte) []byte {
	return edited(b, func(row object) {
		var text string
		if json.Unmarshal(row["benchmint"], &text) != nil {
			return
		}
		moved := edited([]byte(text), func(o object) {
			if o["change"] != nil {
				return // no key of this format
			}
			change := object{}
			for _, key := range changeKeys {
				if v, ok := o[key]; ok {
					change[key] = v
					delete(o, key)
				}
			}
			o["change"] = mustJSON(change)
		})
		row["benchmint"] = mustJSON(string(moved))
	})
}

// adequacyIn is the record of the hunks as rows of a format sum it up.
func (l layout) adequacyIn(a schemas.Adequacy) Adequacy {
	out := adequacy(a)
	if l.format == format2 {
		out.Finding, out.SkippedFor = "", nil
		if out.Tried == 0 {
			out.Share = 1
		}
	}
	return out
}
