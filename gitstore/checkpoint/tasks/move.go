package tasks

import (
	"slices"
	"time"
)

// A Claim is somebody who begins with a task.
type Claim struct {
	By    string // a name, "" for nobody in particular
	At    time.Time
	Limit int  // of attempts, 0 for none
	Force bool // whatever stands against it
}

// Start claims a task. Only one claim is taken: a task that runs already is
// refused but to the one who has it, by name. So is one that is complete, or
// waits for others, and with a *TaskLimitError one that was begun too often.
func (l *List) Start(id string, c Claim) error {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return &UnknownError{id}
	case t.Status == Running && c.By != "" && c.By == t.By:
		return ErrNothing
	case c.Force:
	case t.Status == Running && t.By != "":
		return refuse(t, "%s is working on it", t.By)
	case t.Status == Running:
		return refuse(t, "it is running already")
	case t.Over():
		return refuse(t, "it is %s already", t.Status)
	case len(l.missing(t)) > 0:
		return refuse(t, "it waits for %s", joined(l.missing(t)))
	case l.awaits(id):
		return &TransitionError{ID: id, Why: "its approval is pending", Awaited: true}
	}
	attempts := t.Attempts
	if !t.open() || attempts == 0 {
		attempts++ // one that is pending was counted when the one before was lost
	}
	if c.Limit > 0 && attempts > c.Limit && !c.Force {
		return &TaskLimitError{id, attempts - 1, c.Limit}
	}
	p := l.moved(id)
	p.setStatus(Running)
	p.set("attempts", attempts)
	p.set("started_at", c.At)
	p.set("claimed_by", orNil(c.By))
	for _, key := range []string{"completed_at", "error", "waits_for", suspected} {
		p.set(key, nil)
	}
	l.release(id)
	return nil
}

// A Result is what a task has come to.
type Result struct {
	Output string // the file, "" for none
	Digest string // of the file, "" where that is not known
	At     time.Time
}

// A Completion is what a task that is complete leads to.
type Completion struct {
	Batch int // the batch that it completes, 0 for none
}

// Done completes a task, whatever it was before: that it is done is a fact. It
// returns ErrNothing when it was complete already, with the same output.
func (l *List) Done(id string, res Result) (Completion, error) {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return Completion{}, &UnknownError{id}
	case t.Status == Complete && (res.Output == "" || res.Output == t.Output):
		return Completion{}, ErrNothing
	}
	p := l.moved(id)
	l.setDone(p, t, res)
	return l.finished(id), nil
}

// finished lets follow what comes of a task that is complete.
func (l *List) finished(id string) Completion {
	l.release(id)
	for _, gated := range l.gates[id] {
		if t, _ := l.Task(gated); !t.Over() {
			l.r.Await(gated)
		}
	}
	b, ok := l.batchOf(id)
	if !ok || slices.Contains(l.r.CompletedBatches(), b.number) || !l.all(b, Task.Over) {
		return Completion{}
	}
	l.complete(b)
	return Completion{Batch: b.number}
}

// Settle lets follow what comes of tasks that somebody else wrote into the
// record as complete or failed: what waited for them is let go, or held.
func (l *List) Settle(ids ...string) {
	complete := map[string]bool{}
	for _, id := range ids {
		t, _ := l.Task(id)
		complete[id] = t.Status == Complete
	}
	for _, t := range l.All() {
		if complete[t.WaitsFor] {
			l.free(t.ID)
		}
	}
	for _, id := range ids[:min(len(ids), maxSettled)] {
		switch t, _ := l.Task(id); t.Status {
		case Complete:
			l.finished(id)
		case Failed:
			l.hold(id)
		}
	}
}

// maxSettled bounds for how many tasks a graph is looked through: a record may
// come from anybody.
const maxSettled = 100

// awaits reports whether a person has to approve a task before it begins.
func (l *List) awaits(id string) bool { return slices.Contains(l.r.Awaiting(), id) }

func (l *List) setDone(p *place, t Task, res Result) {
	p.setStatus(Complete)
	p.set("attempts", max(t.Attempts, 1))
	p.set("completed_at", res.At)
	if res.Output != "" {
		p.set("output", res.Output)
		p.set("output_digest", orNil(res.Digest))
	}
	for _, key := range []string{"error", "waits_for", suspected} {
		p.set(key, nil)
	}
}

// A Failure is why a task did not come to its end.
type Failure struct {
	Error    string
	TimedOut bool // tried again, once
	At       time.Time
}

// An Outcome is what a failure leads to.
type Outcome struct {
	Again   bool     // the task is pending again
	Waiting []string // the tasks that cannot run now
	Aborted bool     // the task was critical: the workflow has failed
	Batch   int      // the batch of which every task has failed, 0 for none
}

// Fail records that a task failed. What depends on it can't run until it is
// complete. It returns ErrNothing when it failed already, with the same error,
// and refuses one that is complete.
func (l *List) Fail(id string, f Failure) (Outcome, error) {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return Outcome{}, &UnknownError{id}
	case t.Status == Complete:
		return Outcome{}, refuse(t, "it is complete already")
	case t.Status == Failed && (f.Error == "" || f.Error == t.Error):
		return Outcome{}, ErrNothing
	}
	p := l.moved(id)
	p.set("error", orNil(f.Error))
	p.set(suspected, nil)
	if f.TimedOut && t.Attempts < 2 {
		l.again(p, t)
		return Outcome{Again: true}, nil
	}
	p.setStatus(Failed)
	p.set("attempts", max(t.Attempts, 1))
	p.set("completed_at", f.At)
	out := Outcome{Waiting: l.hold(id), Aborted: t.Critical}
	if t.Critical {
		workflow := l.r.Doc().MustSub("workflow")
		workflow.Set("status", Failed)
		workflow.Set("last_error", "critical task "+id+" failed"+because(f.Error))
	}
	b, ok := l.batchOf(id)
	if ok && l.all(b, func(t Task) bool { return t.Status == Failed }) {
		out.Batch = b.number
	}
	return out, nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// again makes a task pending for its next attempt.
func (l *List) again(p *place, t Task) {
	p.setStatus(Pending)
	p.set("attempts", max(t.Attempts, 1)+1)
	for _, key := range []string{"started_at", "completed_at", "claimed_by", suspected} {
		p.set(key, nil)
	}
}

// hold keeps from running what depends on a failed task, directly or not.
func (l *List) hold(id string) []string {
	dependents := map[string][]string{}
	for _, t := range l.ids {
		for _, n := range l.needs[t] {
			dependents[n] = append(dependents[n], t)
		}
	}
	var held []string
	for queue := dependents[id]; len(queue) > 0; queue = queue[1:] {
		t, _ := l.Task(queue[0])
		if !t.open() {
			continue
		}
		p := l.moved(t.ID)
		p.setStatus(Blocked)
		p.set("waits_for", id)
		held = append(held, t.ID)
		queue = append(queue, dependents[t.ID]...)
	}
	return held
}

// release lets go what waited for a failed task.
func (l *List) release(id string) {
	for _, t := range l.All() {
		if t.WaitsFor == id {
			l.free(t.ID)
		}
	}
}

func (l *List) free(id string) {
	p := l.moved(id)
	p.setStatus(Pending)
	p.set("waits_for", nil)
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
