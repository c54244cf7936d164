package repo

import (
	"os"
	"path/filepath"
	"strings"
)

// Session returns the session id of this worktree. Without a stored id, it stores the
// result of fresh.
func (s *Repo) Session(fresh func() string) string {
	path := filepath.Join(s.StateDir(), "session")
	if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
		return strings.TrimSpace(string(data))
	}
	id := fresh()
	if err := s.WriteFile(path, []byte(id+"\n")); err != nil {
		return id // an id that cannot be stored is still valid
	}
	return id
}
