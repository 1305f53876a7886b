package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Pause keeps steps from starting that need a resource. A pause is never
// shortened: of two, the later one holds.
func (s *Store) Pause(ctx context.Context, resource string, until time.Time) error {
	return s.write(ctx, "pause", func(t *tx) {
		t.exec(`INSERT INTO resource (name, paused_until) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
			SET paused_until = excluded.paused_until WHERE resource.paused_until < excluded.paused_until`, resource, millis(until))
	})
}

// Resources are all that were ever paused, capped or paid from, by name.
func (s *Store) Resources(ctx context.Context) ([]pipeline.Resource, error) {
	var out []pipeline.Resource
	err := s.read(ctx, func(r *sql.Rows) error {
		var x pipeline.Resource
		var until int64
		err := r.Scan(&x.Name, &until, &x.Spent, &x.Cap)
		x.PausedUntil = moment(until)
		out = append(out, x)
		return err
	}, "SELECT name, paused_until, spent, cap FROM resource ORDER BY name")
	return out, err
}

// Cap sets how much may be spent on a resource in all; 0 means no limit.
func (s *Store) Cap(ctx context.Context, resource string, limit float64) error {
	return s.write(ctx, "cap", func(t *tx) {
		t.exec(`INSERT INTO resource (name, cap) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
			SET cap = excluded.cap WHERE resource.cap <> excluded.cap`, resource, limit)
	})
}

// slack keeps sums of amounts that have no exact binary form from passing a cap
// by their rounding.
const slack = 1e-9

// Reserve sets money aside before it is spent; false where that would pass the
// cap.
func (s *Store) Reserve(ctx context.Context, resource string, cost float64) (ok bool, err error) {
	err = s.write(ctx, "reserve", func(t *tx) {
		t.exec("INSERT INTO resource (name) VALUES ($1) ON CONFLICT (name) DO NOTHING", resource)
		ok = t.exec(`UPDATE resource SET reserved = reserved + $1
			WHERE name = $2 AND (cap = 0 OR spent + reserved + $3 <= cap)`, cost, resource, cost-slack) == 1
		if ok {
			t.reserve(resource, cost)
		}
	})
	return ok && err == nil, err
}

func (t *tx) reserve(resource string, cost float64) {
	worker, _ := t.s.worker.Load().(string)
	t.exec(`INSERT INTO reservation (worker, resource, amount) VALUES ($1, $2, $3) ON CONFLICT (worker, resource) DO UPDATE
		SET amount = reservation.amount + excluded.amount`, worker, resource, cost)
}

// Intend says before a paid request that it is about to be sent, and gives the
// answer where there is one already: then nothing is sent.
func (s *Store) Intend(ctx context.Context, request schemas.Digest) (a pipeline.Answer, err error) {
	const fields = "answered, sent, blob, model, input, output"
	scan := func(r *sql.Rows) error {
		return r.Scan(&a.Answered, &a.Sent, &a.Blob, &a.Model, &a.Input, &a.Output)
	}
	if err := s.read(ctx, scan, "SELECT "+fields+" FROM answer WHERE request = $1", request); err != nil || a.Answered {
		return a, err
	}
	err = s.write(ctx, "intend", func(t *tx) {
		t.change(scan, `INSERT INTO answer (request, answered, sent) VALUES ($1, FALSE, 1) ON CONFLICT (request) DO UPDATE
			SET sent = answer.sent + CASE WHEN answer.answered THEN 0 ELSE 1 END RETURNING `+fields, request)
	})
	return a, err
}

