// Package ends turns what the trades report into the ends of an item (design 5),
// in one place, so that every stage books the same fault the same way.
//
// It never hides a fault: what it does not know stays an error, and so Failed.
package ends

import (
	"errors"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Of gives the end of an error from building layers: a registry that does not
// answer defers, a refusal of a language rejects with its own reason, a build step
// that does not succeed rejects with reason, and so does a repair that asks for a package
// which this kind of sandbox cannot add.
func Of(err error, reason schemas.Reason) error {
	var no *lang.Refusal
	var build *sandbox.BuildError
	var lacks *sandbox.PackagesError
	switch {
	case errors.Is(err, environment.ErrUnavailable):
		return &pipeline.Deferred{Resource: "registry", Err: err}
	case errors.As(err, &no):
		return pipeline.Reject(no.Reason, "%s", no.Detail)
	case errors.As(err, &build), errors.As(err, &lacks):
		return pipeline.Reject(reason, "%w", err)
	}
	return err
}
