package capture

import (
	"context"
	"errors"
	"os"

	"git-checkpoint/gitstore/internal/git"
)

// A listing holds git's lists of the changed and the untracked files. Both git processes
// run while this process reads the index.
type listing struct {
	changed, untracked <-chan listed // nil if the request does not need the list
	ctx                context.Context
	cancel             context.CancelCauseFunc
}

// listed is the output of git, split at NUL.
type listed struct {
	fields []string
	err    error
}

// errBudget ends a listing whose time limit has passed.
var errBudget = errors.New("time limit")

// list starts the git processes of a request.
func (s *Source) list(ctx context.Context, req Request) *listing {
	l := &listing{}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	if req.Worktree {
		l.changed = s.start(l.ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
	}
	if req.Untracked {
		l.untracked = s.start(l.ctx, "ls-files", "--others", "--exclude-standard", "-z")
	}
	return l
}

func (s *Source) start(ctx context.Context, args ...string) <-chan listed {
	done := make(chan listed, 1)
	go func() {
		out, err := s.git().Output(ctx, args...)
		done <- listed{git.Fields(out), err}
	}()
	return done
}

// late reports whether the time limit has passed.
func (l *listing) late() bool { return context.Cause(l.ctx) == errBudget }

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
