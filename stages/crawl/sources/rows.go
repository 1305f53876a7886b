package sources

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// KeepsRows refuses a run that would take rows out of its dataset for what is
// known before it begins: other sources, other windows. What shows later is refused
// when the dataset is written.
func (s *Set) KeepsRows(ctx context.Context) error {
	lost, selected, err := s.Leaving(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	dataset := s.config.Output
	advice := "name all sources, or write elsewhere (--output FOLDER)"
	if selected {
		advice = "run without writing the dataset (--until describe), or write elsewhere (--output FOLDER)"
	}
	return refuse("%s of %s would go: %s; %s, or let them go (--replace)", plural(len(lost), "row"), filepath.Clean(dataset), output.Names(lost), advice)
}

// Leaving are the rows of the dataset that the sources do not give now; selected says that an
// exact selection leaves one out. Where rows are carried on, it finds those.
func (s *Set) Leaving(ctx context.Context) (lost []output.Leaving, selected bool, err error) {
	rows, err := output.Standings(s.config.Output)
	if err != nil {
		return nil, false, refuse("reading the dataset that is there: %w; --replace writes over it, --output FOLDER writes elsewhere", err)
	}
	lines := map[string]map[string]gitrepo.Landed{}
	for _, row := range rows {
		why, only, err := s.drops(ctx, row, lines)
		if err != nil {
			return nil, false, err
		}
		if why != "" {
			lost = append(lost, output.Leaving{ID: row.ID, Why: why})
			selected = selected || only
		}
	}
	return lost, selected, nil
}

// drops is why a row is surely not among what the sources give now, "" where it may
// be; only says that an exact selection leaves it out.
func (s *Set) drops(ctx context.Context, row output.Standing, lines map[string]map[string]gitrepo.Landed) (why string, only bool, err error) {
	src := s.named(row.Repo)
	if slices.Contains(s.Gone(), row.Repo) {
		s.note(row.Repo, SourceGone, "", 1)
		return "", false, nil
	}
	if src == nil {
		if s.asked[row.Repo] {
			return "only does not name it", true, nil
		}
		return row.Repo + " is not a source of this run", false, nil
	}
	if len(src.Only) > 0 && !selects(src.Only, row) {
		return "only does not name it", true, nil
	}
	if row.Release != "" {
		return "", false, nil // which releases are taken shows when the source is crawled
	}
	if lines[row.Repo] == nil {
		lines[row.Repo] = map[string]gitrepo.Landed{}
		line, err := s.lineOf(ctx, src.Repo)
		if err != nil {
			return "", false, err
		}
		for _, c := range line {
			lines[row.Repo][c.Commit] = c
		}
	}
	if len(lines[row.Repo]) == 0 {
		return "", false, nil // it does not answer
	}
	landed, ok := lines[row.Repo][row.Commit]
	if !ok && s.again {
		s.note(row.Repo, SourceRewritten, fmt.Sprintf("%.12s", row.Commit), 1)
		s.rewritten = append(s.rewritten, row.ID)
		return "", false, nil
	}
	if !ok {
		return fmt.Sprintf("%s has no commit %.12s on its line", row.Repo, row.Commit), false, nil
	}
	return outside(src, landed), false, nil
}

// outside says where a change lies beside the window of its source, "" where it is in.
func outside(src *schemas.Source, c gitrepo.Landed) string {
	switch day := c.At.UTC().Format("2006-01-02"); {
	case src.Since != "" && day < src.Since:
		return fmt.Sprintf("of %s, before since %s", day, src.Since)
	case src.Until != "" && day >= src.Until:
		return fmt.Sprintf("of %s, not before until %s", day, src.Until)
	}
	return ""
}

func selects(only []string, row output.Standing) bool {
	if row.Release != "" {
		id, err := schemas.ParseInstanceID(row.ID)
		group, _, service := schemas.CutService(id.Key)
		return err != nil || slices.Contains(only, row.Release) || slices.Contains(only, id.Key) ||
			service && (slices.Contains(only, group[strings.LastIndexByte(group, '.')+1:]) || slices.Contains(only, strings.TrimPrefix(row.Release, "c")))
	}
	for _, entry := range only {
		if _, commit, ok := gitrepo.Between(entry); ok {
			entry = commit
		}
		if gitrepo.Selects(entry, row.Commit, row.Number) {
			return true
		}
	}
	return false
}

// named is the source of this run with a name.
func (s *Set) named(repo string) *schemas.Source {
	for i := range s.order {
		if strings.EqualFold(s.order[i].Repo.Name, repo) {
			return &s.order[i]
		}
	}
	return nil
}
