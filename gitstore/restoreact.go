package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// prepare keeps the bytes of every file that will be replaced, and merges
// where that was chosen. It returns the paths whose merge left conflicts.
func (s *Store) prepare(ctx context.Context, steps []step, k *sink) ([]step, []string, error) {
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	var conflicts []string
	for i := range steps {
		st := &steps[i]
		if !st.work || st.before.work == (side{}) {
			continue
		}
		data, err := readFileOrLink(root, st.path, st.before.work.mode)
		if err != nil {
			return nil, nil, fmt.Errorf("keep %q: %w", st.path, err)
		}
		st.before.raw = k.Add(plumbing.BlobObject, data)
		if !st.merge {
			continue
		}
		clean, err := s.mergeFile(ctx, st, k)
		if err != nil {
			return nil, nil, fmt.Errorf("merge %q: %w", st.path, err)
		}
		if !clean {
			conflicts = append(conflicts, st.path)
		}
	}
	return steps, conflicts, nil
}

func readFileOrLink(root *os.Root, name string, mode uint32) ([]byte, error) {
	if mode == modeSymlink {
		link, err := root.Readlink(filepath.FromSlash(name))
		return []byte(link), err
	}
	return root.ReadFile(filepath.FromSlash(name))
}

// mergeFile makes a step's outcome the merge of the file as it is and the
// checkpoint's, on the ground of the file at HEAD when it was saved.
func (s *Store) mergeFile(ctx context.Context, st *step, k *sink) (clean bool, err error) {
	dir, err := os.MkdirTemp(s.stateDir(), "merge-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	names := []string{"mine", "base", "checkpoint"}
	for i, hash := range []plumbing.Hash{st.before.raw, st.base.hash, st.workAfter.hash} {
		data, err := readAs(k, plumbing.BlobObject, hash)
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(dir, names[i]), data, 0o600); err != nil {
			return false, err
		}
	}
	g := s.git
	g.Dir = dir
	out, err := g.Output(ctx, "merge-file", "-p", "-L", "mine", "-L", "base", "-L", "checkpoint", "mine", "base", "checkpoint")
	if code := gitcmd.Code(err); code < 0 || code > 127 {
		return false, err
	}
	st.workAfter = side{st.workAfter.mode, k.Add(plumbing.BlobObject, out)}
	st.index = false
	return err == nil, nil
}

// act carries out steps: the worktree first, so that the staging area never
// says that a file is there before it is.
func (s *Store) act(ctx context.Context, steps []step) error {
	var put []step
	for _, st := range steps {
		if !st.work {
			continue
		}
		if st.workAfter == (side{}) {
			if err := s.removeFile(st.path); err != nil {
				return err
			}
			continue
		}
		put = append(put, st)
	}
	if err := s.checkout(ctx, put); err != nil {
		return err
	}
	return s.actIndex(ctx, steps)
}

func (s *Store) actIndex(ctx context.Context, steps []step) error {
	var info bytes.Buffer
	for _, st := range steps {
		if st.index {
			indexInfo(&info, st.path, st.indexAfter)
		}
	}
	sparse := pathsOf(steps, func(st step) bool { return st.index && st.before.sparse && st.indexAfter[0] != side{} })
	intent := pathsOf(steps, func(st step) bool { return st.intentOnly })
	return s.editIndex(ctx, info.Bytes(), sparse, intent)
}

// checkout lets git write files, so that its filters apply, from an index that
// holds just these.
func (s *Store) checkout(ctx context.Context, steps []step) error {
	if len(steps) == 0 {
		return nil
	}
	temp := filepath.Join(s.stateDir(), "checkout")
	defer os.Remove(temp)
	if err := errors.Join(ignoreMissing(os.Remove(temp)), ignoreMissing(os.Remove(temp+".lock"))); err != nil {
		return err
	}
	var info, paths bytes.Buffer
	for _, st := range steps {
		fmt.Fprintf(&info, "%o %s\t%s\x00", st.workAfter.mode, st.workAfter.hash, st.path)
		paths.WriteString(st.path + "\x00")
		if err := s.clear(st); err != nil {
			return err
		}
	}
	g := s.git.With("GIT_INDEX_FILE=" + temp)
	g.Dir = s.repo.root
	if _, err := g.Pipe(ctx, info.Bytes(), "update-index", "-z", "--add", "--index-info"); err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	if _, err := g.Pipe(ctx, paths.Bytes(), "checkout-index", "-f", "-q", "-z", "--stdin"); err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// clear makes way for a file whose parent directory vanished or became
// something else since it was planned: that is refused, never written through.
func (s *Store) clear(st step) error {
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if why := blockage(root, st.path); why != "" {
		return &RefusedError{Reason: fmt.Sprintf("write %q: %s", st.path, why)}
	}
	return nil
}

// removeFile removes a file and the directories that it leaves empty.
func (s *Store) removeFile(name string) error {
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if why := blockage(root, name); why != "" {
		return nil // what cannot be reached is not there
	}
	if err := ignoreMissing(root.Remove(filepath.FromSlash(name))); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if root.Remove(filepath.FromSlash(dir)) != nil {
			break
		}
	}
	return nil
}

// putBack writes the very bytes that a file had, past git's filters.
func (s *Store) putBack(root *os.Root, st step) error {
	data, err := readAs(s.objects, plumbing.BlobObject, st.before.raw)
	if err != nil {
		return err
	}
	native := filepath.FromSlash(st.path)
	if err := root.MkdirAll(filepath.Dir(native), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := filepath.Join(filepath.Dir(native), ".git-checkpoint-"+strings.ReplaceAll(filepath.Base(native), " ", "_"))
	if len(filepath.Base(temp)) > 200 {
		temp = filepath.Join(filepath.Dir(native), ".git-checkpoint-"+st.before.raw.String())
	}
	_ = root.Remove(temp)
	if st.before.work.mode == modeSymlink {
		err = root.Symlink(string(data), temp)
	} else {
		perm := fs.FileMode(0o666)
		if st.before.work.mode == modeExec {
			perm = 0o777
		}
		err = root.WriteFile(temp, data, perm)
	}
	if err != nil {
		return err
	}
	return root.Rename(temp, native)
}
