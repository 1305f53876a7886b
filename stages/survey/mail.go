package survey

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// mailing is a recipe with a sink for the mails of a service that asked which server to send them to; false where it asked for none.
func mailing(r schemas.Recipe, told look.Report) (schemas.Recipe, bool) {
	if r.Service.Needs(schemas.BrokerSMTP) {
		return r, false
	}
	for _, f := range told.Env {
		at := placeOf(*r.Service, f)
		if at == "" || !settings.MailServer(f.Name) {
			continue
		}
		r = withEngine(r, schemas.BrokerSMTP, "")
		r.Evidence = append(slices.Clone(r.Evidence), schemas.Evidence{Field: "service.brokers", Value: schemas.BrokerSMTP, Source: at + " asks for " + f.Name})
		return r, true
	}
	return r, false
}

var (
	seedFile = lazyregexp.New(`(?i)(?:^|[/_.-])(?:seeds?|fixtures?|migrations?|bootstrap|initial|init|data|dump)(?:[/_.-].*)?\.(?:sql|json|ya?ml|csv)$`)
	address  = lazyregexp.New(`[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}`)
)

// Bounds of what is read for addresses.
const (
	mostSeeds     = 100
	mostAddresses = 10
)

// addresses are those that the seeds of a tree name, an administrator's first.
func addresses(t settings.Tree) (out []string) {
	read := 0
	for _, p := range t.Paths() {
		if read == mostSeeds || len(out) >= mostAddresses {
			break
		}
		if !seedFile.MatchString(p) {
			continue
		}
		read++
		if data, err := t.Read(p); err == nil && len(data) < 256<<10 {
			for _, a := range address.FindAllString(string(data), mostAddresses) {
				if a = strings.ToLower(a); !slices.Contains(out, a) {
					out = append(out, a)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		rank := map[bool]int{true: 0, false: 1}
		return rank[strings.HasPrefix(a, "admin")] - rank[strings.HasPrefix(b, "admin")]
	})
	return out
}
