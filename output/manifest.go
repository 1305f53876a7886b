package output

import (
	"encoding/json"

	"github.com/benchmint/benchmint/schemas"
)

// Format is the version of the layout on disk.
const Format = "benchmint-dataset/3"

// CardVersion is the version of the card and its plots; 0 is of datasets made before it
// was written.
const CardVersion = 4

// Names in a dataset's folder.
const (
	ManifestFile = "manifest.json"
	CardFile     = "README.md"
	RejectsFile  = "rejects.jsonl"
	FlakesFile   = "flakes.jsonl" // the flake ledger: ledger.Flake, a line each
	TimingsFile  = "timings.jsonl"
	// RedactionsFile says what was masked or allowed, and where: Redaction, a line each. A
	// dataset without any has none.
	RedactionsFile = "redactions.jsonl"
	// ChecksumsFile holds the SHA-256 of every file but itself, the manifest and the
	// timings, in the form that sha256sum -c reads.
	ChecksumsFile = "SHA256SUMS"
	// ReleaseFile is what a version of a shelf says of itself, and CostFile when and at what cost it
	// was made: neither is in the checksums. The digest of ReleaseFile stands in the shelf's feed.
	ReleaseFile = "release.json"
	// FeedFile is that feed. A version that was pushed has it at its side.
	FeedFile = "feed.json"
	CostFile = "cost.json"
	// ReproofFile is the ledger of re-proof: beside a dataset, and in a version what it says of its tasks.
	ReproofFile = "reproof.jsonl"
	// DecontaminationFile has the tasks that stand in other datasets: beside a dataset, and in a version.
	DecontaminationFile = "decontamination.jsonl"
	DataDir             = "data"
	TasksDir            = "tasks"
	// HeldOutDir is what a version publishes of its held-out tasks, and HeldOutFile the rest of them.
	HeldOutDir  = "held_out"
	HeldOutFile = "held_out.age"
	BlobsDir    = "blobs"
	PlotsDir    = "plots"

	StatementFile = "statement.md"
	GoldFile      = "gold.patch"
	TestFile      = "test.patch"
	// SpecDir is the folder of a library's specification.
	SpecDir        = schemas.SpecificationDir
	MaskFile       = "mask.patch" // base_commit with it is the base tree; only of a library
	RecipeFile     = "recipe.json"
	StartFile      = "start.json"
	DockerfileFile = "Dockerfile"
	RunFile        = "run.sh"
	ProofFile      = "proof.json"
	AdequacyFile   = "adequacy.json"
	setupDir       = "setup" // files that the Dockerfile copies
	InputDir       = "run"   // files that the run script copies
)

// Manifest says what a dataset holds. It is written last.
type Manifest struct {
	Format string   `json:"format"` // Format, or that of the version that wrote the folder
	Name   string   `json:"name"`
	Splits []Split  `json:"splits"` // one at least
	Counts Counts   `json:"counts"`
	Funnel []Funnel `json:"funnel"`
	// Releases is how many the repositories have that passed the gates.
	Releases   int         `json:"releases"`
	Statistics []Statistic `json:"statistics"` // of the rows; empty where there are none
	// Tools are name → version: what decides results, and the program that wrote the folder
	// as "benchmint", with the commit that it was built of as "commit".
	Tools map[string]string `json:"tools"`
	// Card is the version of card and plots: check makes them again where it is CardVersion.
	Card int `json:"card"`
	// Configuration is the effective one, without what names this machine.
	Configuration json.RawMessage `json:"configuration"`
	// Release is of a version of a shelf of releases; not there in other datasets.
	Release *Release `json:"release,omitempty"`
	// Storage is of a release; versions before it was counted have none.
	Storage *Storage `json:"storage,omitempty"`
	// Balance is of a dataset that was drawn to a mix.
	Balance *Balance `json:"balance,omitempty"`
	// Checksums is of ChecksumsFile, which names all other files.
	Checksums Checksums `json:"checksums"`
}

// Release says which version of a benchmark a dataset is.
type Release struct {
	Version string `json:"version"` // YYYY.MM, or YYYY.MM.N for a correction
	Date    string `json:"date"`    // the day before which its sources were read, YYYY-MM-DD
	// From is the day on which its window begins, "" for the first version; the window ends
	// before Date.
	From     string `json:"from"`
	Previous string `json:"previous"` // the version before, "" for the first
	Canary   string `json:"canary"`   // a GUID, of the dataset's name and Version
	// Dates are those on which each new task was proved, at least; 0 in versions that did not count them.
	Dates int `json:"dates,omitempty"`
	// Hidden says how many tasks are in the hidden parts; not there where nothing was ever hidden.
	Hidden *Hidden `json:"hidden,omitempty"`
	// CutOffs are those of models that tasks are counted by, in the order of their file.
	CutOffs []CutOff `json:"cutoffs,omitempty"`
	// Decontamination is what its tasks were held against; not there where they were not.
	Decontamination *Decontamination `json:"decontamination,omitempty"`
}

