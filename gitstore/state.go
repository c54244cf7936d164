package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// resumedFile says which checkpoint of an issue was resumed in this worktree
// since its last save: the next save starts from that record.
func (s *Store) resumedFile(i checkpoint.Issue) string {
	return filepath.Join(s.stateDir(), "resumed", i.RefName())
}

// SetResumed notes that a checkpoint was resumed in this worktree.
func (s *Store) SetResumed(c *Checkpoint) error {
	return s.setResumed(c.Issue, c.ID)
}

func (s *Store) setResumed(i checkpoint.Issue, id checkpoint.ID) error {
	if id == "" {
		err := os.Remove(s.resumedFile(i))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return writeFile(s.resumedFile(i), []byte(string(id)+"\n"))
}

// resumed is the checkpoint that was resumed here, nil when there is none or
// it is gone.
func (s *Store) resumed(i checkpoint.Issue) *Checkpoint {
	data, err := os.ReadFile(s.resumedFile(i))
	if err != nil {
		return nil
	}
	id, err := checkpoint.ParseID(strings.TrimSpace(string(data)))
	if err != nil {
		return nil
	}
	c, err := s.Find(context.Background(), i, string(id))
	if err != nil {
		return nil
	}
	return c
}

// Session is this worktree's session id, made by fresh when there is none yet.
func (s *Store) Session(fresh func() string) string {
	path := filepath.Join(s.stateDir(), "session")
	if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
		return strings.TrimSpace(string(data))
	}
	id := fresh()
	if err := writeFile(path, []byte(id+"\n")); err != nil {
		return id // a session that cannot be kept is a session all the same
	}
	return id
}