// Pay ends a paid request: what it came to is kept, what it used of a reservation is booked
// under the step that asked, and the rest of the reservation is given back. The first answer
// stays: a stage that asks again gets the same bytes.
func (s *Store) Pay(ctx context.Context, p pipeline.Payment) error {
	return s.write(ctx, "pay", func(t *tx) {
		if a := p.Answer; a != nil {
			t.exec(`INSERT INTO answer (request, answered, sent, blob, model, input, output) VALUES ($1, TRUE, 1, $2, $3, $4, $5)
				ON CONFLICT (request) DO UPDATE SET answered = TRUE, blob = excluded.blob, model = excluded.model,
				input = excluded.input, output = excluded.output WHERE NOT answer.answered`, p.Request, a.Blob, a.Model, a.Input, a.Output)
		}
		t.exec(`INSERT INTO resource (name, spent) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
			SET spent = resource.spent + excluded.spent`, p.Resource, p.Cost)
		t.exec("UPDATE resource SET reserved = CASE WHEN reserved > $1 THEN reserved - $2 ELSE 0 END WHERE name = $3", p.Reserved, p.Reserved, p.Resource)
		t.reserve(p.Resource, -p.Reserved)
		if p.Questions == 0 && p.Cost == 0 {
			return
		}
		t.exec(`INSERT INTO payment (resource, stage, key, model, questions, input, cached, output, cost) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (resource, stage, key, model) DO UPDATE SET questions = payment.questions + excluded.questions, input = payment.input + excluded.input,
			cached = payment.cached + excluded.cached, output = payment.output + excluded.output, cost = payment.cost + excluded.cost`,
			p.Resource, p.Stage, p.Key, p.Model, p.Questions, p.Input, p.Cached, p.Output, p.Cost)
	})
}

// Spending is what was spent on a resource by stage and model, without keys: together it is
// what Resources says of it.
func (s *Store) Spending(ctx context.Context, resource string) ([]pipeline.Spend, error) {
	return s.spending(ctx, `SELECT stage, '', model, CAST(sum(questions) AS BIGINT), CAST(sum(input) AS BIGINT), CAST(sum(cached) AS BIGINT),
		CAST(sum(output) AS BIGINT), sum(cost) FROM payment WHERE resource = $1 GROUP BY stage, model ORDER BY stage, model`, resource)
}

// SpendingOf is what the step of one stage with this key spent on a resource, by model.
func (s *Store) SpendingOf(ctx context.Context, resource, stage, key string) ([]pipeline.Spend, error) {
	return s.spending(ctx, `SELECT stage, key, model, questions, input, cached, output, cost FROM payment
		WHERE resource = $1 AND stage = $2 AND key = $3 ORDER BY model`, resource, stage, key)
}

// Judge keeps that a paid answer was of no use. What was said first of a request stays.
func (s *Store) Judge(ctx context.Context, v pipeline.Verdict) error {
	return s.write(ctx, "judge", func(t *tx) {
		t.exec(`INSERT INTO verdict (request, resource, stage, key, model, prompt, why, fault) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (request) DO NOTHING`, v.Request, v.Resource, v.Stage, v.Key, v.Model, v.Prompt, v.Why, clean(v.Fault))
	})
}

// Useless counts the paid answers that were of no use, by model and reason, the commonest first.
func (s *Store) Useless(ctx context.Context, resource string) ([]pipeline.Useless, error) {
	var out []pipeline.Useless
	err := s.read(ctx, func(r *sql.Rows) error {
		var x pipeline.Useless
		err := r.Scan(&x.Model, &x.Why, &x.N)
		out = append(out, x)
		return err
	}, "SELECT model, why, count(*) FROM verdict WHERE resource = $1 GROUP BY model, why ORDER BY model, 3 DESC, why", resource)
	return out, err
}

// VerdictsOf are those on answers that the step of one stage with this key paid for.
func (s *Store) VerdictsOf(ctx context.Context, resource, stage, key string) ([]pipeline.Verdict, error) {
	var out []pipeline.Verdict
	err := s.read(ctx, func(r *sql.Rows) error {
		v := pipeline.Verdict{Resource: resource, Stage: stage, Key: key}
		err := r.Scan(&v.Request, &v.Model, &v.Prompt, &v.Why, &v.Fault, &v.Blob)
		out = append(out, v)
		return err
	}, `SELECT v.request, v.model, v.prompt, v.why, v.fault, coalesce(a.blob, '') FROM verdict v LEFT JOIN answer a ON a.request = v.request
		WHERE v.resource = $1 AND v.stage = $2 AND v.key = $3 ORDER BY v.prompt, v.model, v.request`, resource, stage, key)
	return out, err
}

func (s *Store) spending(ctx context.Context, query string, args ...any) ([]pipeline.Spend, error) {
	var out []pipeline.Spend
	err := s.read(ctx, func(r *sql.Rows) error {
		var x pipeline.Spend
		err := r.Scan(&x.Stage, &x.Key, &x.Model, &x.Questions, &x.Input, &x.Cached, &x.Output, &x.Cost)
		out = append(out, x)
		return err
	}, query, args...)
	return out, err
}