// Parts of a release: where a task stands. In a version's folder are the rows of Public alone.
const (
	Public  = "public"
	HeldOut = "held_out" // statement and base tree are published, the rest is for holders of a key
	Private = "private"  // nothing but a commitment is published
)

// Hidden are the hidden parts of a version.
type Hidden struct {
	Since        string    `json:"since"`          // the first version with hidden parts
	HeldOutShare float64   `json:"held_out_share"` // of the tasks that come
	PrivateShare float64   `json:"private_share"`
	HeldOut      int       `json:"held_out"` // tasks
	Private      int       `json:"private"`
	Opens        []Opening `json:"opens"` // by version
	// Shown are the tasks of both parts whose gold patch stands in a published base tree: that of a later task.
	Shown int `json:"shown"`
}

// Opening is the version that opens some held-out tasks.
type Opening struct {
	Version string `json:"version"`
	Tasks   int    `json:"tasks"`
}

// Decontamination says against which published tasks a version was held, and what was found.
type Decontamination struct {
	Sets []PublishedSet      `json:"sets"`
	Hits []ContaminationHits `json:"hits"` // by key
}

// PublishedSet is a file or folder of published tasks.
type PublishedSet struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
}

// ContaminationHits are tasks that one key found; one that several found is counted for each.
type ContaminationHits struct {
	Key     string `json:"key"`
	Removed int    `json:"removed"`  // new tasks that were left out
	Kept    int    `json:"kept"`     // tasks of the version that would be removed if they were new
	Label   int    `json:"labelled"` // tasks of the version
}

// Published says since when a row is published. It is set in rows of a release alone.
type Published struct {
	First    string `json:"first"`    // the version that it came with
	Revision int    `json:"revision"` // 0 as it came; each change of the row adds one
	// RevisedIn is the version of the last revision, and Revised what it changed.
	RevisedIn string   `json:"revised_in,omitempty"`
	Revised   []string `json:"revised,omitempty"`
	// Backfill says that the work is older than the window of the version that it came with.
	Backfill bool     `json:"backfill,omitempty"`
	Marks    []string `json:"marks,omitempty"`
	Canary   string   `json:"canary"` // the sentence with the GUID of First
	// Part is HeldOut or Private where the task came hidden, "" where it was always public; Opens is
	// the version that opens a held-out one.
	Part  string `json:"part,omitempty"`
	Opens string `json:"opens,omitempty"`
}

// Split is one set of rows, which clients open by its name.
type Split struct {
	Name  string `json:"name"`
	Tasks int    `json:"tasks"`
}

// Counts are the ends of all items.
type Counts struct {
	Tasks    int `json:"tasks"`
	Rejected int `json:"rejected"`
	Deferred int `json:"deferred"`
	Failed   int `json:"failed"`
	Open     int `json:"open"` // neither done nor ended: the dataset was written before its time
}

// Funnel is how the items of one stage ended.
type Funnel struct {
	Stage    string                 `json:"stage"`
	Done     int                    `json:"done"`
	Rejected map[schemas.Reason]int `json:"rejected"`
	Deferred int                    `json:"deferred"`
	Failed   int                    `json:"failed"`
}

// Checksums is the file of checksums itself.
type Checksums struct {
	SHA256 schemas.Digest `json:"sha256"`
	Size   int64          `json:"size"`
	Files  int            `json:"files"` // how many it names
}

// Reject is one line of rejects.jsonl: an item that did not become a task.
type Reject struct {
	InstanceID string            `json:"instance_id"` // or the source, for what ended before it had an ID
	Repo       string            `json:"repo"`
	Commit     string            `json:"commit"`
	End        schemas.StepState `json:"end"`    // rejected, deferred, failed
	Stage      string            `json:"stage"`  // how far it came: the stage that ended it
	Reason     schemas.Reason    `json:"reason"` // of rejected items
	Detail     string            `json:"detail"`
	// Reviews are those of people who refuse the task, and of others, by who.
	Reviews []schemas.PeerReview `json:"reviews,omitempty"`
}

// SuiteTiming stands in the place of a stage: one run of the suite in the solution, the median
// of the proof's.
const SuiteTiming = "suite"

// ClockTiming stands in the place of a stage: all runs of the proof with the clock ahead.
const ClockTiming = "clock"

// Timing is one line of timings.jsonl, which no digest covers.
type Timing struct {
	InstanceID string  `json:"instance_id"`
	Stage      string  `json:"stage"` // or SuiteTiming, ClockTiming
	MS         int64   `json:"ms"`
	Cost       float64 `json:"cost"`
}
