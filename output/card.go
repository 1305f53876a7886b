package output

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// features are the columns of a row for the card's header. All are strings, so
// that an empty split and a full one have the same types.
var features = []string{
	"instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement", "hints_text", "created_at",
	"version", "FAIL_TO_PASS", "PASS_TO_PASS", "environment_setup_commit", "benchmint",
}

// card is the README with the header that Hugging Face reads. Without `configs`
// its loader guesses at every JSONL of the folder, rejects included.
func card(m Manifest, licences map[string]int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\npretty_name: %q\ntags:\n- benchmint\n- software-engineering\nconfigs:\n- config_name: default\n  default: true\n", m.Name)
	fmt.Fprintf(&b, "  data_files:\n  - split: %s\n    path: %s\n", m.Split, dataPath(m.Split))
	fmt.Fprintf(&b, "dataset_info:\n  config_name: default\n  features:\n")
	for _, f := range features {
		// A loader reads RFC 3339 strings of JSONL as times whatever is declared.
		dtype := "string"
		if f == "created_at" {
			dtype = "timestamp[s]"
		}
		fmt.Fprintf(&b, "  - name: %s\n    dtype: %s\n", f, dtype)
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n%d proved tasks; %d items rejected, %d deferred, %d failed (`%s` says why).\n",
		m.Name, m.Counts.Tasks, m.Counts.Rejected, m.Counts.Deferred, m.Counts.Failed, RejectsFile)
	fmt.Fprintf(&b, "\nEach row of `%s` has the columns of SWE-bench. `FAIL_TO_PASS`, `PASS_TO_PASS` and `benchmint` are JSON text.\n", dataPath(m.Split))
	fmt.Fprintf(&b, "A patch that is not UTF-8 is base64 (`patch_encoding` in `benchmint`); `%s/<ID>/` holds it as it is.\n", TasksDir)
	fmt.Fprintf(&b, "\n    benchmint check DIR         # lint it: nothing is run\n    benchmint prove DIR [ID…]   # prove tasks again from these files alone\n")
	if len(licences) > 0 {
		fmt.Fprintf(&b, "\nThe code belongs to its authors. Licences of the repositories:\n\n| Licence | Tasks |\n| --- | --- |\n")
		for _, l := range slices.Sorted(maps.Keys(licences)) {
			fmt.Fprintf(&b, "| %s | %d |\n", l, licences[l])
		}
	}
	return b.Bytes()
}
