package workflow

import (
	"os"
	"path/filepath"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout"
)

// stories updates the lead's record from the records of its stories. It reports whether
// the lead has stories.
func (t *taskStep) stories(l *tasks.List) bool {
	r := l.Record()
	if story.Is(r) || len(t.ids) > 0 {
		return false
	}
	standings := story.Recover(r, func(id string) *checkpoint.Record { return storyRecord(t.c, id) })
	for _, s := range standings {
		t.tell("%s", s)
		if dir := layout.Worktree(r, s.Story); dir != "" && t.c.Store.Root() != "" && !isThere(t.c, dir) {
			t.tell("its worktree %s is gone: git worktree add %s <branch>", phrase.QuotePath(dir), phrase.QuoteArg(dir))
		}
	}
	if len(standings) > 0 {
		layout.RecoverState(r)
	}
	return len(standings) > 0
}

// isThere reports whether a path exists, relative to the root or absolute.
func isThere(c *invoke.Invocation, name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.Store.Root(), filepath.FromSlash(name))
	}
	_, err := os.Stat(name)
	return err == nil
}

// storyRecord returns the newest record of a story, or nil if it cannot be read.
func storyRecord(c *invoke.Invocation, id string) *checkpoint.Record {
	issue, err := checkpoint.ParseIssue(id)
	if err != nil {
		return nil
	}
	_, r, err := c.Store.NewestRecord(c.Ctx, issue)
	if err != nil {
		return nil
	}
	return r
}
