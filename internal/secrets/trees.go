package secrets

import (
	"slices"
	"sync"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Trees finds the credentials of trees that have most of their files in common: equal content is
// looked at once. Trees may be scanned side by side; the zero value is ready.
type Trees struct {
	mu   sync.Mutex
	seen map[schemas.Digest][]Finding
}

// Scan is what the files of a tree hold, by the rules of Kind Specific: a tree is public, and
// what only looks like a credential stands in the tests and documents of most. A password in a
// URL has no service's own form either, and does not count in a test: servers that are mocked
// answer with such URLs. A nil test means that no file is a test.
func (s *Trees) Scan(t *tree.Tree, test func(path string) bool) []Finding {
	var out []Finding
	for _, e := range t.Entries() {
		if e.Mode == tree.ModeModule {
			continue
		}
		found := slices.Clone(s.file(e.Data))
		if slices.ContainsFunc(found, isURLPassword) && test != nil && test(e.Path) {
			found = slices.DeleteFunc(found, isURLPassword)
		}
		for i := range found {
			found[i].Path = schemas.RecordPath(e.Path)
		}
		out = append(out, found...)
	}
	return out
}

func isURLPassword(f Finding) bool { return f.Rule == urlPassword }

func (s *Trees) file(data []byte) []Finding {
	key := schemas.DigestBytes(data)
	s.mu.Lock()
	found, ok := s.seen[key]
	s.mu.Unlock()
	if ok {
		return found
	}
	found = ScanSpecific(string(data))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[schemas.Digest][]Finding{}
	}
	s.seen[key] = found
	return found
}
