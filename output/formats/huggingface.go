package formats

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/benchmint/benchmint/output"
)

// HuggingFace is the rows alone, as datasets.load_dataset opens them: what a trainer reads,
// without the folders of the tasks. The dataset itself opens the same way; this one
// has lists in a configuration of their own, and what is asked for most as columns.
type HuggingFace struct{}

var _ Format = HuggingFace{}

// Name implements Format.
func (HuggingFace) Name() string { return "huggingface" }

// Fits implements Format.
func (HuggingFace) Fits(t Task) error {
	switch {
	case !utf8.Valid(t.Gold):
		return errors.New("patch is not UTF-8")
	case !utf8.Valid(t.Hidden):
		return errors.New("test_patch is not UTF-8")
	}
	return nil
}

// hfColumns are what both configurations have, in order.
type hfColumns struct {
	columns
	Language  string `json:"language" parquet:"language,zstd"`
	Kind      string `json:"kind" parquet:"kind,zstd"`
	Licence   string `json:"licence" parquet:"licence,zstd"`
	ImageName string `json:"image_name" parquet:"image_name,zstd"`
	Benchmint string `json:"benchmint" parquet:"benchmint,zstd"` // JSON text
}

// hfRow is the default configuration; hfLists is that of lists.
type (
	hfRow struct {
		hfColumns
		FailToPass string `json:"FAIL_TO_PASS" parquet:"FAIL_TO_PASS,zstd"`
		PassToPass string `json:"PASS_TO_PASS" parquet:"PASS_TO_PASS,zstd"`
	}
	hfLists struct {
		hfColumns
		FailToPass []string `parquet:"FAIL_TO_PASS,list,zstd"`
		PassToPass []string `parquet:"PASS_TO_PASS,list,zstd"`
	}
)

// Open implements Format.
func (HuggingFace) Open(dir string, d *output.Dataset) (Sink, error) {
	return openRows(rows[hfRow, hfLists]{dir: dir, name: d.Manifest.Name, of: hf, about: "for Hugging Face datasets"}, d)
}

func hf(t Task) (hfRow, hfLists, error) {
	// Extra is JSON text in the rows of a dataset, and so it is here.
	quoted, err := json.Marshal(t.Benchmint)
	if err != nil {
		return hfRow{}, hfLists{}, err
	}
	var extra string
	if err := json.Unmarshal(quoted, &extra); err != nil {
		return hfRow{}, hfLists{}, err
	}
	f2p, p2p, err := listsText(t)
	if err != nil {
		return hfRow{}, hfLists{}, err
	}
	c := hfColumns{
		columns: columnsOf(t), Language: t.Benchmint.Language, Kind: string(t.Benchmint.Kind), Licence: t.Benchmint.Licence,
		ImageName: Image(t.Row), Benchmint: extra,
	}
	return hfRow{c, f2p, p2p}, hfLists{c, t.FailToPass, t.PassToPass}, nil
}
