package tasks

import "time"

// A Found is what is at the place of a task's output.
type Found struct {
	Exists bool
	Broken bool   // half of it, or not what it should be
	Status string // what it says of itself, "" for nothing
	Digest string
}

// A Recovery says how to recover tasks that nobody works on any more.
type Recovery struct {
	Found map[string]Found // by task
	At    time.Time
	Limit int // of attempts, 0 for none
}

// A Recovered is what became of a task.
type Recovered struct {
	ID, Status, Why string
	Broken          string // the output that it left half done, "" for none
}

// Recover settles tasks that were running when the work was cut off: those that
// are named, else all. One whose output is there has come to its end; one
// without is pending again, its lost attempt counted, or failed when that was
// the last. It returns ErrNothing when none was running.
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

// Running returns the tasks that somebody works on, or worked on when the work
// was cut off.
func (l *List) Running() []Task {
	var out []Task
	for _, t := range l.All() {
		if t.Status == Running {
			out = append(out, t)
		}
	}
	return out
}
