package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const sampleID = "acme__widget-12"

// edit rewrites one file of a dataset; anew also corrects its checksum and that of
// the checksums, so that a test sees the rule that it is about and not the digest.
func edit(t *testing.T, dir, name string, anew bool, change func(string) string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	after := change(string(b))
	if after == string(b) {
		t.Fatalf("the edit of %s changes nothing", name)
	}
	if err := os.WriteFile(p, []byte(after), 0o644); err != nil {
		t.Fatal(err)
	}
	if !anew {
		return
	}
	before, now := string(schemas.DigestBytes(b)), string(schemas.DigestBytes([]byte(after)))
	if name == ChecksumsFile {
		edit(t, dir, ManifestFile, false, replace(before, now))
		return
	}
	edit(t, dir, ChecksumsFile, true, replace(strings.TrimPrefix(before, "sha256:")+"  "+name+"\n", strings.TrimPrefix(now, "sha256:")+"  "+name+"\n"))
}

// editRow changes the first row, digests corrected.
func editRow(t *testing.T, dir string, change func(*Row)) {
	t.Helper()
	edit(t, dir, "data/test.jsonl", true, func(s string) string {
		first, rest, _ := strings.Cut(s, "\n")
		var r Row
		if err := json.Unmarshal([]byte(first), &r); err != nil {
			t.Fatal(err)
		}
		change(&r)
		b, err := schemas.Canonical(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n" + rest
	})
}

func replace(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

// corruptions: each is one fault, and the finding that must name it.
var corruptions = []struct {
	name string
	rule Rule
	file string // of the finding
	says string
	do   func(t *testing.T, dir string)
}{
	{"byte_flipped_in_patch_file", RuleDigest, "tasks/" + sampleID + "/gold.patch", "SHA256SUMS says", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/gold.patch", false, replace("cornflower", "cornflowes"))
	}},
	{"byte_flipped_in_row", RuleDigest, "data/test.jsonl", "SHA256SUMS says", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", false, replace("cornflower", "cornflowes"))
	}},
	{"patch_of_row_changed", RuleTrees, "data/test.jsonl:1", "patch: it makes tree", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Patch = strings.Replace(r.Patch, "cornflower", "cornflowes", 1) })
	}},
	{"patch_does_not_apply", RuleTrees, "data/test.jsonl:1", "does not apply", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Patch = strings.Replace(r.Patch, "return 1", "return 2", 1) })
	}},
	{"patch_declares_too_much", RuleTrees, "data/test.jsonl:1", "too large to be read: more than 1024 MiB together", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) {
			for i := range 14 {
				r.Patch += fmt.Sprintf("diff --git a/%[1]d b/%[1]d\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral %[2]d\nHcmV?d00001\n\n", i, 99<<20)
			}
		})
	}},
	{"patch_and_folder_disagree", RuleFolder, "data/test.jsonl:1", "gold.patch is not what the row holds", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/gold.patch", true, replace("cornflower", "cornflowes"))
	}},
	{"test_patch_of_row_changed", RuleTrees, "data/test.jsonl:1", "test_patch: it makes tree", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.TestPatch = strings.Replace(r.TestPatch, "cornflower", "cornflowes", 1) })
	}},
	{"patch_is_no_patch", RulePatch, "data/test.jsonl:1", "no file in it", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Patch = "nothing\n" })
	}},
	{"patch_is_no_base64", RulePatch, "data/test.jsonl:1", "base64", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.PatchEncoding = EncodingBase64 })
	}},
	{"unknown_encoding", RulePatch, "data/test.jsonl:1", "unknown patch encoding", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.PatchEncoding = "rot13" })
	}},
	{"patches_swapped", RuleParts, "data/test.jsonl:1", "test_patch touches widget.py", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Patch, r.TestPatch = r.TestPatch, r.Patch })
	}},
	{"row_deleted", RuleCount, ManifestFile, "counts.tasks is 2", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string { return s[strings.Index(s, "\n")+1:] })
	}},
	{"row_deleted_folder_left", RuleFolder, "tasks/" + sampleID, "no row of this ID", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string { return s[strings.Index(s, "\n")+1:] })
	}},
	{"id_twice_but_for_case", RuleDuplicate, "data/test.jsonl:3", "line 1 holds " + sampleID, func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string {
			first, _, _ := strings.Cut(s, "\n")
			return s + strings.Replace(first, sampleID, strings.ToUpper(sampleID), 1) + "\n"
		})
	}},
	{"rows_out_of_order", RuleOrder, "data/test.jsonl:2", "it stands after", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return lines[1] + lines[0]
		})
	}},
	{"line_cut_short", RuleSyntax, "data/test.jsonl:2", "cut short", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string { return s[:len(s)-100] })
	}},
	{"line_without_end", RuleSyntax, "data/test.jsonl:2", "no end", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string { return strings.TrimSuffix(s, "\n") })
	}},
	{"line_is_no_json", RuleSyntax, "data/test.jsonl:1", "byte 1:", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string { return "oops" + s })
	}},
	{"two_values_in_a_line", RuleSyntax, "data/test.jsonl:1", "after the end of the value", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, replace("}\"}\n", "}\"}{}\n"))
	}},
	{"unknown_key", RuleSyntax, "data/test.jsonl:1", `unknown key "test_pach"; did you mean test_patch?`, func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, replace(`"test_patch":`, `"test_pach":`))
	}},
	{"unknown_key_of_ours", RuleSyntax, "data/test.jsonl:1", `unknown key "licence_"; did you mean licence?`, func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, replace(`\"licence\":`, `\"licence_\":`))
	}},
	{"key_missing", RuleSyntax, "data/test.jsonl:1", `key "hints_text" is missing`, func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, replace(`"hints_text":"Ask <address>.",`, ""))
	}},
	{"key_of_wrong_type", RuleSyntax, "data/test.jsonl:1", `key "repo": a number where a string belongs`, func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, replace(`"repo":"acme/widget"`, `"repo":7`))
	}},
	{"list_is_no_list", RuleSyntax, "data/test.jsonl:1", "no list of test IDs", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, replace(`"FAIL_TO_PASS":"[`, `"FAIL_TO_PASS":"{`))
	}},
	{"f2p_emptied", RuleLists, "data/test.jsonl:1", "FAIL_TO_PASS is empty", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.FailToPass = nil })
	}},
	{"f2p_is_not_the_proofs", RuleProof, "data/test.jsonl:1", "FAIL_TO_PASS has 2 tests, the proof 1", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.FailToPass = append(r.FailToPass, "tests/test_widget.py::test_more") })
	}},
	{"test_in_both_lists", RuleLists, "data/test.jsonl:1", "is in FAIL_TO_PASS and in PASS_TO_PASS", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.PassToPass = append(r.PassToPass, r.FailToPass[0]) })
	}},
	{"test_twice_in_a_list", RuleLists, "data/test.jsonl:1", "PASS_TO_PASS holds", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.PassToPass = append(r.PassToPass, r.PassToPass[0]) })
	}},
	{"quarantined_test_listed", RuleLists, "data/test.jsonl:1", "is in PASS_TO_PASS and in quarantined", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.PassToPass = append(r.PassToPass, r.Benchmint.Quarantined[0]) })
	}},
	{"unknown_cause", RuleLists, "data/test.jsonl:1", `is "luck"`, func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Causes[r.FailToPass[0]] = "luck" })
	}},
	{"baseline_not_in_p2p", RuleLists, "data/test.jsonl:1", "not in PASS_TO_PASS", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.BaselineB = []string{"x"} })
	}},
	{"manifest_count_edited", RuleCount, ManifestFile, "counts.rejected is 5", func(t *testing.T, dir string) {
		edit(t, dir, ManifestFile, false, replace(`"rejected": 1,`, `"rejected": 5,`))
	}},
	{"file_deleted", RuleMissingFile, "tasks/" + sampleID + "/Dockerfile", "in SHA256SUMS", func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, "tasks", sampleID, "Dockerfile")); err != nil {
			t.Fatal(err)
		}
	}},
	{"data_deleted", RuleMissingFile, "data/test.jsonl", "no such file", func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, "data/test.jsonl")); err != nil {
			t.Fatal(err)
		}
	}},
	{"file_added", RuleExtraFile, "tasks/" + sampleID + "/notes.txt", "does not name it", func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "tasks", sampleID, "notes.txt"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}},
	{"file_is_a_link", RuleExtraFile, CardFile, "not a regular file", func(t *testing.T, dir string) {
		p := filepath.Join(dir, CardFile)
		if err := errors.Join(os.Rename(p, p+".away"), os.Symlink(CardFile+".away", p)); err != nil {
			t.Fatal(err)
		}
	}},
	{"archive_corrupt", RuleTrees, "data/test.jsonl:1", "do not have the digest", func(t *testing.T, dir string) {
		name := filepath.Base(one(t, filepath.Join(dir, "blobs", "*")))
		edit(t, dir, "blobs/"+name, true, func(s string) string { return s[:len(s)-1] + "\xff" })
	}},
	{"archive_missing", RuleTrees, "data/test.jsonl:1", "no such file", func(t *testing.T, dir string) {
		if err := os.Remove(one(t, filepath.Join(dir, "blobs", "*"))); err != nil {
			t.Fatal(err)
		}
	}},
	{"archive_of_other_tree", RuleTrees, "data/test.jsonl:1", "it holds tree", func(t *testing.T, dir string) {
		other, err := tree.New([]tree.Entry{{Path: "x", Mode: tree.ModeFile, Data: []byte("x")}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Archive(other)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, BlobPath(schemas.DigestBytes(b))), b, 0o644); err != nil {
			t.Fatal(err)
		}
		editRow(t, dir, func(r *Row) { r.Benchmint.BaseArchive = schemas.DigestBytes(b) })
	}},
	{"proof_edited", RuleProof, "data/test.jsonl:1", "PASS_TO_PASS has 2 tests, the proof 1", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/proof.json", true, replace(`"class": "pass_to_pass"`, `"class": "failing"`))
	}},
	{"proof_with_regression", RuleProof, "data/test.jsonl:1", "regression", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/proof.json", true, replace(`"class": "quarantined"`, `"class": "regression"`))
	}},
	{"proof_is_no_json", RuleProof, "data/test.jsonl:1", "proof.json", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/proof.json", true, func(s string) string { return s[:50] })
	}},
	{"recipe_with_unknown_key", RuleFolder, "data/test.jsonl:1", `unknown key "languag"; did you mean language?`, func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/recipe.json", true, replace(`"language"`, `"languag"`))
	}},
	{"recipe_with_host_path", RuleHost, "data/test.jsonl:1", "/home/user/x", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/recipe.json", true, replace(`"TZ": "UTC"`, `"TZ": "/home/user/x"`))
	}},
	{"start_of_other_task", RuleFolder, "data/test.jsonl:1", "start.json is of another task", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/start.json", true, replace(sampleID, "acme__widget-13"))
	}},
	{"id_is_no_id", RuleID, "data/test.jsonl:1", "is not an instance ID", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.InstanceID = "../widget" })
	}},
	{"id_of_other_repo", RuleID, "data/test.jsonl:1", "make acme__gadget-12", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Repo = "acme/gadget" })
	}},
	{"field_empty", RuleField, "data/test.jsonl:1", "problem_statement is empty", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.ProblemStatement = " \n" })
	}},
	{"commit_cut", RuleField, "data/test.jsonl:1", "base_commit is", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.BaseCommit = r.BaseCommit[:12] })
	}},
	{"time_of_other_form", RuleField, "data/test.jsonl:1", "created_at", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.CreatedAt = "2024-03-10 01:02:03" })
	}},
	{"no_test_command", RuleField, "data/test.jsonl:1", "no test command", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Test = nil })
	}},
	{"leak", RuleLeak, "data/test.jsonl:1", "solution_line in /x", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) {
			r.Benchmint.Leaks.Hits = []schemas.Hit{{Needle: "n", Place: "/x", Kind: "solution_line"}}
		})
	}},
	{"no_leak_scan", RuleLeak, "data/test.jsonl:1", "no leak scan", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Leaks = schemas.Scan{} })
	}},
	{"unnameable", RuleFairness, "data/test.jsonl:1", `"Frobnicator"`, func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) {
			r.Benchmint.Causes[r.FailToPass[0]] = schemas.CauseLoad
			r.Benchmint.Interface = []schemas.Name{{Name: "Frobnicator"}}
		})
	}},
	{"unnameable_by_the_proof", RuleProof, "data/test.jsonl:1", `nothing gives "colour"`, func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/proof.json", true, func(s string) string {
			return strings.Replace(strings.Replace(s, `"cause": "fails"`, `"cause": "new"`, 1), `"kind": "function"`, `"kind": ""`, 1)
		})
		editRow(t, dir, func(r *Row) {
			r.Benchmint.Causes[r.FailToPass[0]] = schemas.CauseNew
			r.ProblemStatement = "I want to give widgets a hue.\n"
		})
	}},
	{"secret_in_statement", RuleSecret, "data/test.jsonl:1", "credential", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.ProblemStatement = "Use AKIA" + strings.Repeat("Q", 16) + "\n" })
	}},
	{"address_in_statement", RuleStatement, "data/test.jsonl:1", "jo@corp.io", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.HintsText = "ask jo@corp.io" })
	}},
	{"checksum_line_broken", RuleSyntax, ChecksumsFile + ":1", "not a digest", func(t *testing.T, dir string) {
		edit(t, dir, ChecksumsFile, true, func(s string) string { return "x" + s })
	}},
	{"checksum_leaves_the_folder", RuleSyntax, ChecksumsFile + ":", "leaves the folder", func(t *testing.T, dir string) {
		edit(t, dir, ChecksumsFile, true, replace("  rejects.jsonl", "  ../rejects.jsonl"))
	}},
	{"checksums_edited", RuleDigest, ChecksumsFile, "the manifest says", func(t *testing.T, dir string) {
		edit(t, dir, ChecksumsFile, false, replace("  README.md", "  READ.md"))
	}},
	{"checksum_line_gone", RuleCount, ManifestFile, "checksums.files is", func(t *testing.T, dir string) {
		edit(t, dir, ChecksumsFile, true, func(s string) string { return s[strings.Index(s, "\n")+1:] })
	}},
	{"checksums_deleted", RuleMissingFile, ChecksumsFile, "no such file", func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, ChecksumsFile)); err != nil {
			t.Fatal(err)
		}
	}},
	{"parquet_has_other_value", RuleParquet, "data/test.parquet:1", "hints_text is not what the JSONL holds", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.HintsText = "other" })
	}},
	{"parquet_has_more_rows", RuleParquet, "data/test.parquet", "2 rows; the JSONL has 1", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.jsonl", true, func(s string) string { return s[:strings.Index(s, "\n")+1] })
	}},
	{"parquet_cut_short", RuleParquet, "data/test.parquet", "parquet", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.parquet", true, func(s string) string { return s[:len(s)-20] })
	}},
	{"parquet_damaged_inside", RuleParquet, "data/test.parquet", "", func(t *testing.T, dir string) {
		edit(t, dir, "data/test.parquet", true, func(s string) string { return s[:40] + strings.Repeat("\xff", 60) + s[100:] })
	}},
	{"parquet_of_other_columns", RuleParquet, "data/test.parquet", "not those of a row", func(t *testing.T, dir string) {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[struct{ A string }](&b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		edit(t, dir, "data/test.parquet", true, func(string) string { return b.String() })
	}},
	{"parquet_deleted", RuleParquet, "data/test.parquet", "no such file", func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, "data/test.parquet")); err != nil {
			t.Fatal(err)
		}
	}},
	{"statistics_of_manifest_edited", RuleStatistics, ManifestFile, "not those of the rows", func(t *testing.T, dir string) {
		edit(t, dir, ManifestFile, false, replace(`"mean": 2,`, `"mean": 3,`))
	}},
	{"configuration_of_other_rows", RuleConfig, "data/feature/test.parquet:1", "instance_id is not what the JSONL holds", func(t *testing.T, dir string) {
		released(t, dir)
		moved(t, dir, "data/w2025_06/test.parquet", "data/feature/test.parquet")
	}},
	{"configuration_with_a_row_too_many", RuleConfig, "data/w2025_06/test.parquet", "2 rows; the JSONL has 1", func(t *testing.T, dir string) {
		released(t, dir)
		moved(t, dir, "data/feature/test.parquet", "data/w2025_06/test.parquet")
	}},
	{"configuration_of_no_row", RuleConfig, "data/w2020_01/test.parquet", "no row makes this", func(t *testing.T, dir string) {
		released(t, dir)
		moved(t, dir, "data/w2025_06/test.parquet", "data/w2020_01/test.parquet")
	}},
	{"configuration_deleted", RuleConfig, "data/w2026_01/test.parquet", "no such file", func(t *testing.T, dir string) {
		released(t, dir)
		if err := os.RemoveAll(filepath.Join(dir, "data/w2026_01")); err != nil {
			t.Fatal(err)
		}
	}},
	{"statistics_of_row_edited", RuleStatistics, "data/test.jsonl:1", "patch_lines is 7; the row makes 3", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Statistics.PatchLines = 7 })
	}},
	{"repository_counted_wrong", RuleStatistics, "data/test.jsonl:1", "the base tree has 2 and 5", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Statistics.RepositoryLines = 7 })
	}},
	{"card_edited", RuleCard, CardFile + ":", "not what manifest and rows make", func(t *testing.T, dir string) {
		edit(t, dir, CardFile, true, replace("| proved | 2 |", "| proved | 3 |"))
	}},
	{"funnel_of_manifest_edited", RuleCard, CardFile + ":", "not what manifest and rows make", func(t *testing.T, dir string) {
		edit(t, dir, ManifestFile, false, replace(`"releases": 4`, `"releases": 5`))
	}},
	{"plot_edited", RulePlots, "plots/funnel.svg:", "not what manifest and rows make", func(t *testing.T, dir string) {
		edit(t, dir, "plots/funnel.svg", true, replace("66.7 %", "76.7 %"))
	}},
	{"plot_deleted", RulePlots, "plots/patch_lines.svg", "no such file", func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, "plots/patch_lines.svg")); err != nil {
			t.Fatal(err)
		}
	}},
	{"plot_of_another_dataset", RulePlots, "plots/cost.svg", "no plot of this dataset", func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "plots/cost.svg"), []byte("<svg/>"), 0o644); err != nil {
			t.Fatal(err)
		}
	}},
	{"image_key_edited", RuleImage, "data/test.jsonl:1", "recipe and start make", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.ImageKey = schemas.DigestBytes(nil) })
	}},
	{"image_key_of_other_build", RuleImage, "data/test.jsonl:1", "recipe and start make", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/recipe.json", true, replace(`"--offline"`, `"--online"`))
	}},
	{"image_key_is_no_digest", RuleField, "data/test.jsonl:1", "image_key is", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.ImageKey = "latest" })
	}},
	{"flaky_test_listed", RuleFlakes, "data/test.jsonl:1", "it disagreed with itself in acme__widget-7", func(t *testing.T, dir string) {
		edit(t, dir, FlakesFile, true, replace("::test_rare", "::test_size"))
	}},
	{"quarantined_and_not_in_the_ledger", RuleFlakes, "data/test.jsonl:1", "quarantined and not in flakes.jsonl", func(t *testing.T, dir string) {
		edit(t, dir, FlakesFile, true, func(s string) string { return s[strings.Index(s, "\n")+1:] })
	}},
	{"ledger_names_other_changes", RuleFlakes, "data/test.jsonl:1", "not of the changes", func(t *testing.T, dir string) {
		edit(t, dir, FlakesFile, true, replace("acme__widget-7", "acme__widget-6"))
	}},
	{"ledger_out_of_order", RuleFlakes, "flakes.jsonl:2", "stands after", func(t *testing.T, dir string) {
		edit(t, dir, FlakesFile, true, func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return lines[1] + lines[0]
		})
	}},
	{"ledger_of_no_state", RuleFlakes, "flakes.jsonl:1", "empty or unknown", func(t *testing.T, dir string) {
		edit(t, dir, FlakesFile, true, replace(`"state":"G"`, `"state":"X"`))
	}},
	{"ledger_with_unknown_key", RuleSyntax, "flakes.jsonl:1", "unknown key", func(t *testing.T, dir string) {
		edit(t, dir, FlakesFile, true, replace(`"state":`, `"sate":`))
	}},
	{"adequacy_is_not_the_records", RuleAdequacy, "data/test.jsonl:1", "not that of tasks/", func(t *testing.T, dir string) {
		edit(t, dir, "tasks/"+sampleID+"/adequacy.json", true, replace(`"end": "unnoticed"`, `"end": "unbuilt"`))
	}},
	{"fast_is_not_the_records", RuleAdequacy, "data/test.jsonl:1", "p2p_fast is not what tasks/", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.P2PFast = append(r.Benchmint.P2PFast, r.FailToPass[0]) })
	}},
	{"adequacy_out_of_range", RuleAdequacy, "data/test.jsonl:1", "out of range", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Adequacy.Noticed = 3 })
	}},
	{"share_is_not_of_the_counts", RuleAdequacy, "data/test.jsonl:1", "share is 1.5; 1 of 2", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Adequacy.Share = 1.5 })
	}},
	{"a_finding_that_the_counts_deny", RuleAdequacy, "data/test.jsonl:1", `finding is "all"; 1 of 2 noticed make "some"`, func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Adequacy.Finding = schemas.AllNoticed })
	}},
	{"hunks_skipped_for_no_reason", RuleAdequacy, "data/test.jsonl:1", "skipped is 2; skipped_for gives reasons for 1", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) {
			r.Benchmint.Adequacy.Skipped, r.Benchmint.Adequacy.SkippedFor = 2, map[schemas.HunkSkip]int{schemas.SkipLimit: 1}
		})
	}},
	{"unnoticed_hunk_missing", RuleAdequacy, "data/test.jsonl:1", "unnoticed names 0 hunks", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Adequacy.Unnoticed = nil })
	}},
	{"unnoticed_hunk_of_a_test", RuleAdequacy, "data/test.jsonl:1", "not of the code part", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Adequacy.Unnoticed[0].Path = "tests/test_widget.py" })
	}},
	{"adequacy_deleted", RuleFolder, "data/test.jsonl:1", "adequacy.json", func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, "tasks", sampleID, "adequacy.json")); err != nil {
			t.Fatal(err)
		}
	}},
	{"no_change", RuleField, "data/test.jsonl:1", "change is null, of a feature", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Change = nil })
	}},
	{"change_of_another_task", RuleID, "data/test.jsonl:1", "repo, number and commit make acme__widget-13", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Change.Number = 13 })
	}},
	{"alias_of_a_change_with_a_number", RuleID, "data/test.jsonl:1", `change.alias is "acme__widget-13"`, func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Change.Alias = "acme__widget-13" })
	}},
	{"label_of_nobody", RuleField, "data/test.jsonl:1", "change.label_provider is empty", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Change.LabelProvider = "" })
	}},
	{"kind_of_a_later_version", RuleField, "data/test.jsonl:1", `kind is "puzzle", which no rule is known for`, func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Kind = "puzzle" })
	}},
	{"split_of_other_rows", RuleCount, ManifestFile, "splits[0].tasks is 3; data/test.jsonl holds 2", func(t *testing.T, dir string) {
		edit(t, dir, ManifestFile, false, replace("\"name\": \"test\",\n      \"tasks\": 2", "\"name\": \"test\",\n      \"tasks\": 3"))
	}},
	{"unknown_label", RuleLabel, "data/test.jsonl:1", `did you mean feature?`, func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Change.Label = "featur" })
	}},
	{"evidence_for_no_label", RuleLabel, "data/test.jsonl:1", "has the unknown label", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Change.LabelEvidence[0].Label = "" })
	}},
	{"statement_of_no_person", RuleStatement, "data/test.jsonl:1", "does not begin with", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.ProblemStatement = "Add a colour.\n" })
	}},
	{"statement_with_code", RuleStatement, "data/test.jsonl:1", "holds code", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.ProblemStatement = "I want to have a colour:\n\n```\nreturn 1\n```\n" })
	}},
	{"statement_from_nothing", RuleField, "data/test.jsonl:1", "statement_from is empty", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.StatementFrom = "" })
	}},
	{"functions_are_not_the_starts", RuleFolder, "data/test.jsonl:1", "functions is not that of", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Functions.Added = []string{"widget.py::shape"} })
	}},
	{"sizes_are_not_the_starts", RuleFolder, "data/test.jsonl:1", "sizes is not that of", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Sizes.TestFiles = 9 })
	}},
	{"version_is_not_the_base_release", RuleField, "data/test.jsonl:1", `base_release makes "v1.0"`, func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Version = "v2" })
	}},
	{"time_without_milliseconds", RuleField, "data/test.jsonl:1", "milliseconds", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.CreatedAt = strings.Replace(r.CreatedAt, ".000", "", 1) })
	}},
	{"quarantined_in_and_not_quarantined", RuleLists, "data/test.jsonl:1", "in quarantined_in and not in quarantined", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.QuarantinedIn["tests/x.py::test_x"] = []string{"acme__widget-7"} })
	}},
	{"unknown_reason", RuleReject, "rejects.jsonl:2", `did you mean link/no_tests?`, func(t *testing.T, dir string) {
		edit(t, dir, RejectsFile, true, replace(`"link/no_tests"`, `"link/no_test"`))
	}},
	{"refused_by_nobody", RuleReject, "rejects.jsonl:2", `its reviews make the reason "", not review/leak`, func(t *testing.T, dir string) {
		edit(t, dir, RejectsFile, true, replace(`"link/no_tests"`, `"review/leak"`))
	}},
	{"refused_row", RuleReviews, "data/test.jsonl:1", "people refuse it: review/leak", func(t *testing.T, dir string) {
		editRow(t, dir, func(r *Row) { r.Benchmint.Reviews = []schemas.PeerReview{review("Ana", "leak")} })
	}},
	{"draw_of_other_rows", RuleBalance, ManifestFile, "balance.cells[0]: 2 tasks of language go are drawn; the rows have 0", func(t *testing.T, dir string) {
		edit(t, dir, ManifestFile, false, replace(`"releases": 4`, `"releases": 4, "balance": {"tasks": 2, "seed": 1, "pool": 2, "cells": [{"property": "language", "value": "go", "share": 1, "want": 2, "pool": 2, "drawn": 2}]}`))
	}},
	{"reject_without_end", RuleReject, "rejects.jsonl:1", "end", func(t *testing.T, dir string) {
		edit(t, dir, RejectsFile, true, replace(`"end":"failed"`, `"end":"over"`))
	}},
	{"failed_without_detail", RuleReject, "rejects.jsonl:1", "without a detail", func(t *testing.T, dir string) {
		edit(t, dir, RejectsFile, true, replace(`"disk full"`, `""`))
	}},
	{"task_and_reject", RuleDuplicate, "rejects.jsonl:1", "it is a task, too", func(t *testing.T, dir string) {
		edit(t, dir, RejectsFile, true, replace("acme__widget-8", "ACME__widget-12"))
	}},
}

