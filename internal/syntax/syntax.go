// Package syntax reads source files by their grammars into trees of plain nodes. What a
// tree says of declarations, imports and uses is said in package outline; what functions
// there are, for filters and masks, in packages functions and mask.
//
// It never resolves a name over files, never runs or type-checks anything, and
// keeps no tree of C's alive: what it returns is Go memory only.
package syntax

import (
	"errors"
	"time"
)

// Language is a grammar.
type Language string

// The languages of which outlines are read; tree.go has the others.
const (
	Python Language = "python"
	Go     Language = "go"
)

// ErrTooLarge is given for files over 8 MiB.
var ErrTooLarge = errors.New("the source file is too large")

const (
	maxTime  = time.Minute // of one parse
	maxDepth = 1500        // of nested nodes that are read; deeper code is marked broken
)
