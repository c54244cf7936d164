package tasks

import "time"

// Suspect notes that the worker of a running task gives no sign of life: it is
// probed now, and after that cleared, or its crash is confirmed. It returns
// ErrNothing where that is noted already.
func (l *List) Suspect(id string, at time.Time) error {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return &UnknownError{id}
	case t.Status != Running:
		return refuse(t, "nobody is working on it")
	case t.Suspected != "":
		return ErrNothing
	}
	l.moved(id).set(suspected, at)
	return nil
}

// Clear takes a suspicion back. It returns ErrNothing where there is none.
func (l *List) Clear(id string) error {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return &UnknownError{id}
	case t.Suspected == "":
		return ErrNothing
	}
	l.moved(id).set(suspected, nil)
	return nil
}

// suspected is the key of when a task was suspected.
const suspected = "suspected_at"
