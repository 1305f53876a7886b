package formats

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// SWEBench is the row that Hugging Face datasets, SWE-bench 5 and mini-swe-agent read:
// the columns of SWE-bench, the image under the three names that these use, and the
// script that SWE-bench runs. Before version 5 its lists must be JSON text, so they are;
// the configuration `lists` has lists.
type SWEBench struct{}

var _ Format = SWEBench{}

// Name implements Format.
func (SWEBench) Name() string { return "swebench" }

// Fits implements Format.
func (SWEBench) Fits(t Task) error {
	if err := patches(t); err != nil {
		return err
	}
	if err := names(t.FailToPass, t.PassToPass); err != nil {
		return err
	}
	_, err := evalScript(t)
	return err
}

// Open implements Format.
func (SWEBench) Open(dir string, d *output.Dataset) (Sink, error) {
	return openRows(rows[sweRow, sweLists]{
		dir: dir, name: d.Manifest.Name, tags: []string{"swe-bench"}, of: swe,
		about: "for Hugging Face datasets, SWE-bench 5 and mini-swe-agent", note: " The images that `image` names are in no registry: they must be on the\nmachine before a client is started.",
	}, d)
}

// sweColumns are what every configuration has, in order.
type sweColumns struct {
	columns
	Image       string `json:"image" parquet:"image,zstd"`               // SWE-bench 5
	ImageName   string `json:"image_name" parquet:"image_name,zstd"`     // mini-swe-agent
	DockerImage string `json:"docker_image" parquet:"docker_image,zstd"` // what others ask for
	EvalScript  string `json:"eval_script" parquet:"eval_script,zstd"`
	LogParser   string `json:"log_parser" parquet:"log_parser,zstd"`
	EvalType    string `json:"eval_type" parquet:"eval_type,zstd"`
}

// sweRow is the default configuration; sweLists is that of lists.
type (
	sweRow struct {
		sweColumns
		FailToPass string `json:"FAIL_TO_PASS" parquet:"FAIL_TO_PASS,zstd"`
		PassToPass string `json:"PASS_TO_PASS" parquet:"PASS_TO_PASS,zstd"`
	}
	sweLists struct {
		sweColumns
		FailToPass []string `parquet:"FAIL_TO_PASS,list,zstd"`
		PassToPass []string `parquet:"PASS_TO_PASS,list,zstd"`
	}
)

const (
	logParser = "parse_log_pytest_v2" // the one that keeps names with blanks
	evalType  = "pass_and_fail"       // a test that is not there has failed
)

// Image is the local name of a task's image. Equal digests are one image, whatever the
// name before the tag.
func Image(r output.Row) string {
	_, hex, _ := strings.Cut(string(r.Benchmint.ImageKey), ":")
	return "benchmint/" + component(r.InstanceID) + ":" + hex[:min(12, len(hex))]
}

// ImageFiles are what a task's image has beside the tree, by absolute paths: the files of a specification. nil
// where there is none.
func ImageFiles(specification map[string][]byte) map[string][]byte {
	if len(specification) == 0 {
		return nil
	}
	out := map[string][]byte{}
	for name, data := range specification {
		out[path.Join(schemas.SpecificationPath, name)] = data
	}
	return out
}

var separators = lazyregexp.New(`[^a-z0-9]+`)

// component is a name as image references allow it: lower case, with one of ".", "_",
// "__" or dashes between letters and digits.
func component(id string) string {
	out := separators.ReplaceAllStringFunc(strings.ToLower(id), func(s string) string {
		if s == "." || s == "_" || s == "__" || strings.Trim(s, "-") == "" {
			return s
		}
		return "-"
	})
	return strings.Trim(out, "._-")
}

func swe(t Task) (sweRow, sweLists, error) {
	script, err := evalScript(t)
	if err != nil {
		return sweRow{}, sweLists{}, err
	}
	f2p, p2p, err := listsText(t)
	if err != nil {
		return sweRow{}, sweLists{}, err
	}
	image := Image(t.Row)
	c := sweColumns{
		columns: columnsOf(t), Image: JudgeImage(t.Row), ImageName: image, DockerImage: image,
		EvalScript: string(script), LogParser: logParser, EvalType: evalType,
	}
	return sweRow{c, f2p, p2p}, sweLists{c, t.FailToPass, t.PassToPass}, nil
}
