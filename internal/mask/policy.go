package mask

// Profile decides which functions are masked and how.
type Profile string

// The profiles. The commit0 ones choose as the published tool does (files and
// functions), for Python only.
const (
	Strict           Profile = "strict"
	Commit0All       Profile = "commit0-all"
	Commit0Docstring Profile = "commit0-docstring"
	Commit0Combined  Profile = "commit0-combined"
)

// Policy is one line of the table of strict.
type Policy struct {
	Construct Construct
	Mask      bool
	Reason    string // why, one line; stands in the manifest for what is kept
}

// Policies is what strict does with each construct, in the order of the docs.
var Policies = []Policy{
	{Plain, true, "a function"},
	{Method, true, "a method"},
	{Getter, true, "a getter fails when it is read; its decorator stays, so that its setter finds it"},
	{Setter, true, "a setter fails when it is assigned to"},
	{Constructor, true, "a constructor fails when an object is made; a call of the parent's, where the language wants it first, stays"},
	{Special, true, "the language calls it, the project wrote it"},
	{Generator, true, "it stays a generator: what comes after the failure is never reached"},
	{Async, true, "it stays async, and fails when it is awaited"},
	{Lambda, true, "a name bound to a function is a function"},
	{Constant, true, "it fails where it is evaluated; one that the compiler may run stays"},
	{Destructor, false, "runs at a time of the language's choice: a failure there is lost or ends the process"},
	{Overload, false, "an overload's signature has no body of its own"},
	{Abstract, false, "abstract: its body says nothing"},
	{Bodiless, false, "its body is elsewhere"},
	{Trivial, false, "nothing to mask"},
	{Hook, false, "runs when the code is loaded"},
	{Opaque, false, "the type of its result can be had from its body only"},
	{Main, false, "the entry of a program: it joins what is masked"},
	{Test, false, "a test"},
	{Macro, false, "a macro runs in the compiler"},
	{Tangled, false, "its text lies among that of what is around it"},
}

// PolicyOf is the table's line for a construct.
func PolicyOf(c Construct) (Policy, bool) {
	for _, p := range Policies {
		if p.Construct == c {
			return p, true
		}
	}
	return Policy{}, false
}
