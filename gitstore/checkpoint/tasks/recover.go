package tasks

import "time"

// A Found describes the output file of a task.
type Found struct {
	Exists bool
	Broken bool   // incomplete, or of the wrong kind
	Status string // status field of the output, "" if missing
	Digest string
}

// A Recovery holds the parameters of Recover.
type Recovery struct {
	Found map[string]Found // by task
	At    time.Time
	Limit int // limit of attempts, 0 for no limit
}

// A Recovered is the new state of a recovered task.
type Recovered struct {
	ID, Status, Why string
	Broken          string // path of an incomplete output, "" if its output is not broken
}

// Recover settles tasks that were running at an interruption: the given ids, or all
// running tasks if no ids are given. A task with output becomes complete, or failed if
// its output reports a failure. A task without output becomes pending for another
// attempt, or failed after its last attempt. Recover returns ErrNothing if no task was
// running.
func (l *List) Recover(r Recovery, ids ...string) ([]Recovered, error) {
	for _, id := range ids {
		if l.at[id] == nil {
			return nil, &UnknownError{id}
		}
	}
	if len(ids) == 0 {
		ids = l.ids
	}
	var out []Recovered
	for _, id := range ids {
		if t, _ := l.Task(id); t.Status == Running {
			out = append(out, l.recover(t, r))
		}
	}
	if len(out) == 0 {
		return nil, ErrNothing
	}
	return out, nil
}

func (l *List) recover(t Task, r Recovery) Recovered {
	f := r.Found[t.ID]
	switch {
	case f.Exists && !f.Broken && statusOf(f.Status) == Failed:
		_, _ = l.Fail(t.ID, Failure{Error: "its output says that it failed", At: r.At})
		return Recovered{ID: t.ID, Status: Failed, Why: "its output says so"}
	case f.Exists && !f.Broken:
		_, _ = l.Done(t.ID, Result{Output: t.Output, Digest: f.Digest, At: r.At})
		return Recovered{ID: t.ID, Status: Complete, Why: "its output is there"}
	case r.Limit > 0 && t.Attempts >= r.Limit:
		_, _ = l.Fail(t.ID, Failure{Error: (&TaskLimitError{t.ID, t.Attempts, r.Limit}).Error(), At: r.At})
		return Recovered{ID: t.ID, Status: Failed, Why: "it has no output, and that was the last attempt"}
	}
	l.again(l.moved(t.ID), t)
	if f.Broken {
		return Recovered{t.ID, Pending, "its output is broken", t.Output}
	}
	return Recovered{ID: t.ID, Status: Pending, Why: "it has no output"}
}

// Running returns the running tasks, including tasks interrupted during their work.
func (l *List) Running() []Task {
	var out []Task
	for _, t := range l.All() {
		if t.Status == Running {
			out = append(out, t)
		}
	}
	return out
}
