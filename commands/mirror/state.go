// Package mirror keeps files in the worktree in step with what somebody else
// keeps: it knows what was last written or read there, finds what has changed
// since, and replaces files whole. It knows nothing of git, nor of what is in
// the files.
//
// # What it holds
//
//   - A file is written to a temporary one and renamed: a reader sees the old
//     file or the new.
//   - A file is only replaced or removed while it is what the state says it is.
//     Somebody may still write it between that look and the rename, which takes
//     some microseconds; no file system of every platform can close that gap.
//   - Nothing is written through a link, nor in a directory that is one, and
//     nothing outside the root.
package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// format is the number of the state's form.
const format = 1

// State is what was last seen of the files, and what they were made of.
type State struct {
	Version int                  `json:"version"`
	Layout  string               `json:"layout"`
	Root    string               `json:"root"`
	Files   map[string]FileState `json:"files"` // by the path below the root, with slashes
	Tips    map[string]string    `json:"tips"`  // what each owner's files were made of

	written time.Time // when the state was, by the clock of its file system
}

// FileState is a file as it was written or taken last.
type FileState struct {
	Owner string `json:"owner"`
	Key   string `json:"key"` // what the file itself says it belongs to
	Sum   string `json:"sum"`
	Size  int64  `json:"size"`
	Time  int64  `json:"time"` // of its last change, in nanoseconds
	place        // where it is and when the system changed it
}

// A place is the part of a file's data that a program cannot set. It is zero on a
// system that does not tell it.
type place struct {
	Change int64  `json:"change,omitempty"` // the ctime, in nanoseconds
	Inode  uint64 `json:"inode,omitempty"`
}

// Load reads the state of a layout's files below a root. One that is missing,
// broken or of another layout is a new one, which reports true. A repository that
// was moved or copied has its state still: files are known by their content.
func Load(file, layout, root string) (s *State, fresh bool, err error) {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("mirror: %w", err)
	}
	s = &State{}
	if err == nil && json.Unmarshal(data, s) == nil && s.Version == format && s.Layout == layout && s.Files != nil && s.Tips != nil {
		if info, err := os.Stat(file); err == nil {
			s.written = info.ModTime()
		}
		s.Root = root
		return s, false, nil
	}
	return &State{Version: format, Layout: layout, Root: root, Files: map[string]FileState{}, Tips: map[string]string{}}, true, nil
}

// Encode is the state as it is stored.
func (s *State) Encode() ([]byte, error) { return json.Marshal(s) }

// racy is how close to the state's own date a file's may be without a look
// into it: clocks of file systems are coarse.
const racy = 2 * time.Second

// untouched reports whether a file is that of the state by its size, dates and
// inode alone. The ctime shows a write after which the date was set back.
func (s *State) untouched(e FileState, info fs.FileInfo) bool {
	at, last := placeOf(info), info.ModTime()
	if c := time.Unix(0, at.Change); at.Change != 0 && c.After(last) {
		last = c
	}
	return info.Size() == e.Size && info.ModTime().UnixNano() == e.Time && at == e.place && s.written.Sub(last) > racy
}

// seen notes the data of a file whose content is still that of the state.
func (s *State) seen(name string, e FileState, info fs.FileInfo) {
	e.Size, e.Time, e.place = info.Size(), info.ModTime().UnixNano(), placeOf(info)
	s.Files[name] = e
}

// Refresh takes over what another reading of the state found out about files
// whose content has not changed.
func (s *State) Refresh(from *State) {
	for name, e := range from.Files {
		if was, there := s.Files[name]; there && was.Sum == e.Sum && was.Owner == e.Owner && was.Key == e.Key {
			s.Files[name] = e
		}
	}
}

// Sum stands for the content of a file.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
