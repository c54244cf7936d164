package gitstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/remote"
)

// A conn is a connection to a remote, over which chains go by issue.
type conn struct {
	*remote.Conn
	s *Store
}

func (s *Store) connect(op, name string, timeout time.Duration, quiet bool) (*conn, error) {
	if name == "" {
		return nil, ErrNoRemote
	}
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n\r") { // git would take it for something else
		return nil, &RefusedError{Reason: fmt.Sprintf("remote %q: no remote is called that", name), Hint: "git remote -v"}
	}
	return &conn{s.here().Open(op, name, timeout, quiet), s}, nil
}

// clearBefore removes the locks that killed processes have left here, so that git
// can make and move refs. What cannot be settled is reported by the command that
// needs it.
func (s *Store) clearBefore(ctx context.Context, dryRun bool) {
	if !dryRun {
		_ = s.SettleInterrupted(ctx)
	}
}
