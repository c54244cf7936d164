package remote

import (
	"context"
	"errors"
	"time"

	"git-checkpoint/gitstore/internal/git"
)

// FetchWithoutListing fetches one ref without listing the remote's refs, so its duration
// does not depend on their number. ok is false if the result is uncertain and a listing
// is required. known means that local commits of the ref exist, which a fetch with depth
// would truncate.
func (l *Conn) FetchWithoutListing(ctx context.Context, ref string, known bool) (a FetchedRef, ok bool, err error) {
	l.sweep(ctx)
	depth := 0
	if !known {
		if depth, err = l.depth(ctx); err != nil {
			return a, false, err
		}
	}
	start := time.Now()
	in, err := l.fetchRefs(ctx, depth, []string{ref})
	switch {
	case err == nil, hasNot(err, ref):
		return in[ref], true, nil
	case ctx.Err() != nil, l.Timeout > 0 && time.Since(start) >= l.Timeout:
		return a, false, err
	}
	return a, false, nil
}

// hasNot reports whether git's error means that the remote lacks a ref.
func hasNot(err error, ref string) bool {
	var failed *git.CommandError
	return errors.As(err, &failed) && explain(failed.Stderr) == "couldn't find remote ref "+ref
}
