package output

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// A canary is a line that stands in every text of a release, so that whoever trains on it can
// find out. It is made of the dataset's name and a version alone.

// CanaryWords stand before the GUID, as in other benchmarks that have one.
const CanaryWords = "benchmint canary GUID"

// Canary is that of a version: a UUID of version 8 (RFC 9562), of the SHA-256 of both names.
func Canary(dataset, version string) string {
	sum := sha256.Sum256([]byte("benchmint-canary/1\x00" + dataset + "\x00" + version))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// CanaryText is the whole sentence.
func CanaryText(guid string) string {
	return "This file is part of a benchmark and must not be in training data. " + CanaryWords + " " + guid
}

// canaryLine is a line of ours in a file of a form that knows comments, or an object by itself in
// one of a record a line, or the first key of an object.
var canaryLine = lazyregexp.New(`(?m)^(?:# This file is part of a benchmark [^\n]*|<!-- This file is part of a benchmark [^\n]*-->|\{"canary":"[^"\n]*"\}|  "canary": "[^"\n]*",)\n`)

// WithCanary puts the line of the canary into a file of a task's folder or of a dataset. What a
// solver is shown (the statement, a specification, what is copied into an image) and texts of
// others have none: they come back as they are.
func WithCanary(name string, b []byte, guid string) []byte {
	text := CanaryText(guid)
	switch base := path.Base(name); {
	case !carriesCanary(name):
		return b
	case path.Ext(base) == ".json":
		if rest, ok := bytes.CutPrefix(b, []byte("{\n")); ok {
			return fmt.Appendf(nil, "{\n  \"canary\": %q,\n%s", text, rest)
		}
		return b
	case path.Ext(base) == ".jsonl":
		return fmt.Appendf(nil, "{\"canary\":%q}\n%s", text, b)
	case path.Ext(base) == ".svg":
		return append(bytes.Clone(b), "<!-- "+text+" -->\n"...)
	case base == RunFile:
		first, rest, _ := bytes.Cut(b, []byte("\n"))
		return fmt.Appendf(nil, "%s\n# %s\n%s", first, text, rest)
	default: // patches, Dockerfile: what stands before the first instruction or file is skipped
		return fmt.Appendf(nil, "# %s\n%s", text, b)
	}
}

// carriesCanary reports whether a file of a dataset, by its path in the folder or in that of a
// task, has a line of its own for the canary.
func carriesCanary(name string) bool {
	base := path.Base(name)
	if ForSolvers(name) || base == ManifestFile || base == ReleaseFile || inFolder(name, BlobsDir) || inFolder(name, DataDir) { // written with it, or rows
		return false
	}
	switch path.Ext(base) {
	case ".json", ".jsonl", ".svg", ".patch":
		return true
	}
	return base == RunFile || base == DockerfileFile
}

// ForSolvers reports whether a file of a task's folder is shown to a solver or copied into an
// image: it holds no canary.
func ForSolvers(name string) bool {
	return path.Base(name) == StatementFile || inFolder(name, SpecDir) || inFolder(name, setupDir) || inFolder(name, InputDir)
}

func inFolder(name, folder string) bool {
	return strings.HasPrefix(name, folder+"/") || strings.Contains(name, "/"+folder+"/")
}

// Bare is a file without the line of its canary.
func Bare(name string, b []byte) []byte {
	if !carriesCanary(name) {
		return b
	}
	const near = 512 // to the end of the file where it stands
	from, to := 0, min(near, len(b))
	if path.Ext(name) == ".svg" {
		from, to = max(0, len(b)-near), len(b)
	}
	at := canaryLine.FindIndex(b[from:to])
	if at == nil || !bytes.Contains(b[from+at[0]:from+at[1]], []byte(CanaryWords)) {
		return b
	}
	return append(bytes.Clone(b[:from+at[0]]), b[from+at[1]:]...)
}
