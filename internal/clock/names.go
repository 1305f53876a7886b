package clock

import "github.com/benchmint/benchmint/internal/lazyregexp"

// word is a part of a name that a calendar or a clock may have written.
var word = lazyregexp.New(`[0-9]+|[A-Za-z]+`)

// daysAndMonths are names of both, and their abbreviations.
var daysAndMonths = lazyregexp.New(`(?i)^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|am|pm)$`)

// Undated is the ID of a test without what can move with the calendar: one text on every day.
func Undated(id string) string {
	return word.ReplaceAllStringFunc(id, func(w string) string {
		if w[0] <= '9' || daysAndMonths.MatchString(w) {
			return "#"
		}
		return w
	})
}
