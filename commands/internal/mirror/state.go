// Package mirror keeps files in the worktree in sync with the caller's data. It records
// the content last written or read, detects changes since then, and replaces complete
// files. It depends neither on git nor on file formats.
//
// # Guarantees
//
//   - Files are written to a temporary file and renamed: readers see the old file or
//     the new file.
//   - A file is replaced or removed only if it equals the recorded state. Another
//     program can still change it in the microseconds between this check and the
//     rename; no file system on all platforms can close this gap.
//   - Symlinks and symlinked directories are never followed for writes, and nothing
//     outside the root is written.
package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// format is the version of the state's format.
const format = 1

// State records the last known files and their sources. Its stored form is JSON.
type State struct {
	Version int                  `json:"version"`
	Layout  string               `json:"layout"`
	Root    string               `json:"root"`
	Files   map[string]FileState `json:"files"` // key: slash-separated path in the root
	Tips    map[string]string    `json:"tips"`  // source of each owner's files
}

// FileState describes a file as last written or read.
type FileState struct {
	Owner string `json:"owner"`
	Key   string `json:"key"` // issue key in the file's content, or ""
	Sum   string `json:"sum"`
}

// Load reads the state of a layout's files in root. If the state is missing, corrupt or
// of another layout, Load returns a new state, and fresh is true. The state remains valid
// after a move or copy of the repository, because files are identified by content.
func Load(file, layout, root string) (s *State, fresh bool, err error) {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("mirror: %w", err)
	}
	s = &State{}
	if err == nil && json.Unmarshal(data, s) == nil && s.Version == format && s.Layout == layout && s.Files != nil && s.Tips != nil {
		s.Root = root
		return s, false, nil
	}
	return &State{Version: format, Layout: layout, Root: root, Files: map[string]FileState{}, Tips: map[string]string{}}, true, nil
}

// Sum returns a hash of a file's content.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
