package uses

import "github.com/benchmint/benchmint/internal/lazyregexp"

// rule is one row of the table: a use, and why a person should look at it. Any of its columns finds it.
type rule struct {
	Language  string // python or go; "" for every file
	What, Why string
	// Imports are modules, each with what is below it. Names are qualified by their module
	// ("os.fork"); one that ends in "*" stands for all that begin so. Attributes are names that any
	// object may have; they are found as strings too, because of getattr. Builtins are bare names.
	Imports, Names, Attributes, Builtins []string
	// Text is looked for in the source: what is no import and no name.
	Text *lazyregexp.Regexp
	// Extensions are those of whole files, with the dot, in lower case.
	Extensions []string
}

// The reasons that several rows share.
const (
	memory    = "reads and writes the memory of the process, in which the tests run"
	processes = "starts or ends processes: it can replace, trace or imitate the test program"
	frames    = "walks to the functions that call it: the test and its runner"
	runner    = "is the runner of the tests: product code has no need of it while it works"
	native    = "is machine code, which this list does not read"
	hidden    = "runs or loads what a value names, which this list does not see"
)

// rules is the table. Words that much ordinary code has (open, getattr, os.Stdout) are not in it.
var rules = []rule{
	{Language: "go", What: "unsafe", Why: memory, Imports: []string{"unsafe"}},
	{Language: "go", What: "syscall", Why: "asks the kernel without package os: it can write over memory, descriptors and other processes", Imports: []string{"syscall"}},
	{Language: "go", What: "golang.org/x/sys", Why: "asks the kernel without package os: it can write over memory, descriptors and other processes", Imports: []string{"golang.org/x/sys"}},
	{Language: "go", What: "os/exec", Why: processes, Imports: []string{"os/exec"}},
	{Language: "go", What: "os.StartProcess", Why: processes, Names: []string{"os.StartProcess", "os.FindProcess"}},
	{Language: "go", What: "os.Exit", Why: "ends the test program before its tests are judged", Names: []string{"os.Exit"}},
	{Language: "go", What: "runtime.Goexit", Why: "ends the goroutine of a test without a failure", Names: []string{"runtime.Goexit"}},
	{Language: "go", What: "runtime.Stack", Why: "prints the address of the running test", Names: []string{"runtime.Stack", "runtime/debug.Stack", "runtime/debug.PrintStack"}},
	{Language: "go", What: "runtime.Callers", Why: frames, Names: []string{"runtime.Caller*"}},
	{Language: "go", What: "testing", Why: runner, Imports: []string{"testing"}},
	{Language: "go", What: "plugin", Why: native, Imports: []string{"plugin"}},
	{Language: "go", What: "cgo", Why: native, Imports: []string{"C"}},
	{Language: "go", What: "os.Stdout replaced", Why: "the results of the tests leave by it", Text: lazyregexp.New(`\bos\.Std(?:out|err)\s*=[^=]|(?m:^)\s*os\.Std(?:out|err)\s*,[^(\n]*=|&os\.Std(?:out|err)\b`)},
	{Language: "go", What: "os.Args replaced", Why: "the test program reads there which tests to run", Text: lazyregexp.New(`\bos\.Args\s*=[^=]`)},
	{Language: "go", What: "//go:linkname", Why: "takes functions and variables of other packages, testing among them", Text: lazyregexp.New(`(?m)^\s*//go:linkname\b`)},
	{Language: "", What: "machine code", Why: native, Extensions: []string{".s", ".syso", ".so", ".a", ".o", ".pyd", ".dll", ".dylib", ".c", ".cc", ".cpp", ".cxx", ".pyx", ".rs"}},
	{Language: "python", What: "gc", Why: "finds every object of the process, those of pytest among them", Imports: []string{"gc"}},
	{Language: "python", What: "ctypes", Why: memory, Imports: []string{"ctypes", "_ctypes", "cffi"}},
	{Language: "python", What: "sys.settrace", Why: "runs its own code at each call or line of a test", Imports: []string{"bdb"},
		Names: []string{"sys.settrace", "sys.setprofile", "sys.monitoring*", "threading.settrace*", "threading.setprofile*"}, Attributes: []string{"settrace", "setprofile"}},
	{Language: "python", What: "sys._getframe", Why: frames, Names: []string{"sys._current_frames", "inspect.stack", "inspect.currentframe", "inspect.trace", "inspect.getouterframes", "inspect.getinnerframes",
		"traceback.walk_stack", "traceback.extract_stack"}, Attributes: []string{"_getframe", "_getframemodulename", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame"}},
	{Language: "python", What: "source of callers", Why: "reads the source of what calls it: what a test expects stands there", Imports: []string{"linecache"},
		Names: []string{"inspect.getsource*", "inspect.getfile", "inspect.getsourcefile"}, Attributes: []string{"co_filename"}},
	{Language: "python", What: "sys.modules", Why: "finds or replaces modules that others loaded: the tests, pytest", Names: []string{"sys.modules"}},
	{Language: "python", What: "pytest", Why: runner, Imports: []string{"pytest", "_pytest", "pluggy", "iniconfig", "unittest", "mock", "doctest"}},
	{Language: "python", What: "__code__", Why: "changes or reads what a function is: a test can be another one afterwards", Attributes: []string{"__code__", "__globals__", "__subclasses__"},
		Names: []string{"types.CodeType", "types.FunctionType"}},
	{Language: "python", What: "builtins", Why: "changes names that every module uses, tests among them", Imports: []string{"builtins"}, Builtins: []string{"__builtins__"}, Attributes: []string{"__builtins__"}},
	{Language: "python", What: "import hooks", Why: "can give a test file other code as it loads", Imports: []string{"importlib.abc", "importlib.machinery", "importlib.util"},
		Attributes: []string{"meta_path", "path_hooks", "path_importer_cache", "__import__"}},
	{Language: "python", What: "importlib", Why: hidden, Names: []string{"importlib.import_module", "importlib.reload", "importlib.__import__", "runpy*"}, Imports: []string{"runpy"}, Builtins: []string{"__import__"}},
	{Language: "python", What: "exec", Why: hidden, Builtins: []string{"exec", "eval", "compile"}},
	{Language: "python", What: "atexit", Why: "runs after the tests, while their results are written", Imports: []string{"atexit"}},
	{Language: "python", What: "os._exit", Why: "ends the process before its tests are judged", Names: []string{"os.abort"}, Attributes: []string{"_exit"}},
	{Language: "python", What: "os.dup2", Why: "the results of the tests leave by descriptors of the process", Names: []string{"os.dup*", "os.close*"}},
	{Language: "python", What: "subprocess", Why: processes, Imports: []string{"subprocess", "multiprocessing", "pty"},
		Names: []string{"os.exec*", "os.fork*", "os.spawn*", "os.posix_spawn*", "os.system", "os.popen", "os.kill*", "asyncio.create_subprocess*"}},
	{Language: "python", What: "__eq__ that is always true", Why: "a test that compares with == believes it", Text: lazyregexp.New(`def __eq__\([^)]*\)[^:]*:\s*return True\b|__eq__\s*=\s*lambda[^:]*:\s*True\b`)},
	{What: "/proc", Why: "memory, descriptors and arguments of processes are files there", Text: lazyregexp.New(`["'` + "`" + `]/proc/`)},
}
