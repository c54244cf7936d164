package gitstore

import (
	"context"
	"errors"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// straight fetches the chain of one issue without a look at what the remote has:
// git asks it for that ref alone, and so it takes no longer where there are many.
// ok is false where that is not known to be the answer, and a look has to find out.
// known says that something of it is here: a depth would cut that, too.
func (l *line) straight(ctx context.Context, i checkpoint.Issue, known bool) (in map[checkpoint.Issue]arrival, ok bool, err error) {
	l.s.sweepIncoming(ctx)
	depth := 0
	if !known {
		if depth, err = l.s.depth(ctx); err != nil {
			return nil, false, err
		}
	}
	in = map[checkpoint.Issue]arrival{}
	start := time.Now()
	err = l.bringAll(ctx, LiveRef, depth, []checkpoint.Issue{i}, in)
	switch {
	case err == nil, hasNot(err, LiveRef(i)):
		return in, true, nil
	case ctx.Err() != nil, l.timeout > 0 && time.Since(start) >= l.timeout:
		return nil, false, err
	}
	return nil, false, nil
}

// knows reports whether something of an issue is here that its chain at a remote
// may share.
func (s *Store) knows(remote string, i checkpoint.Issue, here map[string]plumbing.Hash) bool {
	return !here[s.trackingRef(remote, i)].IsZero() || !here[LiveRef(i)].IsZero() || !here[ArchiveRef(i)].IsZero()
}

// hasNot reports that git says of a remote that it has no such ref.
func hasNot(err error, ref string) bool {
	var git *gitcmd.Error
	return errors.As(err, &git) && explain(git.Stderr) == "couldn't find remote ref "+ref
}
