package contamination

import "errors"

// commit0 are rows of Commit0: a library whose bodies are gone. They name no release and no patch; the reference is
// a commit of a copy of the repository.
var commit0 = family{
	name:  "Commit0",
	needs: []string{"repo", "base_commit", "reference_commit"},
	wants: []string{"instance_id", "original_repo", "tag"},
	read: func(c cells) (Task, error) {
		t := Task{
			ID: c.first("instance_id", "repo"), Repo: c["repo"], Origin: c["original_repo"], Commit: c["reference_commit"],
			Bases: []string{c["base_commit"], c["reference_commit"]}, Release: c["tag"], Kind: Library,
		}
		if t.Repo == "" {
			return t, errors.New("it has no repo")
		}
		return t, nil
	},
}
