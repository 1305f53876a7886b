package contract

// Exchanged is one request of a replay as it was sent, and what came back.
type Exchanged struct {
	Case   string `json:"case"` // its ID
	Wire   Wire   `json:"wire"`
	Answer Answer `json:"answer"`
}
