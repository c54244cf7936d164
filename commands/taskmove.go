package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout"
)

// A taskStep is one verb of task with what the command line says beside it.
type taskStep struct {
	c      *call
	issue  checkpoint.Issue
	verb   string
	ids    []string
	now    time.Time
	limit  int // of attempts
	output string
	digest string
	batch  bool // a completed batch has a trigger of its own

	told    []string // what the last move led to
	crashed []string // stories and tasks of which the last move counted a crash
	broken  []string // outputs that the last move found half done
}

// taskStep reads the command line.
func (c *call) taskStep(issue checkpoint.Issue, verb string) (*taskStep, error) {
	t := &taskStep{c: c, issue: issue, verb: verb, ids: distinct(c.args[1:]), now: c.env.Now(), limit: c.settings.Int("task_retries") + 1}
	t.batch, _ = c.settings.TriggerEnabled(checkpoint.BatchComplete)
	name := c.flags.String("output")
	if name == "" {
		return t, nil
	}
	var err error
	if t.output, err = c.rootPath(name); err == nil {
		err = gitstore.CheckPlace(t.output)
	}
	if err != nil {
		return nil, usagef("task %s: --output: %w", verb, err)
	}
	if verb == "done" {
		t.digest, err = c.finishedOutput(t.output)
	}
	return t, err
}

func distinct(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// finishedOutput holds that an output is there, and whole as far as that shows,
// before the task moves.
func (c *call) finishedOutput(place string) (digest string, err error) {
	if _, err := os.Stat(filepath.Join(c.store.Root(), filepath.FromSlash(place))); err != nil {
		return "", usagef("task done: --output: %w", err)
	}
	if found := c.taskOutput(place); found.Broken {
		return "", fail(exitUsage, "", "task done: --output: %s: not valid JSON", quotePath(place))
	}
	digests, err := c.store.Digests(c.ctx, []string{place})
	return digests[place], err
}

// move is the transition of all tasks, or of none.
func (t *taskStep) move(r *checkpoint.Record) error {
	t.told, t.crashed, t.broken = nil, nil, nil
	l := tasks.Of(r)
	switch err := t.moveAll(l); {
	case errors.Is(err, tasks.ErrNothing):
		return &progress.NothingError{Reason: t.nothing()}
	case err != nil:
		return taskFailure(t.issue, first(t.ids...), err)
	}
	if p := l.Point(); p != "" {
		r.SetResumeFrom(p)
	}
	story.Worked(r, strings.TrimSpace("task "+t.verb+" "+list(t.ids)), l.Left())
	return nil
}

func (t *taskStep) moveAll(l *tasks.List) error {
	switch {
	case t.verb == "add":
		return t.add(l)
	case t.verb == "recover" || t.c.flags.Bool("crash"):
		return t.lost(l)
	}
	one := map[string]func(*tasks.List, string) error{
		"start": t.start, "done": t.done, "fail": t.fail, "suspect": t.suspect, "clear": t.clear,
	}[t.verb]
	all := tasks.ErrNothing
	for _, id := range t.ids {
		err := one(l, id)
		if err == nil {
			all = nil
		} else if !errors.Is(err, tasks.ErrNothing) {
			return err
		}
	}
	return all
}

// nothing says why there is nothing to save.
func (t *taskStep) nothing() string {
	how := map[string]string{"add": "there", "start": "running", "done": "complete", "fail": "failed", "suspect": "suspected", "clear": "clear"}[t.verb]
	if how == "" {
		return "no task was running"
	}
	return plural(len(t.ids), "task") + " already " + how + ": " + list(t.ids)
}

func (t *taskStep) add(l *tasks.List) error {
	plans := make([]tasks.Plan, len(t.ids))
	for i, id := range t.ids {
		plans[i] = tasks.Plan{ID: id, Needs: t.c.lists["after"], Output: t.output}
	}
	err := l.Add(plans...)
	if errors.As(err, new(*tasks.CycleError)) {
		return usagef("task add: %w", err)
	}
	return err
}

// start claims a task. A story that is paused is lifted by force alone.
func (t *taskStep) start(l *tasks.List, id string) error {
	r, force := l.Record(), t.c.flags.Bool("force")
	for _, paused := range []string{story.Of(r), id} {
		if force {
			story.Lift(r, paused)
		} else if err := story.Err(r, paused); err != nil {
			return err
		}
	}
	by := first(t.c.flags.String("by"), t.c.flags.String("session"), t.c.env.Getenv("GIT_CHECKPOINT_SESSION"))
	return l.Start(id, tasks.Claim{By: by, At: t.now, Limit: t.limit, Force: force})
}

func (t *taskStep) done(l *tasks.List, id string) error {
	done, err := l.Done(id, tasks.Result{Output: t.output, Digest: t.digest, At: t.now})
	if done.Batch > 0 {
		t.tell("batch %d is complete", done.Batch)
		if t.batch {
			l.Record().SetTrigger(checkpoint.BatchComplete)
		}
	}
	return err
}

func (t *taskStep) fail(l *tasks.List, id string) error {
	out, err := l.Fail(id, tasks.Failure{Error: t.c.flags.String("error"), TimedOut: t.c.flags.Bool("timed-out"), At: t.now})
	if out.Again {
		t.tell("task %s is tried once more", id)
	}
	if len(out.Waiting) > 0 {
		t.tell("waiting for task %s: %s", id, list(out.Waiting))
	}
	if out.Aborted {
		t.tell("task %s was critical: the workflow has failed", id)
	}
	if out.Batch > 0 {
		t.tell("every task of batch %d failed: somebody has to decide how to go on", out.Batch)
	}
	return err
}

// lost settles tasks that nobody works on any more, and counts a crash.
func (t *taskStep) lost(l *tasks.List) error {
	ids, crash := t.ids, t.c.flags.Bool("crash")
	if crash {
		ids = t.crash(l)
		if len(ids)+len(t.crashed) == 0 {
			return fail(exitUsage, "git checkpoint task list", "task fail --crash: no task is running")
		}
		if len(ids) == 0 {
			return nil
		}
	}
	if !crash && t.stories(l) {
		return nil
	}
	became, err := l.Recover(tasks.Recovery{Found: t.c.taskOutputs(l), At: t.now, Limit: t.limit}, ids...)
	for _, b := range became {
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
func (c *call) isThere(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.store.Root(), filepath.FromSlash(name))
	}
	_, err := os.Stat(name)
	return err == nil
}

// storyRecord is the newest record of a story, nil where it has none that can
// be read.
func (c *call) storyRecord(id string) *checkpoint.Record {
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

// crash counts a crash of the story that the record is of, or of every story or
// task that is named or was running. It returns the tasks to settle.
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

func (t *taskStep) tell(format string, args ...any) {
	t.told = append(t.told, fmt.Sprintf(format, args...))
}

// after says what the step led to, and fails where that is a limit.
func (t *taskStep) after(s *gitstore.Saved) error {
	for _, line := range t.told {
		t.c.say("%s", line)
	}
	if err := t.clean(); err != nil {
		return err
	}
	l := tasks.Of(s.Record)
	for _, id := range t.crashed {
		if err := story.Err(s.Record, id); err != nil {
			next := id
			if !l.Has(id) {
				next = first(l.Left()...)
			}
			return taskFailure(s.Issue, next, err)
		}
	}
	return nil
}

// judged fails where a document that was saved sent its story back too often.
func (c *call) judged(s *gitstore.Saved) error {
	if c.doc == nil || !story.SentBack(s.Record) {
		return nil
	}
	return taskFailure(s.Issue, "", story.Err(s.Record, story.Of(s.Record)))
}
