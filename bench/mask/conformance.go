package main

import (
	"context"
	_ "embed" // compare.py
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/mask"
)

//go:embed compare.py
var compare string

// verdict is what compare.py prints.
type verdict struct {
	Equal     int               `json:"equal"`
	Explained map[string]string `json:"explained"`
	Differs   map[string]string `json:"differs"`
	Untouched int               `json:"untouched"`
	Oracle    struct {
		Files, Masked, Removed int
	} `json:"oracle"`
}

// conformance masks each project with each profile and holds it against the oracle.
func (b *bench) conformance(ctx context.Context) error {
	b.table.Row("project", "profile", "files", "lines", "masked", "removed", "equal", "explained", "unexplained", "left alone")
	causes := map[string]int{}
	for _, p := range b.projects {
		lines, err := countLines(p.root)
		if err != nil {
			return err
		}
		for _, profile := range strings.Split(b.profiles, ",") {
			v, totals, err := b.compare(ctx, p, mask.Profile(profile))
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, profile, err)
			}
			b.judge(p, profile, lines, v, totals)
			for _, why := range v.Explained {
				causes[why]++
			}
		}
	}
	for _, why := range slices.Sorted(maps.Keys(causes)) {
		b.table.Row("explained: "+why, fmt.Sprint(causes[why]))
	}
	return b.table.Print(os.Stdout)
}

func (b *bench) judge(p project, profile string, lines int, v verdict, totals mask.Totals) {
	if totals.Masked != v.Oracle.Masked || totals.Removed != v.Oracle.Removed {
		v.Differs["(totals)"] = fmt.Sprintf("oracle %d masked, %d removed; ours %d and %d", v.Oracle.Masked, v.Oracle.Removed, totals.Masked, totals.Removed)
	}
	b.table.Row(p.name, profile, fmt.Sprint(v.Oracle.Files), fmt.Sprint(lines), fmt.Sprint(totals.Masked), fmt.Sprint(totals.Removed),
		fmt.Sprint(v.Equal), fmt.Sprint(len(v.Explained)), fmt.Sprint(len(v.Differs)), fmt.Sprint(v.Untouched))
	for _, path := range slices.Sorted(maps.Keys(v.Differs)) {
		b.table.Kept(false)
		fmt.Fprintf(os.Stderr, "%s, %s: %s: %s\n", p.name, profile, path, v.Differs[path])
	}
}

func (b *bench) compare(ctx context.Context, p project, profile mask.Profile) (v verdict, totals mask.Totals, err error) {
	out := filepath.Join(b.dir, p.name)
	r, err := mask.Run(ctx, mask.Options{
		Source: p.root, Output: out, Profile: profile, Languages: []mask.Language{python.Masker{}}, Src: p.src, Tests: p.tests,
	})
	if err != nil {
		return v, totals, err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(out), os.Remove(r.Manifest), os.Remove(r.Undo))
	}()
	mode := strings.TrimPrefix(string(profile), "commit0-")
	cmd := exec.CommandContext(ctx, b.python, "-c", compare, b.oracle, p.root, out, p.src, p.tests, mode)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	said, err := cmd.Output()
	if err != nil {
		return v, totals, fmt.Errorf("%w: %s", err, complaint.String())
	}
	if err := json.Unmarshal(said, &v); err != nil {
		return v, totals, err
	}
	totals, err = v.shared(r.Manifest)
	return v, totals, err
}

// unread begins what compare.py says of a file that the oracle never gets.
const unread = "this CPython does not parse"

// shared are the totals of the files that the oracle gets, too.
func (v verdict) shared(manifest string) (totals mask.Totals, err error) {
	m, err := mask.ReadManifest(manifest)
	if err != nil {
		return totals, err
	}
	for _, f := range m.Files {
		if strings.HasPrefix(v.Explained[f.Path], unread) {
			continue
		}
		for _, d := range f.Functions {
			switch d.Done {
			case mask.Masked:
				totals.Masked++
			case mask.Removed:
				totals.Removed++
			}
		}
	}
	return totals, nil
}

// countLines counts those of all modules below a folder.
func countLines(root string) (int, error) {
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".py" {
			return err
		}
		source, err := os.ReadFile(path)
		n += strings.Count(string(source), "\n")
		return err
	})
	return n, err
}
