package store

import "context"

// SQL is Store, by the name that it had beside the store of files.
type SQL = Store

// OpenSQL is Open.
func OpenSQL(ctx context.Context, location string, o Options) (*Store, error) {
	return Open(ctx, location, o)
}
