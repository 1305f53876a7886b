package python

import (
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// startUvicorn serves an application of FastAPI or Starlette.
func (s *serving) startUvicorn() schemas.Command {
	s.service.Port = 8000
	argv := []string{venvPython, "-m", "uvicorn", s.app.module + ":" + s.app.attr, "--host", settings.Loopback, "--port", "8000"}
	if s.app.factory {
		argv = append(argv, "--factory")
	}
	return schemas.Command{Argv: argv}
}

func (s *serving) uvicorn() bool { return s.framework == fastAPI || s.framework == starlette }
