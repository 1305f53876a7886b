package python

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

var (
	settingsFile  = lazyregexp.New(`(?m)^(?:ROOT_URLCONF|INSTALLED_APPS)\b|^from\s+[\w.]*\.(?:base|common|settings|defaults?)\s+import\s+\*`)
	forDevelopers = lazyregexp.New(`(?i)(?:^|[._])(?:local|dev)`)
	forOthers     = lazyregexp.New(`(?i)(?:^|[._])(?:prod|stag|live|deploy|heroku|test|ci$)`)
)

// findDjango chooses the manage.py that is nearest to the root, and the settings: those that it names, unless they are of a
// machine that is not here.
func (s *serving) findDjango() error {
	var manage source
	for _, f := range s.files {
		if path.Base(f.path) == "manage.py" && strings.Contains(f.text, "django") && (manage.path == "" || strings.Count(f.path, "/") < strings.Count(manage.path, "/")) {
			manage = f
		}
	}
	root := folderOf(manage.path)
	var named []string
	for _, x := range managed.FindAllStringSubmatch(manage.text, -1) {
		named = append(named, x[1])
	}
	var found []app
	for _, f := range s.files {
		a := app{file: f.path, root: root, module: moduleName(f.path, root), why: manage.path}
		if manage.path == "" || f.path == manage.path || root != "" && !strings.HasPrefix(f.path, root+"/") {
			continue
		}
		at := slices.Index(named, a.module)
		switch {
		case at < 0 && !settingsFile.MatchString(f.text):
			continue
		case forOthers.MatchString(a.module):
			a.score = 3
		case at < 0 && !forDevelopers.MatchString(a.module):
			a.score = 2
		case at < 0 || at > 0 && !forDevelopers.MatchString(a.module):
			a.score = 1
		}
		found = append(found, a)
	}
	if len(found) == 0 {
		return &lang.Refusal{Reason: schemas.NoBoot, Detail: "no manage.py of Django with settings"}
	}
	s.take(slices.MinFunc(found, func(a, b app) int { return cmp.Compare(a.score, b.score) }))
	s.dir = root
	s.env = settings.Read(s.p.Solution, root)
	return nil
}

func (s *serving) startDjango() schemas.Command {
	s.service.Port = 8000
	s.values["DJANGO_SETTINGS_MODULE"] = s.app.module
	s.evidence("service.environment", "DJANGO_SETTINGS_MODULE="+s.app.module, s.app.why)
	return schemas.Command{Argv: []string{venvPython, "manage.py", "runserver", settings.Loopback + ":8000", "--noreload"}}
}

var (
	djangoEngine = lazyregexp.New(`["']django\.(?:contrib\.gis\.)?db\.backends\.(\w+)["']`)
	djangoPart   = lazyregexp.New(`["'](NAME|USER|PORT)["']\s*[:=]\s*["'](\w+)["']`)
)

// djangoURLs are the databases of DATABASES, as URLs.
func djangoURLs(f source) []databaseURL {
	var out []databaseURL
	for _, x := range djangoEngine.FindAllStringSubmatchIndex(f.text, -1) {
		kind, _, _ := strings.Cut(f.text[x[2]:x[3]], "_")
		kind = cmp.Or(map[string]string{"postgis": "postgresql", "spatialite": "sqlite3"}[kind], kind)
		entry := f.text[strings.LastIndexByte(f.text[:x[0]], '{')+1:]
		entry, _, _ = strings.Cut(entry, "}")
		part := map[string]string{}
		for _, p := range djangoPart.FindAllStringSubmatch(entry, -1) {
			part[p[1]] = p[2]
		}
		u := url.URL{Scheme: kind, User: url.User(part["USER"]), Host: ":" + part["PORT"], Path: "/" + part["NAME"]}
		l := databaseURL{kind: settings.KindOf(u.String()), text: u.String(), source: f.line(x[0])}
		if l.kind != "" && !strings.HasPrefix(strings.TrimSpace(lineOfText(f.text, x[0])), "#") {
			out = append(out, l)
		}
	}
	return out
}
