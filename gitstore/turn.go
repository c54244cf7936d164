package gitstore

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A turn is the right to read an issue's refs and move them, among the
// processes of this program: the lock of a file, which the git that moves the
// refs inherits, so that it lasts until both have ended.
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
type turn struct {
	s    *Store
	file *os.File // nil where there are no locks
}

// turnLimit bounds the wait for a turn: a process may have been stopped in
// the middle of its own. Then compare-and-swap has to do.
const turnLimit = 10 * time.Second

// inTurn runs f in the issue's turn. A turn that cannot be had, as in a
// repository that is read-only, is no error.
func (s *Store) inTurn(ctx context.Context, issue checkpoint.Issue, f func() error) error {
	s.turn = s.takeTurn(ctx, issue)
	defer func() {
		s.turn.end()
		s.turn = nil
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

func (s *Store) takeTurn(ctx context.Context, issue checkpoint.Issue) *turn {
	path := filepath.Join(s.repo.commonDir, "git-checkpoint", "lock", issue.RefName())
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil
	}
	s.objects.Share(filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path) // who else saves here takes turns too
	if !waitLock(ctx, f, turnLimit) {
		f.Close()
		time.Sleep(rand.N(3 * time.Millisecond))
		return nil
	}
	t := &turn{s, f}
	t.clean()
	return t
}

func (t *turn) end() {
	if t != nil {
		t.file.Close()
	}
}

// lock is the file that has to stay open, nil when there is none.
func (t *turn) lock() *os.File {
	if t == nil {
		return nil
	}
	return t.file
}

// begin notes what git is about to do. A note that cannot be written only
// means that a lock stays where it is left.
func (t *turn) begin(moves []refMove) {
	if t == nil || t.s.repo.refFormat != "files" {
		return
	}
	var b []byte
	for _, m := range moves {
		b = fmt.Appendf(b, "%s %s\n", m.name, m.new)
	}
	_, _ = t.file.WriteAt(b, 0)
}

// done says that git has ended. One that failed may have been killed.
func (t *turn) done(err error) {
	switch {
	case t == nil:
	case err != nil:
		t.clean()
	default:
		_ = t.file.Truncate(0)
	}
}

// clean removes the locks of a git that was killed, by what it was to do.
func (t *turn) clean() {
	note, err := io.ReadAll(io.NewSectionReader(t.file, 0, 1<<20))
	if err != nil || len(note) == 0 {
		return
	}
	for line := range strings.Lines(string(note)) {
		name, commit, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(name) {
			continue
		}
		lock := filepath.Join(t.s.repo.commonDir, filepath.FromSlash(name)) + ".lock"
		if held, err := os.ReadFile(lock); err == nil && string(held) == commit {
			_ = os.Remove(lock)
		}
	}
	_ = t.file.Truncate(0)
}
