package golang

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// firstPort is where a service is asked first: its hook tells where it listens.
const firstPort = 8080

// environment gives the program what the repository gives it. What it lacks then its first start tells.
func (s *serving) environment() {
	s.service.Port = firstPort
	s.evidence("service.port", "8080", "convention")
	given := s.env.Given(s.servers())
	for _, name := range sortedNames(given) {
		s.set(name, given[name].Text, given[name].Source)
	}
}

func (s *serving) servers() settings.Servers {
	return settings.Servers{Store: s.store, Brokers: s.service.Brokers}
}

// DatabaseURL implements lang.Server.
func (Language) DatabaseURL(r schemas.Recipe) string {
	if r.Service.Database == schemas.DatabaseSQLite {
		return "service.db"
	}
	return settings.Of(*r.Service).Store.DSN(Name)
}

var configName = lazyregexp.New(`(?i)(?:^|/)(?:config|conf|app|application|settings|server|local|dev|development|default|(?:config|conf|app|settings|application)[._-](?:local|dev|development|default)|[\w-]*config)\.(?:ya?ml|toml|json)$`)

// mostConfigs bounds the configuration files that are looked at.
const mostConfigs = 40

// configure writes the configuration files of the module that name a database so that they name ours.
func (s *serving) configure() {
	seen := 0
	for _, p := range s.p.Solution.Paths() {
		under := s.module.Dir == "" || strings.HasPrefix(p, s.module.Dir+"/")
		if !under || !configName.MatchString(p) || otherName.MatchString(dirOf(p)) || strings.Contains(p, "node_modules/") || seen == mostConfigs {
			continue
		}
		seen++
		data, err := s.p.Solution.Read(p)
		if err != nil || len(data) > 64<<10 {
			continue
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		if fitted := s.servers().FitFile(text); fitted != text {
			if s.service.Files == nil {
				s.service.Files = map[string]string{}
			}
			s.service.Files[p] = fitted
			s.evidence("service.files", p+" with our database", p)
		}
	}
}
