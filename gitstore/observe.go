package gitstore

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// observe finds out what the paths of targets are now, in the staging area
// and in the worktree.
func (s *Store) observe(ctx context.Context, targets []target) (func(string) state, error) {
	now := make(map[string]*state, len(targets))
	if err := s.observeIndex(ctx, targets, now); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return nil, fmt.Errorf("open worktree: %w", err)
	}
	defer root.Close()
	c := capture{s: s, ctx: ctx, k: s.newSink()}
	var regular []file
	for _, t := range targets {
		if f, ok := s.lookAt(root, t.path, now[t.path], c.k); ok {
			regular = append(regular, f)
		}
	}
	hashes, err := c.hashAll(regular)
	if err != nil {
		return nil, err
	}
	for i, f := range regular {
		st := now[f.path]
		if st.work.hash = hashes[i]; hashes[i].IsZero() {
			if st.work.hash, err = s.hashFile(ctx, f.path); err != nil {
				return nil, err
			}
		}
	}
	return func(path string) state { return *now[path] }, nil
}

// observeIndex fills in the staging area's side.
func (s *Store) observeIndex(ctx context.Context, targets []target, now map[string]*state) error {
	x, done, err := s.openIndex(ctx)
	if err != nil {
		return err
	}
	defer done()
	for _, t := range targets {
		st := &state{}
		for _, e := range x.Lookup(t.path) {
			if e.IntentToAdd {
				continue
			}
			st.index[e.Stage] = side{uint32(e.Mode), e.Hash}
			st.sparse = st.sparse || e.SkipWorktree
		}
		now[t.path] = st
	}
	return x.Err()
}

// lookAt fills in the worktree's side of one path, but for the hash of a
// regular file, which it returns to be asked for.
func (s *Store) lookAt(root *os.Root, name string, st *state, k *sink) (file, bool) {
	native := filepath.FromSlash(name)
	if blocked := blockage(root, name); blocked != "" {
		st.blockage = blocked
		return file{}, false
	}
	info, err := root.Lstat(native)
	if err != nil {
		return file{}, false
	}
	st.work.mode = modeOf(info)
	switch st.work.mode {
	case 0:
		st.blockage = "neither a file nor a symlink"
	case modeSymlink:
		target, err := root.Readlink(native)
		if err != nil {
			st.blockage = "not readable"
			break
		}
		st.work.hash = plumbing.ComputeHash(plumbing.BlobObject, []byte(target))
	default:
		s.steadyMode(st)
		return file{path: name, mode: st.work.mode}, true
	}
	return file{}, false
}

// steadyMode takes the executable bit from the staging area where the file
// system has none.
func (s *Store) steadyMode(st *state) {
	value, ok := gitcmd.Last(s.config, "core.filemode")
	if ok && !gitcmd.Bool(value) && (st.index[0].mode == modeFile || st.index[0].mode == modeExec) {
		st.work.mode = st.index[0].mode
	}
}

// blockage says why nothing can be put at a path: what should be a directory
// above it is a symlink or a file. Symlinks are never written through.
func blockage(root *os.Root, name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(filepath.FromSlash(dir))
		if err == nil && !info.IsDir() {
			return fmt.Sprintf("%q is not a directory", dir)
		}
	}
	return ""
}

// hashFile is the blob that git would make of a file.
func (s *Store) hashFile(ctx context.Context, name string) (plumbing.Hash, error) {
	g := s.git
	g.Dir = s.repo.root
	line, err := g.Line(ctx, "hash-object", "--", name)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read %q: %w", name, err)
	}
	return plumbing.NewHash(line), nil
}
