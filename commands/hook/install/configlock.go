package install

import (
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/commands/atomicfile"
	"git-checkpoint/commands/hook"
	"git-checkpoint/commands/output"
)

// A git config that is killed leaves the lock of its file, and every later one
// fails. So a mark stands beside the copies as long as this program's git config
// runs: a lock that is younger than the mark is that of a git which was killed
// with this program, if no git runs in the repository.

// runConfig runs git config in the file of the scope.
func (r *Repo) runConfig(args []string) error {
	mark, lock, err := r.configMark()
	if err != nil {
		return err
	}
	if info, err := os.Lstat(mark); err == nil && r.ClearLock != nil && !r.Global {
		r.ClearLock(lock, info.ModTime())
	}
	if !exists(lock) {
		os.Remove(mark) // a new one has the present time
		f, err := atomicfile.Read(mark)
		if err == nil {
			err = f.Write(filepath.Base(lock) + "\n")
		}
		if err != nil {
			return err
		}
	}
	_, err = r.Git.Output(r.Context, append([]string{"config", "--" + r.scope()}, args...)...)
	if !exists(lock) {
		os.Remove(mark)
		return err
	}
	if err != nil {
		shown := r.shownFile(lock)
		return refuse("rm "+output.Shell(shown)+", if no git runs", "%w: a git that was killed may have left %s", err, shown)
	}
	return nil
}

// configMark returns the paths of the mark and of the lock that git takes.
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

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// RemoveStale removes the temporary files of installs and uninstalls that were
// killed. One of them may be a second name of a hook file.
func (r *Repo) RemoveStale() {
	for _, s := range r.sites(r.Global) {
		for _, e := range hook.Events() {
			atomicfile.RemoveStale(s.file(e))
		}
	}
}
