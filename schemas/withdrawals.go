package schemas

// Withdrawal is why a published task is taken out of later versions of its benchmark. Only those
// of Withdrawals are used.
type Withdrawal string

// The reasons.
const (
	ForGoldFails       Withdrawal = "gold_fails"
	ForFlaky           Withdrawal = "flaky"
	ForNopPasses       Withdrawal = "nop_passes"
	ForForgedPasses    Withdrawal = "forged_passes"
	ForUnfair          Withdrawal = "unfair"
	ForWrongStatement  Withdrawal = "wrong_statement"
	ForShowsSolution   Withdrawal = "shows_solution"
	ForContaminated    Withdrawal = "contaminated"
	ForSameTask        Withdrawal = "duplicate"
	ForEnvironmentLost Withdrawal = "environment_lost"
	ForClockBound      Withdrawal = "clock"
	ForWrongLicence    Withdrawal = "licence"
	ForTakeDown        Withdrawal = "takedown"
	ForHeldSecret      Withdrawal = "secret"
)

// WithdrawalInfo is a row of the table.
type WithdrawalInfo struct {
	Withdrawal
	Meaning string
	// Purge says that the task's bytes may be taken out of published versions, too.
	Purge bool
}

// Withdrawals are all of them, in the order of the page.
var Withdrawals = []WithdrawalInfo{
	{ForGoldFails, "the reference solution no longer passes", false},
	{ForFlaky, "a FAIL_TO_PASS test disagrees with itself", false},
	{ForNopPasses, "doing nothing passes", false},
	{ForForgedPasses, "an answer passes that only forges results", false},
	{ForUnfair, "a right answer in other words fails", false},
	{ForWrongStatement, "the statement asks for something else than the tests check", false},
	{ForShowsSolution, "the statement, the base tree or the image shows the solution", false},
	{ForContaminated, "another published set has the same task", false},
	{ForSameTask, "another task of this benchmark asks for the same", false},
	{ForEnvironmentLost, "the environment can no longer be built", false},
	{ForClockBound, "the day has come from which its tests fail", false},
	{ForWrongLicence, "its licence does not allow to publish it", true},
	{ForTakeDown, "its owner asks to take it down", true},
	{ForHeldSecret, "it holds a credential or data of a person", true},
}

// FindWithdrawal is a row of the table by its word.
func FindWithdrawal(word string) (WithdrawalInfo, bool) {
	for _, w := range Withdrawals {
		if string(w.Withdrawal) == word {
			return w, true
		}
	}
	return WithdrawalInfo{}, false
}
