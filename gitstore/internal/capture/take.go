package capture

import (
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// noLimit exceeds any file size.
const noLimit = 1 << 62

// A candidate is a worktree path to capture.
type candidate struct {
	path    string
	mode    uint32      // git's mode, 0 if unknown
	known   trees.Entry // staged entry; a file equal to it is not stored
	status  string      // status in files_modified, "" omits the file
	maxSize int64
	must    bool // skipping the file is an error
	size    int64
}

// git returns a git command that runs at the root.
func (c *capture) git() git.Git {
	g := c.Git
	g.Dir = c.Root
	return g
}

// take stores files as git add would, and records skipped files.
func (c *capture) take(wanted []candidate) ([]trees.FileEntry, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	looked := wanted[:0]
	var files []trees.FileEntry
	for _, w := range wanted {
		mode, size, reason := c.look(root, w)
		if reason != "" {
			if err := c.leave(w, size, reason); err != nil {
				return nil, err
			}
			continue
		}
		w.mode, w.size = mode, size
		looked, files = append(looked, w), append(files, trees.FileEntry{Path: w.path, Mode: mode})
	}
	if err := c.hash(root, files); err != nil {
		return nil, err
	}
	var through []int // files that git has to store because of filters
	taken := files[:0]
	for i, f := range files {
		w := looked[i]
		if (trees.Entry{Mode: f.Mode, Hash: f.Hash}) == w.known {
			continue
		}
		reason, filtered := checkpoint.OutOfTime, false
		if !c.late() {
			reason, filtered = c.store(root, w, &f)
		}
		if reason != "" {
			if err := c.leave(w, w.size, reason); err != nil {
				return nil, err
			}
			continue
		}
		if filtered {
			through = append(through, len(taken))
		}
		if w.status != "" {
			c.snap.addFile(f.Path, w.status, false)
		}
		taken = append(taken, f)
	}
	return taken, c.filter(taken, through)
}

func (c *capture) leave(w candidate, size int64, reason string) error {
	if w.must {
		return fmt.Errorf("artifact %q: %s", w.path, reason)
	}
	c.skip(w.path, size, reason)
	return nil
}

// look returns mode and size of a file, or the reason to skip it.
func (c *capture) look(root *os.Root, w candidate) (mode uint32, size int64, reason string) {
	info, err := root.Lstat(filepath.FromSlash(w.path))
	if err != nil {
		return 0, 0, "gone or not readable"
	}
	mode = trees.ModeOf(info)
	if mode == trees.ModeExec && !c.fileMode() {
		mode = trees.ModeFile
	}
	if mode != trees.ModeSymlink && mode != 0 && (w.mode == trees.ModeFile || w.mode == trees.ModeExec) {
		mode = w.mode
	}
	switch {
	case mode == 0:
		return 0, 0, "neither a file nor a symlink"
	case trees.CheckPath(w.path, mode) != nil:
		return 0, info.Size(), "a name that git refuses"
	case info.Size() > w.maxSize:
		return 0, info.Size(), checkpoint.LargerThan(w.maxSize)
	}
	return mode, info.Size(), ""
}

// fileMode reports whether git uses executable bits in this repository.
func (s *Source) fileMode() bool {
	value, ok := git.Last(s.Config, "core.filemode")
	return !ok || git.Bool(value)
}

// store adds an unfiltered file to the sink. If a file needs filters, store returns
// filtered and git stores the file later.
func (c *capture) store(root *os.Root, w candidate, f *trees.FileEntry) (reason string, filtered bool) {
	if f.Hash.IsZero() {
		return "not readable", false
	}
	if w.size > c.room {
		return checkpoint.OverSize, false
	}
	data, err := content(root, f)
	if err != nil {
		return "not readable", false
	}
	c.room -= w.size
	c.snap.Size += w.size
	if f.Mode != trees.ModeSymlink && plumbing.ComputeHash(plumbing.BlobObject, data) != f.Hash {
		return "", true
	}
	f.Hash = c.k.Add(plumbing.BlobObject, data)
	return "", false
}

func content(root *os.Root, f *trees.FileEntry) ([]byte, error) {
	if f.Mode == trees.ModeSymlink {
		target, err := root.Readlink(filepath.FromSlash(f.Path))
		return []byte(target), err
	}
	return root.ReadFile(filepath.FromSlash(f.Path))
}
