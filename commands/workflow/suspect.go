package workflow

import (
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// suspect marks the worker of a task, or of a story in the lead's record, as
// unresponsive. It counts no crash; only a confirmed crash counts.
func (t *taskStep) suspect(l *tasks.List, id string) error {
	if r := l.Record(); !l.Has(id) && story.Has(r, id) {
		if !story.Suspect(r, id) {
			return tasks.ErrNothing
		}
		return nil
	}
	return l.Suspect(id, t.now)
}

// clear removes the mark after the worker has answered.
func (t *taskStep) clear(l *tasks.List, id string) error {
	if r := l.Record(); !l.Has(id) && story.Has(r, id) {
		if !story.Clear(r, id) {
			return tasks.ErrNothing
		}
		return nil
	}
	return l.Clear(id)
}
