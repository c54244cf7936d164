package gitstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/fsutil"
	"git-checkpoint/gitstore/refs"
)

// A git that cannot open the configuration of a repository with reftables, as
// without free file descriptors, takes its refs for files. It finds none, and makes
// new ones as files that no later git reads, with exit 0.

// errAsFiles reports such a git.
var errAsFiles = errors.New("git could not read the repository's configuration")

// removeStrayFiles removes the refs that git has made as files in a repository with
// reftables, and fails if there are any: then no ref has moved. Refs that were
// there before cannot be among them, since such a git does not find them.
func (s *Store) removeStrayFiles(moves []refs.Move) error {
	if !fsutil.Exists(filepath.Join(s.repo.CommonDir, "reftable", "tables.list")) {
		return nil
	}
	var err error
	for _, m := range moves {
		file := filepath.Join(s.repo.CommonDir, filepath.FromSlash(m.Name))
		if !m.Old.IsZero() || !holds(file, m) {
			continue
		}
		err = errAsFiles
		os.Remove(file)
		os.Remove(filepath.Join(s.repo.CommonDir, "logs", filepath.FromSlash(m.Name)))
	}
	return err
}

// holds reports whether a file is the ref after a move.
func holds(file string, m refs.Move) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(data)) == m.New.String()
}
