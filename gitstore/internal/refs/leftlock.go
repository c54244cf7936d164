package refs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
)

// Git creates the lock file of a ref empty and writes the new value later. For a
// deletion, git writes no value. So the lock file of a killed git may be empty or
// incomplete. An incomplete lock file may also belong to an unrelated, running git.
//
// A lock file belongs to a dead git of ours if it contains the exact value of a note. An
// incomplete lock file is ours under three conditions: it is younger than the note, its
// content is stable for a while, and no git older than the file runs in the repository.

// clearLocks removes the lock files of a killed transaction. The caller must hold the
// lock of the note. clearLocks returns moves with lock files that a running git may hold.
func (d Dir) clearLocks(n *Note) (left []staleMove) {
	for _, m := range n.all() {
		want := ""
		if !m.New.IsZero() {
			want = m.New.String() + "\n"
		}
		busy := false
		if strings.HasPrefix(m.Name, IncomingRefs) && m.New.IsZero() { // fetch does not know the value in advance
			busy = d.ClearLock(d.file(m.Name)+".lock", m.at)
		} else {
			busy = d.clearLock(d.file(m.Name)+".lock", want, m.at)
		}
		if m.Old == m.New { // git reflog expire
			busy = d.ClearLock(d.log(m.Name)+".lock", m.at) || busy
		}
		if busy {
			left = append(left, m)
		}
	}
	return left
}

// clearLock removes the lock file of a ref with the intended value want, "" for a
// deletion. It reports whether a running git may hold the lock.
func (d Dir) clearLock(path, want string, since time.Time) (busy bool) {
	held, err := os.ReadFile(path)
	switch {
	case err != nil:
		return false
	case want != "" && string(held) == want:
		return os.Remove(path) != nil
	case !strings.HasPrefix(want, string(held)):
		return false
	}
	return d.ClearLock(path, since)
}

// ClearLock removes a lock file that is younger than since, if its content is stable and no
// running git may hold it. It reports whether a running git may hold the lock.
func (d Dir) ClearLock(path string, since time.Time) (busy bool) {
	before, err := os.Lstat(path)
	if err != nil || since.IsZero() || before.ModTime().Before(since) {
		return false
	}
	if age := time.Since(before.ModTime()); age < unchangedFor {
		time.Sleep(unchangedFor - max(age, 0))
	}
	if d.GitRuns(before.ModTime()) {
		return true
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, now) || !now.ModTime().Equal(before.ModTime()) || now.Size() != before.Size() {
		return err == nil
	}
	return os.Remove(path) != nil
}

// clearShared removes lock files that a killed transaction of any issue has left for
// shared files: packed-refs, or the list and tables of a reftable. The caller holds the
// locks of notes.
func (d Dir) clearShared(notes []*Note) {
	packed := filepath.Join(d.Path, "packed-refs.lock")
	tables, _ := filepath.Glob(filepath.Join(d.Path, "reftable", "*.lock"))
	isPacked := fsutil.Exists(packed)
	if !isPacked && len(tables) == 0 {
		return
	}
	d.eachNote(notes, func(n *Note) {
		if m := n.lockedPackedRefs(); isPacked && m != nil && !d.ClearLock(packed, m.at) && !fsutil.Exists(packed) {
			d.ClearLock(filepath.Join(d.Path, "packed-refs.new"), m.at)
		}
		if all := n.all(); len(all) > 0 {
			for _, table := range tables {
				d.ClearLock(table, all[0].at)
			}
		}
	})
}

// eachNote calls f for notes, and for the notes of other issues whose processes have
// exited.
func (d Dir) eachNote(notes []*Note, f func(*Note)) {
	held := map[string]bool{}
	for _, n := range notes {
		held[n.Issue] = true
		f(n)
	}
	entries, _ := os.ReadDir(d.noteFolder())
	for _, e := range entries {
		issue := e.Name()
		if info, err := e.Info(); held[issue] || issue[0] == '.' || err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		file, err := filelock.Open(filepath.Join(d.noteFolder(), issue), 0)
		if err != nil {
			continue
		}
		if file.Try() == nil {
			f(readNote(file.File, issue))
		}
		file.Close()
	}
}

// Interrupted returns the issues, named as in refs, that have the note of a killed
// process.
func (d Dir) Interrupted() []string {
	var names []string
	d.eachNote(nil, func(n *Note) {
		if len(n.all()) > 0 {
			names = append(names, n.Issue)
		}
	})
	return names
}

// IsInterrupted reports whether an issue has the note of a killed process. If there is no
// note, IsInterrupted makes one system call.
func (d Dir) IsInterrupted(issue string) bool {
	path := filepath.Join(d.noteFolder(), issue)
	if info, err := os.Lstat(path); err != nil || info.Size() == 0 {
		return false
	}
	return !filelock.IsHeld(path)
}

func (d Dir) noteFolder() string { return filepath.Join(d.Path, "git-checkpoint", "lock") }

// worktrees returns the directories in which git processes of the repository run.
func (d Dir) worktrees() []string {
	dirs := []string{d.Path}
	if filepath.Base(d.Path) == ".git" {
		dirs = append(dirs, filepath.Dir(d.Path))
	}
	links, _ := filepath.Glob(filepath.Join(d.Path, "worktrees", "*", "gitdir"))
	for _, link := range links {
		if data, err := os.ReadFile(link); err == nil {
			dirs = append(dirs, filepath.Dir(string(bytes.TrimSpace(data))))
		}
	}
	return dirs
}
