package schemas

// Cut is one release that a library task is made of.
type Cut struct {
	Repo     string  `json:"repo"` // Repo.Name
	RepoRoot string  `json:"repo_root"`
	Licence  string  `json:"licence,omitempty"`  // Repo.Licence
	Category string  `json:"category,omitempty"` // Source.Category
	Release  Release `json:"release"`
	// Profile is how bodies are masked (docs/mask.md).
	Profile string `json:"profile"`
}

// ID is owner__name-TAG.library[.PROFILE].
func (c Cut) ID() string {
	profile := c.Profile
	if profile == strict {
		profile = ""
	}
	return LibraryID(c.Repo, c.Release.Tag, profile, "").String()
}

// Told is the cut without what later work in its repository can alter.
func (c Cut) Told() Cut {
	c.Category, c.Release.Body, c.Release.OffBranch, c.Release.Previous = "", "", false, ""
	return c
}

// Masked says what was taken out of the solution to make the base.
type Masked struct {
	Manifest Digest `json:"manifest"` // blob: what was done to each function of the code part
	Profile  string `json:"profile"`
	// Functions are those of the code part: Taken lost their bodies or are gone, Kept stay, by
	// the reason.
	Functions int            `json:"functions"`
	Taken     int            `json:"taken"`
	Kept      map[string]int `json:"kept,omitempty"`
	// Lines are body lines of the code part, without blank ones and comments; Left are those
	// that stay, with the lines of sources in languages that are not masked.
	Lines int `json:"body_lines"`
	Left  int `json:"body_lines_left"`
}

// Share is the part of the body lines that stays, 0 to 1.
func (m Masked) Share() float64 {
	if m.Lines == 0 {
		return 0
	}
	return float64(m.Left) / float64(m.Lines)
}
