package capture

import (
	"context"
	"errors"
	"os"
	"time"

	"git-checkpoint/gitstore/internal/git"
)

// A listing holds the lists of the changed and the untracked files. Both are made while
// this process reads the index.
type listing struct {
	changed   <-chan listed[rawChange] // nil if the request does not need the list
	untracked <-chan listed[string]    // likewise; directories end with a slash
	ctx       context.Context
	cancel    context.CancelCauseFunc
	end       time.Time // end of the time limit, or zero
}

// listed is a list or an error.
type listed[T any] struct {
	files []T
	err   error
}

// errBudget ends a listing whose time limit has passed.
var errBudget = errors.New("time limit")

// list starts the lists of a request.
func (s *Source) list(ctx context.Context, req Request) *listing {
	l := &listing{}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	if req.Untracked { // first, because it takes longer
		l.untracked = s.listUntracked(l.ctx)
	}
	if req.Worktree {
		l.changed = start(l.ctx, s.changedFiles)
	}
	return l
}

// listUntracked starts git before it returns. In a goroutine, git could start milliseconds
// later, because other goroutines use the processors.
func (s *Source) listUntracked(ctx context.Context) <-chan listed[string] {
	run, err := s.git().Start(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	return start(ctx, func(context.Context) ([]string, error) {
		if err != nil {
			return nil, err
		}
		out, err := run.Finish(nil)
		return git.Fields(out), err
	})
}

func start[T any](ctx context.Context, list func(context.Context) ([]T, error)) <-chan listed[T] {
	done := make(chan listed[T], 1)
	go func() {
		files, err := list(ctx)
		done <- listed[T]{files, err}
	}()
	return done
}

// limit ends the listing after a time. The caller stops the timer.
func (l *listing) limit(after time.Duration) *time.Timer {
	l.end = time.Now().Add(after)
	return time.AfterFunc(after, func() { l.cancel(errBudget) })
}

// late reports whether the time limit has passed, also if the timer did not run yet on busy
// processors.
func (l *listing) late() bool {
	return context.Cause(l.ctx) == errBudget || !l.end.IsZero() && time.Now().After(l.end)
}

// An indexStamp identifies a version of the index file. Git replaces the file at each
// change.
type indexStamp struct{ info os.FileInfo } // nil if there is no index

func stampOf(path string) indexStamp {
	info, err := os.Stat(path)
	if err != nil {
		return indexStamp{}
	}
	return indexStamp{info}
}

func (s indexStamp) equal(t indexStamp) bool {
	if s.info == nil || t.info == nil {
		return s.info == t.info
	}
	return os.SameFile(s.info, t.info) && s.info.Size() == t.info.Size() && s.info.ModTime().Equal(t.info.ModTime())
}
