package schemas

import "slices"

// Reason is why an item was rejected: "stage/what". Only those of Reasons are used.
type Reason string

// The reasons, by the stage that gives them.
const (
	FewReleases Reason = "crawl/releases"
	BadLicence  Reason = "crawl/licence"
	NoSources   Reason = "crawl/language"
	GoneSource  Reason = "crawl/gone"
	IsArchived  Reason = "crawl/archived"
	FewStars    Reason = "crawl/stars"
	LargeSource Reason = "crawl/size"
	Inactive    Reason = "crawl/inactive"
	OffTopic    Reason = "crawl/content"
	Untested    Reason = "crawl/no_tests"

	NoCode         Reason = "link/no_code"
	NoTests        Reason = "link/no_tests"
	MixedManifest  Reason = "link/mixed_manifest"
	Submodule      Reason = "link/submodule"
	LFSPointer     Reason = "link/lfs_pointer"
	MissingBlob    Reason = "link/missing_blob"
	RootCommit     Reason = "link/root_commit"
	DuplicateStart Reason = "link/duplicate"
	LeftToEdit     Reason = "link/left_to_edit"
	OtherLanguage  Reason = "link/language"
	TooLarge       Reason = "link/too_large"
	UnsafePath     Reason = "link/unsafe_path"
	HugeObject     Reason = "link/huge_object"
	HoldsSecret    Reason = "link/secret"
	KnownTask      Reason = "link/published"
	AddsFunctions  Reason = "link/adds_functions"
	DropsFunctions Reason = "link/removes_functions"
	UnreadSource   Reason = "link/unread_source"

	NoFramework   Reason = "survey/framework"
	NoDatabase    Reason = "survey/database"
	NoBoot        Reason = "survey/boot"
	NotStarted    Reason = "survey/not_started"
	SilentGroup   Reason = "survey/silent"
	SmallGroup    Reason = "survey/small"
	NamelessGroup Reason = "survey/nameless"
	NoReadBack    Reason = "survey/no_read_back"
	Outbound      Reason = "survey/outbound"

	MixedSource   Reason = "mask/language"
	NoSuite       Reason = "mask/no_tests"
	MaskFailed    Reason = "mask/failed"
	NothingMasked Reason = "mask/nothing"
	LinesLeft     Reason = "mask/lines_left"
	StarterDead   Reason = "mask/not_loaded"

	OtherLabel Reason = "classify/label"

	NoToolchain  Reason = "provision/toolchain"
	Unresolvable Reason = "provision/resolve"
	NoBuild      Reason = "provision/build"
	NoRunner     Reason = "provision/no_tests_ran"
	NoRecipe     Reason = "provision/recipe"
	HostPackages Reason = "provision/packages"
	BuildTime    Reason = "provision/time"
	BuildMemory  Reason = "provision/memory"
	BuildProcs   Reason = "provision/processes"
	BuildDisk    Reason = "provision/disk"
	BuildOutput  Reason = "provision/output"

	NoF2P         Reason = "validate/no_f2p"
	RegressionR   Reason = "validate/regression"
	Unnameable    Reason = "validate/unnameable"
	GoldFails     Reason = "validate/gold_not_loaded"
	OverMemory    Reason = "validate/memory"
	OverProcs     Reason = "validate/processes"
	OverDisk      Reason = "validate/disk"
	OverOutput    Reason = "validate/output"
	OverTime      Reason = "validate/time"
	Leaked        Reason = "validate/leak"
	AllFlaky      Reason = "validate/flaky"
	AllBound      Reason = "validate/clock"
	SolutionTests Reason = "validate/solution_tests"
	Tampered      Reason = "validate/tampered"
	NotServing    Reason = "validate/not_started"
	FewF2P        Reason = "validate/few_f2p"
	Vacuous       Reason = "validate/vacuous"

	ThinStatement  Reason = "describe/thin"
	SuiteBroken    Reason = "suite/broken"
	SuitePasses    Reason = "suite/passes_at_base"
	SuiteRed       Reason = "suite/fails_at_solution"
	SuiteFlaky     Reason = "suite/flaky"
	SuiteNarrow    Reason = "suite/too_narrow"
	SuiteOverfit   Reason = "suite/over_fitted"
	NothingSaid    Reason = "describe/nothing_said"
	NoneNoticing   Reason = "describe/unnoticed"
	FewNoticing    Reason = "describe/few_noticed"
	ZeroWork       Reason = "describe/zero_work"
	SuiteFails     Reason = "describe/suite"
	LowCoverage    Reason = "describe/coverage"
	NoSpec         Reason = "describe/specification"
	NeedsGPU       Reason = "describe/gpu"
	LeakyStatement Reason = "describe/leak"
	Uncovered      Reason = "describe/uncovered"
	StatementForm  Reason = "describe/form"

	LedgerFlaky Reason = "export/flaky"
	SecretInRow Reason = "export/secret"

	ReviewTrivial     Reason = "review/trivial"
	ReviewUnrealistic Reason = "review/unrealistic"
	ReviewUnfair      Reason = "review/unfair"
	ReviewLeak        Reason = "review/leak"
	ReviewUnclear     Reason = "review/unclear"

	LeftOut Reason = "balance/left_out"

	// Crashed is given to a step that ended the process five times (engine 10); it is Failed, not Rejected.
	Crashed Reason = "engine/crashed"
)