// released makes a dataset of two rows a version of a shelf: the second row came with 2025.06, the
// first with 2026.01.
func released(t *testing.T, dir string) {
	t.Helper()
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Name: "x", Configuration: d.Manifest.Configuration, Flakes: slices.Values(d.Flakes), Release: &Release{Version: "2026.01", Date: "2026-01-01", Canary: Canary("x", "2026.01")}}
	carried := d.Carry(func(Row) bool { return true })
	for i, first := range []string{"2026.01", "2025.06"} {
		c := &carried[i]
		c.Row.Benchmint.Release = &Published{First: first, Canary: CanaryText(Canary("x", first))}
		if c.Line, err = c.Row.Encoded(); err != nil {
			t.Fatal(err)
		}
	}
	in.Splits = []SplitInput{{Carried: carried}}
	if _, err := Write(dir, in); err != nil {
		t.Fatal(err)
	}
}

// moved puts a file in the place of another.
func moved(t *testing.T, dir, from, to string) {
	t.Helper()
	to = filepath.Join(dir, to)
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(filepath.Join(dir, from), to)); err != nil {
		t.Fatal(err)
	}
}

func one(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names[0]
}

func TestCheckFindsCorruptions(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "out")
	if _, err := Write(whole, input(t).of()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range corruptions {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil { // nothing to sync: quicker than writing anew
				t.Fatal(err)
			}
			tt.do(t, dir)
			findings, err := Check(dir)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(findings, func(f Finding) bool {
				return f.Rule == tt.rule && strings.HasPrefix(f.String(), tt.file) && strings.Contains(f.Message, tt.says)
			}) {
				t.Errorf("no %s in %s that says %q:\n%v", tt.rule, tt.file, tt.says, findings)
			}
		})
	}
}

