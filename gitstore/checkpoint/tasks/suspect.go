package tasks

import "time"

// Suspect records that the worker of a running task gives no sign of life. After a probe,
// the caller clears the suspicion or confirms the crash. Suspect returns ErrNothing if
// the task is already suspected.
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

// Clear removes a suspicion. It returns ErrNothing if the task is not suspected.
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

// suspected is the key for the time of a suspicion.
const suspected = "suspected_at"
