package share

import (
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

// CheckRemote fails with ErrNoRemote for an empty name, and with *RefusedError for a name
// that git would parse as an option or as several lines.
func CheckRemote(name string) error {
	if name == "" {
		return chain.ErrNoRemote
	}
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n\r") {
		return &repo.RefusedError{Reason: fmt.Sprintf("remote %q: no remote is called that", name), Hint: "git remote -v"}
	}
	return nil
}

func (s *Sharer) Connect(op, name string, timeout time.Duration, quiet bool) (*conn, error) {
	if err := CheckRemote(name); err != nil {
		return nil, err
	}
	return &conn{s.Here().Open(op, name, timeout, quiet), s}, nil
}
