package python

import (
	"path"

	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

func (s *serving) startFlask() schemas.Command {
	s.service.Port = 5000
	if s.app.script {
		s.dir = folderOf(s.app.file)
		return schemas.Command{Argv: []string{venvPython, "-c", flaskScript, path.Base(s.app.file), "5000"}}
	}
	s.values["FLASK_APP"] = s.app.flaskName()
	return schemas.Command{Argv: []string{venvPython, "-m", "flask", "run", "--host", settings.Loopback, "--port", "5000", "--no-reload", "--no-debugger"}}
}

// flaskScript runs a file whose main block does more than to start the service, with our
// address and without a reloader.
const flaskScript = `import runpy, sys
import flask
path, port = sys.argv[1], int(sys.argv[2])
def run(self, *args, **kwargs):
    from werkzeug.serving import run_simple
    run_simple("127.0.0.1", port, self, threaded=True)
flask.Flask.run = run
sys.argv = [path]
sys.path.insert(0, "")
runpy.run_path(path, run_name="__main__")
`
