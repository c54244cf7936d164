package share

import (
	"context"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
)

// A conn is a remote connection that transfers chains by issue.
type conn struct {
	*remote.Conn
	s *Sharer
}

func (s *Sharer) Connect(op, name string, timeout time.Duration, quiet bool) (*conn, error) {
	if name == "" {
		return nil, chain.ErrNoRemote
	}
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n\r") { // git would parse the name as an option or as several lines
		return nil, &repo.RefusedError{Reason: fmt.Sprintf("remote %q: no remote is called that", name), Hint: "git remote -v"}
	}
	return &conn{s.Here().Open(op, name, timeout, quiet), s}, nil
}

// clearBefore removes ref locks that killed processes left in this repository, so that
// git can create and move refs. It ignores errors: an operation that is blocked by a
// remaining lock reports it.
func (s *Sharer) clearBefore(ctx context.Context, dryRun bool) {
	if !dryRun {
		_ = s.SettleInterrupted(ctx)
	}
}
