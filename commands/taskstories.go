package commands

import (
	"os"
	"path/filepath"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout"
)

// stories holds the lead's record against those of the stories. It reports
// whether there are any.
func (t *taskStep) stories(l *tasks.List) bool {
	r := l.Record()
	if story.Is(r) || len(t.ids) > 0 {
		return false
	}
	standings := story.Recover(r, t.c.storyRecord)
	for _, s := range standings {
		t.tell("%s", s)
		if dir := layout.Worktree(r, s.Story); dir != "" && t.c.store.Root() != "" && !t.c.isThere(dir) {
			t.tell("its worktree %s is gone: git worktree add %s <branch>", quotePath(dir), quoteArg(dir))
		}
	}
	if len(standings) > 0 {
		layout.RecoverState(r)
	}
	return len(standings) > 0
}

// isThere reports whether there is something at a path below the root, or at an
// absolute one.
func (c *Invocation) isThere(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.store.Root(), filepath.FromSlash(name))
	}
	_, err := os.Stat(name)
	return err == nil
}

// storyRecord is the newest record of a story, nil where it has none that can
// be read.
func (c *Invocation) storyRecord(id string) *checkpoint.Record {
	issue, err := checkpoint.ParseIssue(id)
	if err != nil {
		return nil
	}
	_, r, err := c.store.NewestRecord(c.ctx, issue)
	if err != nil {
		return nil
	}
	return r
}

// judged fails where a document that was saved sent its story back too often.
func (c *Invocation) judged(s *gitstore.Saved) error {
	if c.doc == nil || !story.SentBack(s.Record) {
		return nil
	}
	return taskFailure(s.Issue, "", story.Err(s.Record, story.Of(s.Record)))
}