// Every rule has a corruption that shows it.
func TestCorruptionsCoverRules(t *testing.T) {
	t.Parallel()
	for _, r := range []Rule{
		RuleSyntax, RuleMissingFile, RuleExtraFile, RuleDigest, RuleCount, RuleDuplicate, RuleOrder, RuleReject, RuleTrees, RuleFolder, RuleProof,
		RuleID, RuleField, RuleLists, RulePatch, RuleParts, RuleFairness, RuleLeak, RuleSecret, RuleHost, RuleStatement,
		RuleParquet, RuleConfig, RuleStatistics, RuleCard, RulePlots, RuleFlakes, RuleImage, RuleAdequacy, RuleLabel, RuleReviews, RuleBalance,
	} {
		shown := false
		for _, c := range corruptions {
			shown = shown || c.rule == r
		}
		if !shown {
			t.Errorf("no corruption shows %s", r)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if _, err := Read(empty); !errors.Is(err, ErrNoDataset) {
		t.Errorf("an empty folder: %v", err)
	}
	for _, tt := range []struct{ name, says, from, to string }{
		{"other_format", `format is "benchmint-dataset/9"`, `"benchmint-dataset/3"`, `"benchmint-dataset/9"`},
		{"unknown_key", `unknown key "splitts"; did you mean splits?`, `"splits"`, `"splitts"`},
		{"no_split", "splits is empty", "\"splits\": [\n    {\n      \"name\": \"test\",\n      \"tasks\": 2\n    }\n  ]", `"splits": []`},
		{"split_that_leaves", "is not a name", `"name": "test"`, `"name": "../../x"`},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if _, err := Write(dir, input(t).of()); err != nil {
			t.Fatal(err)
		}
		edit(t, dir, ManifestFile, false, replace(tt.from, tt.to))
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), ManifestFile) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(dir, input(t).of()); err != nil {
		t.Fatal(err)
	}
	edit(t, dir, "data/test.jsonl", true, replace(`"version":`, `"versoin":`))
	edit(t, dir, RejectsFile, true, replace(`"detail":`, `"detial":`))
	_, err := Read(dir)
	if err == nil || !strings.Contains(err.Error(), "data/test.jsonl:1") || !strings.Contains(err.Error(), "rejects.jsonl:1") {
		t.Errorf("Read must name all faults at once: %v", err)
	}
	d := &Dataset{Dir: dir}
	if _, err := d.Proof("../../etc"); err == nil || !strings.Contains(err.Error(), "not an instance ID") {
		t.Errorf("an ID that leaves the folder: %v", err)
	}
}

// Reading a row never panics, and what is read is written as it was.
func FuzzReadRow(f *testing.F) {
	b, err := schemas.Canonical(RowOf(task(f, 12, goldPatch), Base{Archive: schemas.DigestBytes(nil)}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"instance_id":1}`))
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Row
		if ReadRow(b, &r) != nil {
			return
		}
		Lint(r)
		once, err := schemas.Canonical(r)
		if err != nil {
			t.Fatal(err)
		}
		var again Row
		if err := ReadRow(once, &again); err != nil {
			t.Fatalf("what was written does not read: %v\n%s", err, once)
		}
		if twice, err := schemas.Canonical(again); err != nil || string(twice) != string(once) {
			t.Errorf("%v\n%s\n%s", err, once, twice)
		}
	})
}
