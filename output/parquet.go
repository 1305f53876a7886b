package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// columns is a row as all formats hold it: strings, in order.
type columns struct {
	InstanceID             string `json:"instance_id" parquet:"instance_id,zstd"`
	Repo                   string `json:"repo" parquet:"repo,zstd"`
	BaseCommit             string `json:"base_commit" parquet:"base_commit,zstd"`
	Patch                  string `json:"patch" parquet:"patch,zstd"`
	TestPatch              string `json:"test_patch" parquet:"test_patch,zstd"`
	ProblemStatement       string `json:"problem_statement" parquet:"problem_statement,zstd"`
	HintsText              string `json:"hints_text" parquet:"hints_text,zstd"`
	CreatedAt              string `json:"created_at" parquet:"created_at,zstd"`
	Version                string `json:"version" parquet:"version,zstd"`
	FailToPass             string `json:"FAIL_TO_PASS" parquet:"FAIL_TO_PASS,zstd"`
	PassToPass             string `json:"PASS_TO_PASS" parquet:"PASS_TO_PASS,zstd"`
	EnvironmentSetupCommit string `json:"environment_setup_commit" parquet:"environment_setup_commit,zstd"`
	Benchmint              string `json:"benchmint" parquet:"benchmint,zstd"`
}

// boundless are the columns of long text: bounds of a page hold whole values, which
// would put every patch into the footer once more.
var boundless = []string{"patch", "test_patch", "problem_statement", "hints_text", "FAIL_TO_PASS", "PASS_TO_PASS", "benchmint"}

// A row group ends at so much text: what the writer holds in memory, and what a
// reader has to unpack for one row.
const rowGroupBytes = 16 << 20

// parquetWriter takes rows as they stand in the JSONL, so that both hold equal
// values whatever JSON did to bytes that are no UTF-8.
type parquetWriter struct {
	w    *parquet.GenericWriter[columns]
	held int
}

func newParquet(to io.Writer) *parquetWriter {
	options := []parquet.WriterOption{
		parquet.CreatedBy("benchmint", "1", ""), // the default names the build of the library
		parquet.DataPageStatistics(false),
	}
	for _, c := range boundless {
		options = append(options, parquet.SkipPageBounds(c))
	}
	return &parquetWriter{w: parquet.NewGenericWriter[columns](to, options...)}
}

// add takes one line of the JSONL.
func (p *parquetWriter) add(line []byte) error {
	var c columns
	if err := json.Unmarshal(line, &c); err != nil {
		return fmt.Errorf("reading a row back: %w", err)
	}
	if _, err := p.w.Write([]columns{c}); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	if p.held += len(line); p.held < rowGroupBytes {
		return nil
	}
	p.held = 0
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

func (p *parquetWriter) close() error {
	if err := p.w.Close(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// readParquet visits the rows of a file in order.
func readParquet(dir, name string, visit func(n int, c columns)) (err error) {
	defer func() {
		// The reader panics on some damaged files.
		if r := recover(); r != nil {
			err = fmt.Errorf("parquet: %v", r)
		}
	}()
	f, err := openIn(dir, name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	if want, got := parquet.SchemaOf(columns{}).String(), file.Schema().String(); want != got {
		return fmt.Errorf("parquet: its columns are not those of a row: %s", got)
	}
	r := parquet.NewGenericReader[columns](file)
	defer func() { _ = r.Close() }()
	rows := make([]columns, 1)
	for n := 1; ; n++ {
		k, err := r.Read(rows)
		if k == 1 {
			visit(n, rows[0])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("parquet: row %d: %w", n, err)
		}
	}
}
