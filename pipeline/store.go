package pipeline

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Store is the step table: the truth about every step, and the queue of those that
// may start. Each method is one transaction, or several that may be cut off
// between; on an error nothing of the one under way is changed.
type Store interface {
	// Begin makes the store ready for a run of this plan: what was running when a
	// process died is ready again, what failed is tried again, and the settled steps
	// of a stage whose fingerprint changed are ready. What stages that do not lead to o.Until
	// have settled stands, whatever changed.
	Begin(ctx context.Context, o BeginOptions) error
	// Seed says what the inputs of the first stage are, all of them in order of key.
	// Where list, their digest, is that of the last time, they need not be read.
	Seed(ctx context.Context, stage string, list schemas.Digest, seeds iter.Seq2[Made, error]) error
	// Claim takes ready steps for owner, at most as many of each stage as wanted, and
	// none below a step that is to be made again.
	Claim(ctx context.Context, owner string, wants []Want) ([]Claim, error)
	// ClaimSuspect takes the step over which the process died the fewest times, if any and
	// if none is running.
	ClaimSuspect(ctx context.Context, owner string, stages []string) (*Claim, error)
	// Settle ends claimed steps and makes what follows from them, all or nothing.
	Settle(ctx context.Context, all []Settlement) ([]Settled, error)
	// Release gives claimed steps back, as if they had not been claimed.
	Release(ctx context.Context, owner string, ids []int64) error
	// Died books that other processes died over claimed steps, and makes them ready again for
	// the lane of suspects.
	Died(ctx context.Context, owner string, ids []int64) error
	// Due makes deferred steps ready whose time has come, and says when the next one's
	// does; zero where there is none.
	Due(ctx context.Context, now time.Time) (next time.Time, err error)
	// Built is what a done build made.
	Built(ctx context.Context, stage, key string) (json.RawMessage, error)
	Tallies(ctx context.Context) ([]Tally, error)
	// Held is a page of the drain's inputs, by key, from behind after. What rests on
	// steps that are to be made again is left out here and in Ended.
	Held(ctx context.Context, stage, after string, n int) ([]Made, error)
	// Ended is a page of what was rejected, deferred or failed, by key and stage.
	Ended(ctx context.Context, afterKey, afterStage string, n int) ([]schemas.Step, error)
	// Outdated counts what Held and Ended leave out.
	Outdated(ctx context.Context) (int, error)
	// Pause keeps steps that need a resource from starting.
	Pause(ctx context.Context, resource string, until time.Time) error
	Resources(ctx context.Context) ([]Resource, error)
	// Leave gives back what an owner still has.
	Leave(ctx context.Context, owner string) error
	// Intend and Reserve stand before a paid call, Pay after it, apart from the step's end:
	// the answer is kept and the money booked at once.
	Intend(ctx context.Context, request schemas.Digest) (Answer, error)
	Reserve(ctx context.Context, resource string, cost float64) (bool, error)
	Pay(ctx context.Context, p Payment) error
	// Retry makes one settled step ready, with the build that it rests on.
	Retry(stage, key string) error
}
