package remote

import (
	"context"
	"errors"
	"time"

	"git-checkpoint/gitstore/internal/git"
)

// FetchWithoutListing fetches one ref without a look at what the remote has: git asks it
// for that ref alone, and so it takes no longer where there are many. Ok is
// false where that is not known to be the answer, and a look has to find out.
// Known says that something of it is here: a depth would cut that, too.
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

// hasNot reports that git says of a remote that it has no such ref.
func hasNot(err error, ref string) bool {
	var failed *git.CommandError
	return errors.As(err, &failed) && explain(failed.Stderr) == "couldn't find remote ref "+ref
}