// ReasonText is a row of the table that the docs page is made from.
type ReasonText struct {
	Reason  Reason
	Meaning string
	Do      string // what a maintainer can do about it
}

// Reasons is every reason, in stage order.
var Reasons = []ReasonText{
	{FewReleases, "the repository has fewer releases than filters.min_releases or the preset asks for", "lower the limit"},
	{BadLicence, "the repository's licence is not among filters.licences", "add it to the list, where you may"},
	{NoSources, "the repository has no source file in a language that is asked for", "nothing for a language that benchmint does not build; else widen filters.languages"},
	{GoneSource, "GitHub has no such repository: deleted, private, blocked or never there, and there is no mirror of it", "take it off the list, or name where its code is (git)"},
	{IsArchived, "the repository is archived, and filters.archived is off", "turn filters.archived on"},
	{FewStars, "the repository has fewer stars than filters.min_stars or the preset asks for", "lower the limit"},
	{LargeSource, "the repository is larger than filters.max_size", "raise the limit"},
	{Inactive, "nobody pushed to the repository since filters.pushed_since", "choose an earlier day"},
	{OffTopic, "the repository has a topic of filters.topics_not (tutorials, lists, examples)", "take the topic off the list"},
	{Untested, "the root of the repository shows no tests, and filters.tests is on", "turn filters.tests off: tests may lie deeper"},
	{NoCode, "the change touches no code that ships", "nothing: it is not a feature"},
	{NoTests, "the change touches no test, nor what tests read; requirements and settings of tests are neither", "nothing: there is no proof without a test; of an edit, suite.write has a model write some"},
	{MixedManifest, "a manifest changes for tests and for code in one hunk", "nothing: what is for tests and what for code cannot be told apart"},
	{Submodule, "a submodule moves with the change, or its tests need what is in one", "vendor the submodule, or leave it out"},
	{LFSPointer, "a file that the change needs is a Git LFS pointer", "fetch the LFS objects and run again"},
	{MissingBlob, "the clone lacks an object that the change needs", "fetch it with the command that the reason names"},
	{RootCommit, "the commit has no parent to start from", "nothing"},
	{DuplicateStart, "the same base and landed trees stand under another ID", "see the alias in its row"},
	{LeftToEdit, "edits are asked for as well, and the change was drawn to be one (limits.edit_share)", "lower limits.edit_share for more features"},
	{OtherLanguage, "the code part is in no language that is asked for", "nothing for a language that benchmint does not build; else widen filters.languages"},
	{TooLarge, "the code part is over filters.max_source_lines", "raise the limit"},
	{UnsafePath, "a path of the tree leaves it or cannot be written", "nothing: the tree is hostile or broken"},
	{HugeObject, "a file of the change's trees has more than 100 MiB, or a tree more than 1 GiB or 500,000 entries", "nothing: that much is not read"},
	{KnownTask, "the change is a task of another dataset already; the reason names set, task, key and what is the same", "take the set out of decontamination.against if its tasks may come again"},
	{HoldsSecret, "the change's diff, or the tree that it starts from, holds what looks like a credential; the reason names rule, file and line", "tell its owner; if it is a false alarm, name its fingerprint or file in redaction.allow"},
	{AddsFunctions, "the code part adds a function or a class, and filters.modifies_only is set", "clear the filter for changes of any shape"},
	{DropsFunctions, "the code part removes a function or a class, and filters.modifies_only is set", "clear the filter for changes of any shape"},
	{UnreadSource, "a source file of the code part does not parse, so that filters.modifies_only cannot be decided", "clear the filter for changes of any shape"},
	{NoFramework, "the source is not a web service in a supported framework, or service.frameworks leaves its framework out", "nothing for a framework that benchmint does not read; else widen service.frameworks"},
	{NoDatabase, "the service needs a database or a broker that benchmint does not start; the reason names it", "nothing: it starts SQLite, PostgreSQL, MySQL and Redis"},
	{NoBoot, "no rule says how the service is started; the reason says what is missing", "see the reason; a Procfile, a Dockerfile or an .env.example shows how"},
	{NotStarted, "the service ends or does not answer when it is started by rule, at the head and at service.walk_back commits before it", "explain prints the command, environment, port and last lines; service.walk_back tries more commits"},
	{SilentGroup, "fewer of the group's endpoints answer a good request than service.min_answered, or no answer is the same in all replays", "lower the share; nothing for endpoints that need mail or another service"},
	{SmallGroup, "the group has fewer endpoints than service.min_endpoints", "lower service.min_endpoints"},
	{NamelessGroup, "no function of the tree is known to answer one of the group's endpoints", "nothing: what a library answers is not masked"},
	{NoReadBack, "nothing that the group's endpoints make shows in the answer to another request", "nothing: the cases would say little"},
	{Outbound, "the service asks the network outside at its start or to answer; there is none in the sandbox", "nothing: what others answer is not the code's own behaviour"},
	{MixedSource, "less of the release's code than library.min_language is in one language that is asked for, or library.native refuses its compiled code", "lower the share; nothing for a language that benchmint does not build"},
	{NoSuite, "the release has no test file in the language of its code", "nothing: there is no proof without a test"},
	{MaskFailed, "a source file of the release could not be masked, so that the starter would lack it or hold it whole; the reason names the file", "nothing: see what benchmint mask says of it"},
	{NothingMasked, "no body of the code part can be taken out", "see what benchmint mask says of the release"},
	{LinesLeft, "more of the body lines of the library, or of its slice, stay in the starter than library.max_lines_left", "raise the share; the manifest of the mask says why each function stays"},
	{StarterDead, "the starter does not load where the release does, or no test file loads in it: a test that fails to load proves nothing about a body", "see the first message in show: the mask took out what runs when the code is loaded"},
	{OtherLabel, "the change has no label that filters.labels asks for", "see the evidence in show; widen filters.labels"},
	{NoToolchain, "no toolchain of the wanted version and date can be had", "install the version that the reason names"},
	{Unresolvable, "the dependencies do not resolve, dated or undated", "see the resolver's last lines in show"},
	{NoBuild, "the environment or the project does not build, repairs included", "see the log in show"},
	{NoRunner, "no test runs in the solution", "see the log in show"},
	{NoRecipe, "no recipe can be inferred from the tree, or no test command runs what the change tests", "see the evidence and the commands in explain"},
	{HostPackages, "the environment needs a system package that this host lacks, and does not work without it", "install the package that the reason names, or use sandbox docker"},
	{BuildTime, "building the environment takes longer than sandbox.timeout", "raise the limit"},
	{BuildMemory, "building the environment needs more memory than sandbox.memory", "raise the limit"},
	{BuildProcs, "building the environment needs more processes than sandbox.processes", "raise the limit"},
	{BuildDisk, "building the environment writes more than sandbox.disk", "raise the limit"},
	{BuildOutput, "building the environment prints more than sandbox.output", "raise the limit"},
	{SuiteBroken, "the suite that a model wrote does not parse, holds no test, says of a test not what it tests, or does not load in the solution", "see the fault in show; another model, or more suite.tries"},
	{SuitePasses, "every test of the suite that a model wrote passes without the change", "see the fault in show; another model, or more suite.tries"},
	{SuiteRed, "a test of the suite that a model wrote does not pass in the solution", "see the fault in show; another model, or more suite.tries"},
	{SuiteFlaky, "the suite that a model wrote does not say the same in three runs of the solution", "see the fault in show; another model, or more suite.tries"},
	{SuiteNarrow, "the suite that a model wrote notices half of the hunks or less when they are taken back one by one, or less than filters.min_noticed", "see the fault in show; another model, or more suite.tries"},
	{SuiteOverfit, "the suite that a model wrote needs names or texts of the solution that the commits do not give, or reads the source of the solution", "see the fault in show; another model, or more suite.tries"},
	{NoF2P, "no test fails before the change and passes after it", "nothing: the tests do not tell the states apart"},
	{RegressionR, "a test passes in every start run and fails in every solution run", "look at the environment first, then at the change"},
	{Unnameable, "tests need a name that neither the author's text nor a definition gives", "nothing: a solver cannot know the name"},
	{GoldFails, "the changed tests do not load in the solution", "see the log in show"},
	{OverMemory, "the test run needs more memory than sandbox.memory", "raise the limit"},
	{OverProcs, "the test run needs more processes than sandbox.processes", "raise the limit"},
	{OverDisk, "the test run writes more than sandbox.disk", "raise the limit"},
	{OverOutput, "the test run prints more than sandbox.output", "raise the limit"},
	{OverTime, "the test run takes longer than sandbox.timeout", "raise the limit"},
	{Leaked, "what a solver gets holds the solution, its tests or a later release", "see the places in show"},
	{SolutionTests, "every test that tells the states apart is collected from files of the solution, needs one of them or is named by it", "nothing: a right answer in other words cannot pass them"},
	{AllFlaky, "every test that tells the states apart disagrees with itself", "nothing: the tests are flaky"},
	{AllBound, "every test that tells the states apart fails in the solution, or has another name, when the clock is 400 days ahead", "nothing: the solution would fail after a day; explain says what each test is then"},
	{Tampered, "the code under test changed what a test run says: a canary test that must fail did not, or the run's records do not fit together", "nothing: no result of it can be believed"},
	{NotServing, "the service does not start without the group's handlers, or does not answer other requests then", "nothing: the task would be to build it again"},
	{FewF2P, "fewer cases of the group fail without its handlers than service.min_f2p, or they ask fewer endpoints than service.min_endpoints", "lower the limits; show has the cases"},
	{Vacuous, "every case that fails without the handlers looks at the status alone, or at the type of a body: an answer that is always the same could pass them", "nothing: the cases cannot tell a right answer from an empty one"},
	{NothingSaid, "the texts of the change describe nothing that a solver could be asked for", "write the statement by hand (overrides)"},
	{ThinStatement, "the change's own text and notes say too little to ask for it", "set filters.thin, or write the statement by hand (overrides)"},
	{NoneNoticing, "no hunk of the code part that was taken back alone makes a FAIL_TO_PASS test fail", "set filters.unnoticed to keep it"},
	{FewNoticing, "the FAIL_TO_PASS tests of an edit notice a smaller share of the hunks that were taken back than filters.min_noticed", "lower the share"},
	{ZeroWork, "more of the library's tests (of a slice: of those that run it) pass in the starter, with nothing done, than library.max_zero_work", "raise the share; explain names the tests"},
	{SuiteFails, "fewer of the library's tests pass in its release than library.min_passing", "lower the share; explain names the tests that fail"},
	{LowCoverage, "the suite runs less of the library's code than library.min_coverage, or what it runs cannot be seen: it runs in other processes or in an installed copy", "lower the share; 0 takes what cannot be seen, too"},
	{NoSpec, "the library has less documentation than library.specification, min_guide_words, reference or min_documented ask for", "set library.specification to readme or signatures, or ask for less"},
	{NeedsGPU, "the library's environment has packages for graphics processors, which no sandbox has", "set library.gpu to keep it"},
	{LeakyStatement, "no text without a leak of the solution is left", "write the statement by hand (overrides)"},
	{Uncovered, "tests need a name that neither statement nor interface gives", "write the interface by hand (overrides)"},
	{StatementForm, "the statement does not begin with \"I want to\", or it holds code", "write the statement by hand (overrides)"},
	{LedgerFlaky, "every FAIL_TO_PASS test disagreed with itself in some run of this repository", "nothing: the tests are flaky"},
	{SecretInRow, "what a row would carry beside its diff and its base tree holds what looks like a credential: the names of its tests, its recipe", "tell its owner; if it is a false alarm, name its fingerprint or file in redaction.allow"},
	{ReviewTrivial, "people refuse the task (reviews): it asks for next to nothing", "see who and why in the reject"},
	{ReviewUnrealistic, "people refuse the task (reviews): nobody would ask for it like this", "see who and why in the reject"},
	{ReviewUnfair, "people refuse the task (reviews): a right answer can fail its tests", "see who and why in the reject"},
	{ReviewLeak, "people refuse the task (reviews): it gives the solution away", "see who and why in the reject"},
	{ReviewUnclear, "people refuse the task (reviews): it does not say what is wanted", "see who and why in the reject; a statement by hand (overrides) may mend it"},
	{LeftOut, "the task was not drawn: balance takes a number of tasks of a mix", "raise balance.tasks, or choose another mix"},
	{Crashed, "the process died five times over this item", "look at the log, then run with --retry-crashed"},
}

// Host lists the reasons that rest on what this machine, or the clone on it, has: such
// an item is tried again by itself when that has changed.
var Host = []Reason{MissingBlob, NoToolchain, HostPackages}

// Advice is what to do about a reason, with what happens by itself.
func (t ReasonText) Advice() string {
	if slices.Contains(Host, t.Reason) {
		return t.Do + "; the next run then tries it again by itself"
	}
	return t.Do
}
