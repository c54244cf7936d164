package repo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/refs"
)

// If git cannot open the configuration of a repository with reftables, for example
// without free file descriptors, it assumes refs in files. It finds no refs, creates new
// refs as files that no later git reads, and exits with status 0.

// ErrAsFiles reports that git assumed refs in files.
var ErrAsFiles = errors.New("git could not read the repository's configuration")

// RemoveStrayFiles removes refs that git created as files in a repository with reftables.
// If it finds such a file, it fails, since no ref has moved. Updates of existing refs
// need no check, because such a git does not find existing refs.
func (s *Repo) RemoveStrayFiles(moves []refs.Move) error {
	if !fsutil.Exists(filepath.Join(s.Info.CommonDir, "reftable", "tables.list")) {
		return nil
	}
	var err error
	for _, m := range moves {
		file := filepath.Join(s.Info.CommonDir, filepath.FromSlash(m.Name))
		if !m.Old.IsZero() || !holds(file, m) {
			continue
		}
		err = ErrAsFiles
		os.Remove(file)
		os.Remove(filepath.Join(s.Info.CommonDir, "logs", filepath.FromSlash(m.Name)))
	}
	return err
}

// holds reports whether a file contains the new value of a move.
func holds(file string, m refs.Move) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(data)) == m.New.String()
}
