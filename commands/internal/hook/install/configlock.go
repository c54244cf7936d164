package install

import (
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/gitstore/fsutil"
)

// A killed `git config` leaves its lock file, and all later calls fail. A mark file next
// to the kept copies therefore exists while `git config` runs. If the lock is newer than
// the mark and no git runs in the repository, the lock's owner was killed together with
// this program.

// runConfig runs git config for the file of the scope.
func (r *Repo) runConfig(args []string) error {
	mark, lock, err := r.configMark()
	if err != nil {
		return err
	}
	if info, err := os.Lstat(mark); err == nil && r.ClearLock != nil && !r.Global {
		r.ClearLock(lock, info.ModTime())
	}
	if !fsutil.Exists(lock) {
		os.Remove(mark) // a new mark has the current time
		f, err := atomicfile.Read(mark)
		if err == nil {
			err = f.Write(filepath.Base(lock) + "\n")
		}
		if err != nil {
			return err
		}
	}
	_, err = r.Git.Output(r.Context, append([]string{"config", "--" + r.scope()}, args...)...)
	if !fsutil.Exists(lock) {
		os.Remove(mark)
		return err
	}
	if err != nil {
		shown := r.shownFile(lock)
		return refuse("rm "+output.Shell(shown)+", if no git runs", "%w: a git that was killed may have left %s", err, shown)
	}
	return nil
}

// configMark returns the paths of the mark and of git's lock file.
func (r *Repo) configMark() (mark, lock string, err error) {
	dir, err := r.keepDir()
	if err != nil {
		return "", "", err
	}
	f, err := atomicfile.Read(r.configFile())
	if err != nil {
		return "", "", fmt.Errorf("read git's configuration: %w", err)
	}
	return filepath.Join(dir, "config-changes"), f.Path + ".lock", nil
}

// RemoveStale removes temporary files of killed installs and uninstalls. A temporary file
// can be a hard link to a hook file.
func (r *Repo) RemoveStale() {
	for _, s := range r.sites(r.Global) {
		for _, e := range hook.Events() {
			atomicfile.RemoveStale(s.file(e))
		}
	}
}
