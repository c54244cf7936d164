package refs

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil/filelock"
)

// An IssueLock protects the refs of one or more issues against other processes of this
// program. It locks a file for each issue, which child git processes inherit, so that the lock
// lasts until this process and its git have exited. A nil IssueLock locks no issue.
//
// Git's compare-and-swap alone is not sufficient. Git reads packed-refs before it locks a
// ref, and assumes that a file of equal size, date and inode is unchanged. During `git
// pack-refs`, git may therefore accept an outdated old value, which loses a concurrent
// save. Among processes with an IssueLock, such a git rejects the correct old value
// instead. The lock also avoids duplicate work in parallel processes.
type IssueLock struct {
	files []*filelock.File
	all   bool // all requested issues are locked
}

// Bookkeeping replaces the issue in locks of refs that belong to no issue. It is not a valid issue
// name.
const Bookkeeping = "%refs"

// lockTimeout limits the wait for a lock that a stopped process may hold. After the
// timeout, the caller relies on compare-and-swap.
const lockTimeout = 10 * time.Second

// Lock locks issues, named as in refs, in their order to prevent deadlocks. It skips issues that it
// cannot lock, and returns nil if it can lock no issue.
func (r *Reader) Lock(ctx context.Context, issues []string) *IssueLock {
	folder := filepath.Join(r.Path, "git-checkpoint", "lock")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil
	}
	r.Share(filepath.Dir(folder), folder) // other users of a shared repository lock it too
	t := &IssueLock{}
	deadline := time.Now().Add(lockTimeout)
	for _, issue := range slices.Sorted(slices.Values(issues)) {
		f, err := filelock.Open(filepath.Join(folder, issue), os.O_CREATE)
		if err != nil {
			continue
		}
		r.Share(f.Name())
		if f.Wait(ctx, time.Until(deadline)) != nil {
			f.Close()
			time.Sleep(rand.N(3 * time.Millisecond))
			continue
		}
		t.files = append(t.files, f)
	}
	if len(t.files) == 0 {
		return nil
	}
	t.all = len(t.files) == len(issues)
	return t
}

// HasAll reports whether all requested issues are locked.
func (t *IssueLock) HasAll() bool { return t != nil && t.all }

// Unlock releases all locks.
func (t *IssueLock) Unlock() {
	if t != nil {
		for _, f := range t.files {
			f.Close()
		}
	}
}

// maxInherited limits the locks that a git inherits, because each is an open file.
const maxInherited = 100

// Files returns the locked files, unless they are too many. Pass them to each git that updates the
// refs, so that they stay open until git exits.
func (t *IssueLock) Files() []*os.File {
	if t == nil || len(t.files) > maxInherited {
		return nil
	}
	files := make([]*os.File, len(t.files))
	for k, f := range t.files {
		files[k] = f.File
	}
	return files
}

// A killed git leaves its lock files, and git never removes them. The lock file of a ref exists for
// some milliseconds, or as long as a hook runs.

// staleAfter is the age from which an unchanged lock file of a ref was left by a killed git.
const staleAfter = time.Minute

// SetAside moves lock files away that a killed git has left, and names them in a warning. The caller
// holds the lock of an issue, so no other process of this program uses the files.
func (r *Reader) SetAside(locks ...string) {
	for _, lock := range locks {
		info, err := os.Lstat(lock)
		if err != nil || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		name, err := filepath.Rel(r.Path, lock)
		if err != nil {
			continue
		}
		kept := filepath.Join(r.Path, "git-checkpoint", "broken", strings.ReplaceAll(filepath.ToSlash(name), "/", "~"))
		if err := os.MkdirAll(filepath.Dir(kept), 0o777); err != nil {
			continue
		}
		r.Share(filepath.Dir(kept))
		if os.Rename(lock, kept) == nil {
			r.Notify("%s is the lock of a git that was killed; moved it to %s", lock, kept)
		}
	}
}

// SetAsideLocks is SetAside for the lock files of the moved refs in the files backend. The locks of
// packed-refs and of a reftable belong to all refs of the repository: a git of the user may hold them
// for longer than a minute, and all its refs would be lost. A failed move names them, see nameLock.
func (r *Reader) SetAsideLocks(moves []Move) {
	if !r.Files {
		return
	}
	var locks []string
	for _, m := range moves {
		locks = append(locks, r.file(m.Name)+".lock", r.file("logs/"+m.Name)+".lock")
	}
	r.SetAside(locks...)
}
