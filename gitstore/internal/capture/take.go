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

// noLimit is more than any size.
const noLimit = 1 << 62

// A candidate is a path of the worktree that a capture may take.
type candidate struct {
	path    string
	mode    uint32      // as git sees it, 0 to look
	known   trees.Entry // what is staged there: the same is not taken again
	status  string      // for files_modified, "" to leave it out
	maxSize int64
	must    bool // leaving it out is an error
	size    int64
}

// git runs at the root.
func (c *capture) git() git.Git {
	g := c.Git
	g.Dir = c.Root
	return g
}

// take reads files as git would add them, and names those it leaves out.
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
	var through []int // files that only git can store, for their filters
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

// look finds out what stands at a path, or why it cannot be taken.
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

// fileMode reports whether executable bits mean something here.
func (s *Source) fileMode() bool {
	value, ok := git.Last(s.Config, "core.filemode")
	return !ok || git.Bool(value)
}

// store adds a file to the save's own batch where it is stored as it stands,
// and says so where only git can store it, through its filters.
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
