package gitstore

import (
	"os"
	"path/filepath"
	"strings"
)

// Session is this worktree's session id, made by fresh when there is none yet.
func (s *Store) Session(fresh func() string) string {
	path := filepath.Join(s.stateDir(), "session")
	if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
		return strings.TrimSpace(string(data))
	}
	id := fresh()
	if err := s.writeFile(path, []byte(id+"\n")); err != nil {
		return id // a session that cannot be kept is a session all the same
	}
	return id
}
