package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A restore does not copy large, unreadable and git-lfs files into the entry of its operation. It
// sets such a file aside: it renames the file into the folder of the entry (operation.Log.Kept). The
// undo renames it back, and sets aside what it replaces by the same rules. A kill never leaves the path
// without a file.

// errNotAside reports that a file could not be set aside, for example because it is on another file
// system than the git directory.
var errNotAside = errors.New("cannot be set aside")

// aside marks an error of a rename that sets a file aside.
func aside(err error) error {
	if err == nil || errors.Is(err, ErrConcurrentChange) {
		return err
	}
	return fmt.Errorf("%w: %w", errNotAside, err)
}

// unread returns a file to be set aside. Size and modification time, which a rename keeps, stand for
// its content.
func unread(d fileOnDisk) fileOnDisk {
	if !d.isAside() {
		text := fmt.Appendf(nil, "%d %d", d.info.Size(), d.info.ModTime().UnixNano())
		d.Hash, d.Mode = plumbing.ComputeHash(plumbing.BlobObject, text), d.Mode|modeAside
	}
	return d
}

// findLFS returns the paths of steps whose files have the attribute of git-lfs.
func (s *worktree) findLFS(ctx context.Context, steps []Step) (map[string]bool, error) {
	if !slices.ContainsFunc(s.repo.Config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, "filter.lfs.") }) {
		return nil, nil
	}
	var paths bytes.Buffer
	for _, st := range steps {
		if st.Work && st.Before.Disk.Mode != 0 && st.Before.Disk.Mode != trees.ModeSymlink {
			paths.WriteString(st.Path + "\x00")
		}
	}
	if paths.Len() == 0 {
		return nil, nil
	}
	out, err := s.repo.RootGit().Pipe(ctx, paths.Bytes(), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, fmt.Errorf("find git-lfs files: %w", err)
	}
	found := map[string]bool{}
	for fields := git.Fields(out); len(fields) >= 3; fields = fields[3:] {
		found[fields[0]] = fields[2] == "lfs"
	}
	return found, nil
}

// keptPlace returns the place in the folder of the entry for a file of a path that is set aside.
func (w *staging) keptPlace(path string, d fileOnDisk) (place, error) {
	if w.kept == nil {
		if err := w.s.repo.Objects.MakeDirs(w.s.kept); err != nil {
			return place{}, aside(err)
		}
		kept, err := openFolder(w.s.kept)
		if err != nil {
			return place{}, aside(err)
		}
		w.kept = kept
	}
	return place{w.kept, plumbing.ComputeHash(plumbing.BlobObject, []byte(d.Hash.String()+path)).String()}, nil
}

// findKept returns the place of the file that was set aside for the path of a step. If a command was killed
// while it exchanged this file for another one to be set aside, the file has the place of the other one.
func (w *staging) findKept(st Step) (place, error) {
	pl, err := w.keptPlace(st.Path, st.After.Disk)
	places := []place{pl}
	if err == nil && st.Before.Disk.isAside() {
		pl, err = w.keptPlace(st.Path, st.Before.Disk)
		places = append(places, pl, pl.next())
	}
	if err != nil {
		return place{}, err
	}
	for _, pl := range places {
		if info, err := pl.dir.Lstat(pl.name); err == nil && info.Mode().IsRegular() && unread(fileOnDisk{info: info}).Hash == st.After.Disk.Hash {
			return pl, nil
		}
	}
	return place{}, trees.Corrupt("operation", "path %q: its file is not in %s", st.Path, w.s.kept)
}
