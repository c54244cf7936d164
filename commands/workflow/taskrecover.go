package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/pipeline"
)

// lost settles tasks without a worker. With --crash it counts a crash.
func (t *taskStep) lost(l *tasks.List) error {
	ids, crash := t.ids, t.options.crash
	if crash {
		ids = t.crash(l)
		if len(ids)+len(t.crashed) == 0 {
			return failure.Errorf(failure.Usage, "git checkpoint task list", "task fail --crash: no task is running")
		}
		if len(ids) == 0 {
			return nil
		}
	}
	if !crash && t.stories(l) {
		return nil
	}
	became, err := l.Recover(tasks.Recovery{
		Found: work.TaskOutputs(t.c, l), At: t.now, Limit: t.limit,
		By: t.worker(), Force: crash || t.options.force, Stale: time.Duration(t.c.Settings.Int("limits.stale_minutes")) * time.Minute,
	}, ids...)
	for _, b := range became {
		if b.Live {
			t.tell("task %s stays: %s; task recover %s --force takes it", b.ID, b.Why, view.QuoteArg(b.ID))
			continue
		}
		t.tell("task %s is %s: %s", b.ID, b.Status, b.Why)
		if b.Broken != "" {
			t.broken = append(t.broken, b.Broken)
		}
	}
	if crash && errors.Is(err, tasks.ErrNothing) {
		return nil
	}
	return err
}

// crash counts a crash of the record's story, or of every named or running story or task.
// It returns the tasks to settle.
func (t *taskStep) crash(l *tasks.List) []string {
	ids, r := t.ids, l.Record()
	if len(ids) == 0 {
		for _, task := range l.Running() {
			ids = append(ids, task.ID)
		}
	}
	t.crashed = ids
	if story.Is(r) {
		t.crashed = []string{story.Of(r)}
	}
	for _, id := range t.crashed {
		story.Crash(r, id)
	}
	var settle []string
	for _, id := range ids {
		if !story.Has(r, id) || l.Has(id) {
			settle = append(settle, id)
		}
	}
	return settle
}

// stories updates the lead's record from the records of its stories. It reports whether
// the lead has stories.
func (t *taskStep) stories(l *tasks.List) bool {
	r := l.Record()
	if story.Is(r) || len(t.ids) > 0 {
		return false
	}
	standings := story.Recover(r, work.StoryRecords(t.c))
	for _, s := range standings {
		t.tell("%s", s)
		dir, place := pipeline.Worktree(r, s.Story), t.c.Store.Root()
		if dir == "" || place == "" {
			continue
		}
		if place = filepath.Join(place, filepath.FromSlash(dir)); filepath.IsAbs(dir) {
			place = dir
		}
		if _, err := os.Stat(place); err != nil {
			t.tell("its worktree %s is gone: git worktree add %s <branch>", view.QuotePath(dir), view.QuoteArg(dir))
		}
	}
	if len(standings) > 0 {
		pipeline.RecoverState(r)
	}
	return len(standings) > 0
}

// clean removes incomplete outputs with --clean. A file that is complete by now, tracked
// or not regular stays.
func (t *taskStep) clean() error {
	if !t.options.clean || len(t.broken) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.c.Store.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, place := range t.broken {
		name := filepath.FromSlash(place)
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || !work.TaskOutput(t.c, place).Broken {
			continue
		}
		if err := cmp.Or(inFolders(root, place), t.mayGo(place)); err != nil {
			t.c.Warnf("%s is left as it is: %v", view.QuotePath(place), err)
			continue
		}
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("task recover --clean: %s: %w", view.QuotePath(place), err)
		}
		t.c.Infof("removed %s", view.QuotePath(place))
	}
	return nil
}

// mayGo returns an error if a task cannot have written the file. An untrusted record may
// name a file of git or of the project as an output.
func (t *taskStep) mayGo(place string) error {
	if err := gitstore.CheckPlace(path.Clean(place)); err != nil {
		return err
	}
	if f := t.c.Store.Files.Boundary(t.c.Ctx).Find(path.Clean(place)); f.Reason != "" {
		return fmt.Errorf("%s is %s", view.QuotePath(strings.TrimSuffix(f.Path, "/")), f.Reason)
	}
	tracked, err := t.c.Store.Files.IsTracked(t.c.Ctx, place)
	if tracked {
		return errors.New("git tracks it")
	}
	return err
}

// inFolders returns an error if the path contains a symlink, because git then knows the
// file under another name.
func inFolders(root *os.Root, place string) error {
	for k, r := range place {
		if r != '/' {
			continue
		}
		dir := filepath.FromSlash(place[:k])
		info, err := root.Lstat(dir)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is a symlink", view.QuotePath(place[:k]))
		}
	}
	return nil
}
