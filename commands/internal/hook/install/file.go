package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/fsutil"
)

// keepDir returns the directory for copies of changed files: inside the repository, or
// with --global inside the user's state directory.
func (r *Repo) keepDir() (string, error) {
	if !r.Global {
		return filepath.Join(r.c.Store.CommonDir(), "git-checkpoint", "before"), nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "git-checkpoint", "before"), nil
}

// change plans a change of a file of an agent. A file outside of the repository, to which a symlink in the
// worktree leads, is changed only by the command forced.
func (r *Repo) change(f atomicfile.Replacement, forced, what string, do func() error) ([]HookChange, error) {
	if r.Global || r.Force || r.within(f.Path) {
		return []HookChange{{what + r.shownFile(f.Path), do}}, nil
	}
	return nil, refuse(forced, "%s leads to %s, outside of this repository", r.shownFile(f.Name), f.Path)
}

// folders reads the list of the folders that installs created. An uninstall removes no others.
func (r *Repo) folders() (atomicfile.Replacement, error) {
	dir, err := r.keepDir()
	if err != nil {
		return atomicfile.Replacement{}, err
	}
	return atomicfile.Read(filepath.Join(dir, "folders"))
}

// removeFolders removes a folder and its parents, if installs created them and they are empty.
func (r *Repo) removeFolders(dir string) {
	list, err := r.folders()
	made := strings.Split(list.Text, "\n")
	isMade := func(top string) bool {
		rel, err := filepath.Rel(top, dir)
		return top != "" && err == nil && filepath.IsLocal(rel)
	}
	for err == nil && slices.ContainsFunc(made, isMade) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
	made = slices.DeleteFunc(made, func(top string) bool { return top != "" && !fsutil.Exists(top) })
	if text := strings.Join(made, "\n"); text != list.Text {
		_ = list.Write(text)
	}
}

// keep copies a file, adds the topmost missing folder of its path to the list, applies a change to the file
// and, if this succeeds, records the copy for users.
func (r *Repo) keep(f atomicfile.Replacement, change func() error) error {
	dir, err := r.keepDir()
	if err != nil {
		return err
	}
	kept, err := atomicfile.Keep(dir, f)
	top := ""
	for missing := filepath.Dir(f.Path); !fsutil.Exists(missing); missing = filepath.Dir(missing) {
		top = missing
	}
	if err == nil && top != "" {
		list, listErr := r.folders()
		if err = listErr; err == nil {
			err = list.Write(list.Text + top + "\n")
			r.share(list.Path)
		}
	}
	r.share(dir) // not the copies: settings may hold tokens
	if err == nil {
		err = change()
	}
	if err == nil && f.Text != "" {
		r.Kept = append(r.Kept, view.Kept{Path: r.shownFile(f.Path), Copy: r.shownFile(kept)})
	}
	return err
}

// replace replaces a file's text and keeps a copy of its former text.
func (r *Repo) replace(f atomicfile.Replacement, text string) error {
	return r.keep(f, func() error { return f.Write(text) })
}

// share sets the modes of files in the folder of a shared repository.
func (r *Repo) share(paths ...string) {
	for _, path := range paths {
		rel, err := filepath.Rel(r.c.Store.CommonDir(), path)
		if err == nil && filepath.IsLocal(rel) && !r.Global {
			r.c.Store.Share(path)
		}
	}
}

// hookMode returns the mode of a hook file. Husky's files need no executable bit.
func hookMode(s hook.Style) os.FileMode {
	if s.Bare {
		return 0o666
	}
	return 0o777
}

// copyAside copies a hook file or symlink to the directory Aside. The hook remains in its place
// until a wrapper replaces it.
func (r *Repo) copyAside(path, aside string) error {
	if err := os.MkdirAll(filepath.Dir(aside), 0o777); err != nil {
		return err
	}
	r.share(filepath.Dir(aside))
	if sameHook(path, aside) {
		return nil // left by a killed install
	}
	target, err := os.Readlink(path)
	if err == nil {
		if !filepath.IsAbs(target) {
			target = "../" + target
		}
		return os.Symlink(target, aside)
	}
	f, err := atomicfile.Read(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	to, err := atomicfile.Read(aside)
	if err != nil {
		return err
	}
	return errors.Join(to.Create(f.Text, info.Mode().Perm()), os.Chmod(aside, info.Mode().Perm()))
}

// sameHook reports whether two paths lead to equal files.
func sameHook(path, aside string) bool {
	one, err := atomicfile.Read(path)
	other, otherErr := atomicfile.Read(aside)
	return err == nil && otherErr == nil && one.Exists() && one.IsEqual(other)
}

// putBack moves a hook back from the directory Aside, over its wrapper.
func putBack(aside, path string) error {
	target, err := os.Readlink(aside)
	if err != nil {
		err = os.Rename(aside, path)
	} else {
		if !filepath.IsAbs(target) {
			target = strings.TrimPrefix(target, "../")
		}
		if err = atomicfile.PlaceSymlink(path, target); err == nil {
			err = os.Remove(aside)
		}
	}
	if err == nil {
		os.Remove(filepath.Dir(aside)) // fails if another hook is in the directory
	}
	return err
}

// removeHook removes a file that was created for the block, or moves the original hook
// back.
func removeHook(f atomicfile.Replacement, path, aside string) error {
	if _, err := os.Lstat(aside); err != nil {
		return f.Remove()
	}
	now, err := atomicfile.Read(path)
	if err != nil {
		return err
	}
	if now.Text != f.Text {
		return atomicfile.ErrChanged
	}
	return putBack(aside, path)
}
