package llm

import (
	"errors"
	"fmt"
	"time"
)

// Rates are dollars per million tokens.
type Rates struct {
	Input  float64
	Cached float64 // of input that the endpoint had read before
	Output float64
}

// Usage is what one request used, in tokens, as the endpoint counts them.
type Usage struct {
	Input  int64 // the cached ones included
	Cached int64
	Output int64
}

// Price is what a model costs: its rates, and tiers that hold instead of them. Of the tiers
// that apply the last one holds, for all tokens of the request.
type Price struct {
	Rates
	Tiers []Tier
}

// Tier applies to requests of more than Above input tokens, at the hours of Hours; without
// hours at all times.
type Tier struct {
	Above int64
	Hours []Hours
	Rates
}

// Hours are a part of every day in UTC, in minutes since midnight. Until is not within them;
// where it is not after From, they go on past midnight.
type Hours struct{ From, Until int }

const clock = "15:04"

// ParseHours reads 01:00-04:00.
func ParseHours(text string) (Hours, error) {
	minutes := func(word string) (int, error) {
		t, err := time.Parse(clock, word)
		return t.Hour()*60 + t.Minute(), err
	}
	if len(text) == 2*len(clock)+1 && text[len(clock)] == '-' {
		from, err := minutes(text[:len(clock)])
		until, fault := minutes(text[len(clock)+1:])
		if err = errors.Join(err, fault); err == nil && from != until {
			return Hours{from, until}, nil
		}
	}
	return Hours{}, fmt.Errorf("%q is not a part of a day in UTC (such as 01:00-04:00)", text)
}

func (h Hours) String() string {
	return fmt.Sprintf("%02d:%02d-%02d:%02d", h.From/60, h.From%60, h.Until/60, h.Until%60)
}

// holds reports whether a time is within the hours.
func (h Hours) holds(at time.Time) bool {
	at = at.UTC()
	minute := at.Hour()*60 + at.Minute()
	if h.Until <= h.From {
		return minute >= h.From || minute < h.Until
	}
	return h.From <= minute && minute < h.Until
}

// Cost is what a usage costs in dollars, where the answer came at a time.
func (p Price) Cost(u Usage, at time.Time) float64 {
	rates := p.Rates
	for _, t := range p.Tiers {
		if t.applies(u, at) {
			rates = t.Rates
		}
	}
	return rates.cost(u)
}

// Most is what a usage costs at most, at whatever time and with nothing cached; for a bound of
// the usage it is a bound of the cost.
func (p Price) Most(u Usage) float64 {
	u.Cached = 0
	most := p.dearer().cost(u)
	for _, t := range p.Tiers {
		if u.Input > t.Above {
			most = max(most, t.dearer().cost(u))
		}
	}
	return most
}

func (t Tier) applies(u Usage, at time.Time) bool {
	if u.Input <= t.Above {
		return false
	}
	for _, h := range t.Hours {
		if h.holds(at) {
			return true
		}
	}
	return len(t.Hours) == 0
}

// dearer counts input at the cached rate where that is the higher one.
func (r Rates) dearer() Rates {
	r.Input = max(r.Input, r.Cached)
	return r
}

func (r Rates) cost(u Usage) float64 {
	cached := min(u.Cached, u.Input)
	return (float64(u.Input-cached)*r.Input + float64(cached)*r.Cached + float64(u.Output)*r.Output) / 1e6
}
