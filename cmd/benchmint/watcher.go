package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// watcher says how items end, on standard error.
type watcher struct {
	*terminal
	models  *models
	sources *sources.Set
}

// Begin is said with -v only: a stage may take minutes, and most take none.
func (w *watcher) Begin(stage, key string) {
	if w.verbose {
		w.say("  %s  %s …", name(key), stage)
	}
}

// End says what settled an item; the stages between are for -v. What is in the
// store already is not said again.
func (w *watcher) End(s schemas.Step, _ bool) {
	switch {
	case s.State == schemas.StepInterrupted:
	case s.Stage == stages.Export:
		// The closing lines say it, with its cause.
	case s.State == schemas.StepDeferred && s.Stage == stages.Crawl && w.sources.IsUnreachable(s.Key):
		// Said when its source was looked up.
	case s.State == schemas.StepRejected && strings.HasSuffix(s.Stage, ".build"):
		// Each item that waits for the build says it itself.
	case s.State == schemas.StepRejected && slices.Contains(stages.StartStages, s.Stage) && !w.verbose:
		// Most changes of a repository are no candidates: the funnel counts them.
	case s.State == schemas.StepRejected:
		w.say("%s  rejected %s", s.Key, s.Reason)
	case s.State == schemas.StepDeferred:
		w.models.broke = w.models.broke || strings.Contains(s.Detail, llm.ErrBudget.Error())
		w.say("%s  deferred at %s, tried next at %s: %s", name(s.Key), s.Stage, clock(s.NotBefore, w.now()), visible(tail(s.Detail, 1)))
	case s.State == schemas.StepFailed:
		w.say("%s  %s at %s: %s", name(s.Key), s.State, s.Stage, visible(tail(s.Detail, 1)))
	case s.Stage == stages.Validate:
		w.say("%s  proved: %s", s.Key, proofLine(s))
	case s.Stage == stages.Cut:
		w.say("%s  %s", s.Key, countReleases(len(s.Outputs), w.sources.Sliced()))
	case s.Stage == stages.Survey:
		w.say("%s  %s", s.Key, plural(len(s.Outputs), "group"))
	case s.Stage == stages.Pair:
		w.say("%s  %s", s.Key, plural(len(s.Outputs), "range"))
	case s.Stage == stages.Harvest:
		w.say("%s  %s", s.Key, plural(len(s.Outputs), "change"))
	case w.verbose:
		w.say("  %s  %s %s in %.1f s", name(s.Key), s.Stage, s.State, float64(s.MS)/1000)
	}
}

// clock is a time of day, with its day where that is another one.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("15:04:05")
}

// name keeps the digests of shared builds readable.
func name(key string) string {
	if strings.HasPrefix(key, "sha256:") {
		return schemas.Digest(key).Short()
	}
	return key
}

func proofLine(s schemas.Step) string {
	var proof schemas.Proof
	out, ok := s.Output()
	if !ok || json.Unmarshal(out.Record, &proof) != nil {
		return "unreadable"
	}
	return fmt.Sprintf("%d FAIL_TO_PASS, %d PASS_TO_PASS", len(proof.List(schemas.F2P)), len(proof.List(schemas.P2P)))
}
