package storetest

import (
	"testing"
)

// Run asks everything, each test of an empty store.
func Run(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"flow": testFlow, "views": testViews, "odd_texts": testOddTexts, "big_records": testBigRecords, "expansion": testExpansion,
		"seeds": testSeeds, "fence": testFence, "release": testRelease, "redo": testRedo, "redo_of_failed": testRedoOfFailed, "withdraw_and_revive": testWithdrawAndRevive,
		"revived_stale": testRevivedStale, "reads": testReads, "two_parents": testTwoParents, "key_moves": testKeyMoves, "faults": testFaults,
		"build_once": testBuildOnce, "build_ends": testBuildEnds, "build_redone": testBuildRedone,
		"build_withdrawn": testBuildWithdrawn, "build_changes": testBuildChanges,
		"crashes": testCrashes, "suspects": testSuspects, "blocked_suspects": testBlockedSuspects, "fingerprints": testFingerprints, "redo_cut_off": testRedoCutOff,
		"deferral": testDeferral, "budget": testBudget, "drain": testDrain, "retry": testRetry,
		"resources": testResources, "answers": testAnswers, "payments": testPayments, "commit": testCommit, "crash_points": testCrashPoints,
		"fix": testFix, "reopen": testReopen, "notes": testNotes, "above": testAbove, "member_left": testMemberLeft, "until": testUntil,
		"forks": testForks, "branches_contest": testBranchesContest,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}
