package refs

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/filelock"
)

// A Turn is the right to read an issue's refs and move them, among the
// processes of this program: the lock of a file, which the git that moves the
// refs inherits, so that it lasts until both have ended. A nil one is of none.
//
// Git's own compare-and-swap is not enough. It looks at packed-refs before it
// locks a ref, and takes a file of the same size, date and inode for the one
// that it has read. Beside `git pack-refs`, it lets a ref move from a value
// that it has no more, and what was saved between is lost. Among processes
// that take turns, such a git refuses the right value instead. It also keeps a
// crowd from doing its work in vain.
//
// The file holds the moves that are under way, "<ref> <new>" in each line. A
// git that was killed leaves its locks, which no git removes. Whoever has the
// turn knows that the git of the turn before is dead; a lock that holds the
// very commit that it was to write is its own, and is removed.
//
// A turn may be that of several issues, each with a file and the moves of its
// own refs in it. Their locks are taken in the order of issues, so that nobody
// waits for somebody who waits.
type Turn struct {
	dir   Dir
	files []turnFile // none where there are no locks
	whole bool       // all issues that were asked for
}

type turnFile struct {
	*os.File
	issue string // as it is named in refs
}

// turnLimit bounds the wait for a turn: a process may have been stopped in
// the middle of its own. Then compare-and-swap has to do.
const turnLimit = 10 * time.Second

// Take takes the turns of issues, named as in refs, that can be had, nil for none.
func (d Dir) Take(ctx context.Context, issues []string) *Turn {
	t := &Turn{dir: d}
	folder := filepath.Join(d.Path, "git-checkpoint", "lock")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil
	}
	deadline := time.Now().Add(turnLimit)
	for _, issue := range slices.Sorted(slices.Values(issues)) {
		if f := d.takeOne(ctx, filepath.Join(folder, issue), time.Until(deadline)); f != nil {
			t.files = append(t.files, turnFile{f, issue})
		}
	}
	if len(t.files) == 0 {
		return nil
	}
	t.whole = len(t.files) == len(issues)
	t.clean()
	return t
}

// takeOne takes the lock of a file, nil where that is not to be had.
func (d Dir) takeOne(ctx context.Context, path string, limit time.Duration) *os.File {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil
	}
	d.Share(filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path) // who else saves here takes turns too
	if !filelock.Wait(ctx, f, limit) {
		f.Close()
		time.Sleep(rand.N(3 * time.Millisecond))
		return nil
	}
	return f
}

// End gives the turn to others.
func (t *Turn) End() {
	if t != nil {
		for _, f := range t.files {
			f.Close()
		}
	}
}

// Whole reports whether it is the turn of all issues that were asked for.
func (t *Turn) Whole() bool { return t != nil && t.whole }

// Locks are the files that have to stay open as long as a git moves the refs.
func (t *Turn) Locks() []*os.File {
	if t == nil {
		return nil
	}
	locks := make([]*os.File, len(t.files))
	for k, f := range t.files {
		locks[k] = f.File
	}
	return locks
}

// Begin notes which refs are about to move. A note that cannot be written only
// means that a lock stays where it is left.
func (t *Turn) Begin(moves []Move) {
	if t == nil {
		return
	}
	notes := map[string][]byte{}
	for _, m := range moves {
		issue := t.files[0].issue
		if len(t.files) > 1 || !t.whole {
			issue = path.Base(m.Name)
		}
		notes[issue] = fmt.Appendf(notes[issue], "%s %s\n", m.Name, m.New)
	}
	for _, f := range t.files {
		_, _ = f.WriteAt(notes[f.issue], 0)
	}
}

// Done says that who moved the refs has ended. One that failed may have been
// killed.
func (t *Turn) Done(err error) {
	switch {
	case t == nil:
	case err != nil:
		t.clean()
	default:
		for _, f := range t.files {
			_ = f.Truncate(0)
		}
	}
}

// clean removes the locks of a git that was killed, by what it was to do.
func (t *Turn) clean() {
	for _, f := range t.files {
		t.cleanAfter(f.File)
	}
}

func (t *Turn) cleanAfter(f *os.File) {
	note, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	if err != nil || len(note) == 0 {
		return
	}
	for line := range strings.Lines(string(note)) {
		name, commit, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(name) {
			continue
		}
		lock := t.dir.file(name) + ".lock"
		if held, err := os.ReadFile(lock); err == nil && string(held) == commit {
			_ = os.Remove(lock)
		}
	}
	_ = f.Truncate(0)
}
