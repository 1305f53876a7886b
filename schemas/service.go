package schemas

import (
	"encoding/json"
	"slices"
	"strings"
)

// Group are the endpoints of a service that a task is about: those under one first segment of
// a path, after api and vN.
type Group struct {
	Name      string     `json:"name"`
	Framework string     `json:"framework"` // one of Frameworks
	Endpoints []Endpoint `json:"endpoints"` // by path, then method
	// Suite is the blob of the recorded cases that this group is tested with (package contract).
	Suite Digest `json:"suite,omitempty"`
	// Recipe is the blob of the locked recipe that the service was recorded with (Recipe).
	Recipe Digest `json:"recipe,omitempty"`
	// Refused is why no task can be made of the group; "" where one can.
	Refused Reason `json:"refused,omitempty"`
	Detail  string `json:"detail,omitempty"` // of Refused
	// Asked is what a model proposed for the cases; nil where none was asked, or had no answer.
	Asked *Asked `json:"asked,omitempty"`
}

// Asked are the requests that a model proposed for the cases of a group.
type Asked struct {
	Provider  string     `json:"provider"` // the model's name
	Proposals []Proposal `json:"proposals,omitempty"`
}

// Proposal is one of them: a case of its ID, or nothing.
type Proposal struct {
	ID      string `json:"id"`
	Why     string `json:"why"`               // in the model's words
	Dropped string `json:"dropped,omitempty"` // why it is not judged; "" where it is
}

// Deploy is what the environment variant of a service task asks for beside the handlers: its
// starter has no environment files, and its solution a Dockerfile of ours.
type Deploy struct {
	Image string `json:"image"`          // that the Dockerfile begins with
	Port  int    `json:"port"`           // that the service listens on
	Files Digest `json:"files"`          // blob of the solution's environment files (package deploy)
	Bare  bool   `json:"bare,omitempty"` // the statement has no notes on how to write a Dockerfile
}

// VariantEnv is the key of the environment variant in an ID.
const VariantEnv = "env"

// Deployed reports whether the service is built from the Dockerfile of its tree.
func (r Recipe) Deployed() bool { return r.Service != nil && r.Service.Image != "" }

// Handlers are the functions that answer the endpoints, sorted, each once.
func (g Group) Handlers() []string {
	var out []string
	for _, e := range g.Endpoints {
		if e.Handler != "" {
			out = append(out, e.Handler)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Frameworks are those whose services tell their routes.
var Frameworks = []string{
	"flask", "fastapi", "django", "aiohttp", "starlette",
	"gin", "chi", "net/http", "gorilla/mux", "echo", "fiber", "httprouter",
}

// Endpoint is one method of one path.
type Endpoint struct {
	Method  string `json:"method"`            // GET
	Path    string `json:"path"`              // /api/articles/{slug}
	Handler string `json:"handler,omitempty"` // path::Class.method, or path::setup:12, a function without a name; "" is none of the tree
	// Takes is what the service was seen to take, as far as it is known; nil where nothing is.
	Takes *Takes `json:"takes,omitempty"`
}

// Takes is what an endpoint is sent. Each list has objects with the members name, type, format, required, enum, min, max,
// pattern, fields and items, as JSON Schema uses these words; it is empty where nothing is known.
type Takes struct {
	Params   json.RawMessage `json:"params,omitempty"`   // of the path
	Query    json.RawMessage `json:"query,omitempty"`    // behind it
	Body     json.RawMessage `json:"body,omitempty"`     // its members
	Encoding string          `json:"encoding,omitempty"` // of the body: json, form
	Auth     string          `json:"auth,omitempty"`     // credentials: required, optional
}

func (e Endpoint) String() string { return e.Method + " " + e.Path }

// Databases that a service can have.
const (
	DatabaseNone     = ""
	DatabaseSQLite   = "sqlite"
	DatabasePostgres = "postgres"
	DatabaseMySQL    = "mysql" // MariaDB
)

// What a service can have beside its database, and where it listens: a cache or broker, and a sink that takes its mail.
const (
	BrokerRedis = "redis"
	RedisPort   = 6379
	BrokerSMTP  = "smtp"
	SMTPPort    = 1025 // the usual ports of mail, too
	MailPort    = 1080 // where mails are read, by HTTP
)

// Service says how the service of a recipe is started. Everything in it happens in one
// sandbox, whose network leads nowhere but to its tester.
type Service struct {
	Framework string `json:"framework"`
	Port      int    `json:"port"` // that it listens on
	// Start is the command that serves until it is killed. It runs in the tree, or in a copy
	// of it where Copied is set.
	Start Command `json:"start"`
	// Files are written beside those of the tree before it is built, by their path in it: an
	// .env made of .env.example.
	Files map[string]string `json:"files,omitempty"`
	// Prepare runs once after each build of a state, in order, with the database up:
	// migrations and seeds. What it leaves is the state that every run begins with.
	Prepare []Command `json:"prepare,omitempty"`
	// Database is one of the constants; User, Password and Name are those that the
	// service asks it with.
	Database string `json:"database,omitempty"`
	DBPort   int    `json:"database_port,omitempty"`
	DBName   string `json:"database_name,omitempty"`
	DBUser   string `json:"database_user,omitempty"`
	// DBPassword is a word of the repository's own examples, or ours; it protects nothing.
	DBPassword string `json:"database_password,omitempty"`
	// Brokers are the caches, brokers and mail servers beside the database, sorted.
	Brokers []string `json:"brokers,omitempty"`
	// Names are hosts that lead to loopback where it runs: its code looks for its database there. Sorted.
	Names []string `json:"names,omitempty"`
	// Copied says that the service writes beside its tree (../gorm.db): it runs in a copy
	// whose parent it may write to.
	Copied bool `json:"copied,omitempty"`
	// Image is the name of the image that the Dockerfile of an answer begins with; "" where the
	// environment is the task's. Start, Prepare and Files are then empty: they are the answer's.
	Image string `json:"image,omitempty"`
	// Shifts says that the clock of the service can be set by a preloaded library (internal/clock).
	Shifts bool `json:"shifts,omitempty"`
	// Login is a user that the repository's own settings or seeds make, where they do.
	Login *Login `json:"login,omitempty"`
	// Tester is the recipe of the environment that the suite runs in, apart from the service.
	Tester *Recipe `json:"tester,omitempty"`
}

// Names are those of the service of a recipe; nil where it has none.
func (r Recipe) Names() []string {
	if r.Service == nil {
		return nil
	}
	return r.Service.Names
}

// Needs reports whether a kind of database, cache or broker is started with the service.
func (s Service) Needs(kind string) bool {
	return s.Database == kind || slices.Contains(s.Brokers, kind)
}

// Login is a user with a password that a repository's own example settings name.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// SuiteFolder is where the tests of a service task lie: no language ships a folder of this
// name, and no service sees it.
const SuiteFolder = "tests_benchmint"

// InSuite reports whether a path is of the suite of a service task.
func InSuite(path string) bool { return strings.HasPrefix(path, SuiteFolder+"/") }
