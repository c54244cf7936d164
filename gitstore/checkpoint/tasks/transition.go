package tasks

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Claim describes the start of a task by a worker.
type Claim struct {
	By    string // name of the worker, "" if unnamed
	At    time.Time
	Limit int  // limit of attempts, 0 for no limit
	Force bool // ignores all restrictions
}

// Keys of signs of life: the time of a suspicion, and of an answer after it.
const (
	suspected = "suspected_at"
	heartbeat = "heartbeat_at"
)

// A change is a row of the table of status changes.
type change struct {
	to      string   // new status
	refused []string // statuses from which the change is refused, except with Force
	removes []string // keys that the task loses
}

// The status changes. Start counts an attempt. A task can be done from every status, because
// the work is a fact. Tasks that depend on a failed one are blocked, and freed when it starts
// again or is done. A running task is pending again if it timed out once, or was recovered
// without output.
var (
	start = change{Running, []string{Running, Complete, Skipped}, []string{"completed_at", "error", "waits_for", suspected, heartbeat}}
	done  = change{Complete, nil, []string{"error", "waits_for", suspected, heartbeat}}
	fail  = change{Failed, []string{Complete}, []string{suspected}}
	again = change{Pending, nil, []string{"started_at", "completed_at", "claimed_by", suspected, heartbeat}}
	block = change{Blocked, nil, nil}
	free  = change{Pending, nil, []string{"waits_for"}}
)

// check fails with *TransitionError if the status of a task refuses the change.
func (c change) check(t Task) error {
	switch {
	case !slices.Contains(c.refused, t.Status):
		return nil
	case t.Status == Running && t.By != "":
		return refuse(t, "%s is working on it", t.By)
	}
	return refuse(t, "it is already %s", t.Status)
}

// apply gives a task its new status, and returns its place.
func (l *List) apply(c change, id string) *place {
	p := l.moved(id)
	p.set("status", c.to)
	if p.state != nil && c.to == Blocked {
		p.state.Set("status", Skipped) // the graph stores blocked as skipped
	}
	for _, key := range c.removes {
		p.set(key, nil)
	}
	return p
}

// Start claims a task for a worker. Only one claim succeeds. Start returns ErrNothing if
// the same named worker already has the task. It fails with *TransitionError if the task
// is running or over, or waits for a task or an approval. It fails with *TaskLimitError
// if no attempts are left.
func (l *List) Start(id string, c Claim) error {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return &UnknownError{id}
	case t.Status == Running && c.By != "" && c.By == t.By:
		return ErrNothing
	case c.Force:
	case start.check(t) != nil:
		return start.check(t)
	case len(l.missing(t)) > 0:
		return refuse(t, "it waits for %s", strings.Join(l.missing(t), ", "))
	case slices.Contains(l.r.Awaiting(), id):
		return &TransitionError{ID: id, Why: "its approval is pending", Awaited: true}
	}
	attempts := t.Attempts
	if !t.open() || attempts == 0 {
		attempts++ // the next attempt of a pending task is already counted if its last attempt was lost
	}
	if c.Limit > 0 && attempts > c.Limit && !c.Force {
		return &TaskLimitError{id, attempts - 1, c.Limit}
	}
	p := l.apply(start, id)
	p.set("attempts", attempts)
	p.set("started_at", c.At)
	p.set("claimed_by", orNil(c.By))
	l.release(id)
	return nil
}

// A Result is the result of a task.
type Result struct {
	By     string // name of the worker that reports it, "" if unnamed
	Force  bool   // also if another worker claimed the task
	Output string // output file, "" without output
	Digest string // digest of the file, "" if unknown
	At     time.Time
}

// Done completes a task regardless of its status, because the work is a fact. It returns the
// number of the batch that is complete now, or 0. It returns ErrNothing if the task is already complete with the same output, and fails with
// *TransitionError if another worker has claimed the task.
func (l *List) Done(id string, res Result) (batch int, err error) {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return 0, &UnknownError{id}
	case t.Status == Complete && (res.Output == "" || res.Output == t.Output):
		return 0, ErrNothing
	case !res.Force && t.claimedByOther(res.By):
		return 0, refuse(t, "%s is working on it", t.By)
	}
	p := l.apply(done, id)
	p.set("attempts", max(t.Attempts, 1))
	p.set("completed_at", res.At)
	if res.Output != "" {
		p.set("output", res.Output)
		p.set("output_digest", orNil(res.Digest))
	}
	return l.finished(id), nil
}

// maxSettled limits the tasks with full graph traversal, because records can come from
// untrusted sources.
const maxSettled = 100

// Settle applies the effects of tasks that a merge marked as complete or failed:
// dependent tasks are released or blocked.
func (l *List) Settle(ids ...string) {
	complete := map[string]bool{}
	for _, id := range ids {
		t, _ := l.Task(id)
		complete[id] = t.Status == Complete
	}
	for _, t := range l.All() {
		if complete[t.WaitsFor] {
			l.apply(free, t.ID)
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

// A Failure describes a failed task.
type Failure struct {
	By       string // name of the worker that reports it, "" if unnamed
	Force    bool   // also if another worker claimed the task
	Error    string
	TimedOut bool // one automatic retry
	At       time.Time
}

// An Outcome is the effect of a failure.
type Outcome struct {
	Again   bool     // the task is pending again
	Waiting []string // newly blocked tasks
	Aborted bool     // critical task: the workflow failed
	Batch   int      // number of the batch if all its tasks failed, otherwise 0
}

// Fail records the failure of a task and blocks dependent tasks. It returns ErrNothing if
// the task already failed with the same error, and *TransitionError if the task is
// complete or another worker has claimed it.
func (l *List) Fail(id string, f Failure) (Outcome, error) {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return Outcome{}, &UnknownError{id}
	case fail.check(t) != nil:
		return Outcome{}, fail.check(t)
	case t.Status == Failed && (f.Error == "" || f.Error == t.Error):
		return Outcome{}, ErrNothing
	case !f.Force && t.claimedByOther(f.By):
		return Outcome{}, refuse(t, "%s is working on it", t.By)
	}
	if f.TimedOut && t.Attempts < 2 {
		l.again(t).set("error", orNil(f.Error))
		return Outcome{Again: true}, nil
	}
	p := l.apply(fail, id)
	p.set("error", orNil(f.Error))
	p.set("attempts", max(t.Attempts, 1))
	p.set("completed_at", f.At)
	out := Outcome{Waiting: l.hold(id), Aborted: t.Critical}
	if t.Critical {
		workflow := l.r.Doc().MustSub("workflow")
		workflow.Set("status", Failed)
		workflow.Set("last_error", strings.TrimSuffix("critical task "+id+" failed: "+f.Error, ": "))
	}
	b, ok := l.batchOf(id)
	if ok && l.all(b, func(t Task) bool { return t.Status == Failed }) {
		out.Batch = b.number
	}
	return out, nil
}

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

	By    string        // name of the worker that recovers, whose own claims are not live
	Stale time.Duration // age of a live claim at most, 0 for any age
	Force bool          // also recover live claims
}

// isLive reports whether a task is claimed by another worker that gave a sign of life
// recently. An output settles a task, whoever claimed it.
func (r Recovery) isLive(t Task, seen time.Time) bool {
	if r.Force || t.By == "" || t.By == r.By || t.Suspected != "" || seen.IsZero() {
		return false
	}
	if f := r.Found[t.ID]; f.Exists && !f.Broken {
		return false
	}
	return r.Stale == 0 || r.At.Sub(seen) < r.Stale
}

// A Recovered is the new state of a recovered task.
type Recovered struct {
	ID, Status, Why string
	Broken          string // path of an incomplete output, "" if its output is not broken
	Live            bool   // the task was left to its worker
}

// Recover settles tasks that were running at an interruption: the given ids, or all
// running tasks if no ids are given. A task with output becomes complete, or failed if
// its output reports a failure. A task without output becomes pending for another
// attempt, or failed after its last attempt. A live claim without output stays; Recover
// fails with *TransitionError if such a task is named, or if nothing else was running. It
// returns ErrNothing if no task was running.
func (l *List) Recover(r Recovery, ids ...string) ([]Recovered, error) {
	for _, id := range ids {
		if l.at[id] == nil {
			return nil, &UnknownError{id}
		}
	}
	named := len(ids) > 0
	if !named {
		ids = l.ids
	}
	var out, live []Recovered
	var refused error
	for _, id := range ids {
		t, _ := l.Task(id)
		switch {
		case t.Status != Running:
		case r.isLive(t, l.seen(l.at[id])):
			why := fmt.Sprintf("%s is working on it", t.By)
			live = append(live, Recovered{ID: id, Status: Running, Why: why, Live: true})
			refused = &TransitionError{ID: id, Why: why, Running: true, Live: true}
		default:
			out = append(out, l.recover(t, r))
		}
	}
	if refused != nil && (named || len(out) == 0) {
		return nil, refused
	}
	if len(out) == 0 {
		return nil, ErrNothing
	}
	return append(out, live...), nil
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

// Suspect records that the worker of a running task gives no sign of life. After a probe,
// the caller clears the suspicion or confirms the crash. Suspect returns ErrNothing if
// the task is already suspected.
func (l *List) Suspect(id string, at time.Time) error {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return &UnknownError{id}
	case t.Status != Running:
		return refuse(t, "no worker is working on it")
	case t.Suspected != "":
		return ErrNothing
	}
	l.moved(id).set(suspected, at)
	return nil
}

// Clear removes a suspicion, because the worker has answered. It returns ErrNothing if the
// task is not suspected.
func (l *List) Clear(id string, at time.Time) error {
	t, ok := l.Task(id)
	switch {
	case !ok:
		return &UnknownError{id}
	case t.Suspected == "":
		return ErrNothing
	}
	p := l.moved(id)
	p.set(suspected, nil)
	p.set(heartbeat, at)
	return nil
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// release resets tasks blocked by task id to pending.
func (l *List) release(id string) {
	for _, t := range l.All() {
		if t.WaitsFor == id {
			l.apply(free, t.ID)
		}
	}
}

// finished applies the effects of a completed task: released tasks, approvals and its
// batch. It returns the number of the batch if that is complete now, or 0.
func (l *List) finished(id string) int {
	l.release(id)
	for _, gated := range l.gates[id] {
		if t, _ := l.Task(gated); !t.Over() {
			l.r.Await(gated)
		}
	}
	b, ok := l.batchOf(id)
	if !ok || slices.Contains(l.r.CompletedBatches(), b.number) || !l.all(b, Task.Over) {
		return 0
	}
	done := append(l.r.CompletedBatches(), b.number)
	slices.Sort(done)
	l.r.SetCompletedBatches(slices.Compact(done))
	if l.r.CurrentBatch() <= b.number {
		l.r.SetCurrentBatch(b.number + 1)
	}
	if b.stored != nil {
		b.stored.Set("status", Complete)
	}
	return b.number
}

// hold blocks all direct and indirect dependents of a failed task.
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
		l.apply(block, t.ID).set("waits_for", id)
		held = append(held, t.ID)
		queue = append(queue, dependents[t.ID]...)
	}
	return held
}

// again resets a task to pending for its next attempt.
func (l *List) again(t Task) *place {
	p := l.apply(again, t.ID)
	p.set("attempts", max(t.Attempts, 1)+1)
	return p
}

func (l *List) recover(t Task, r Recovery) Recovered {
	f := r.Found[t.ID]
	switch {
	case f.Exists && !f.Broken && statusOf(f.Status) == Failed:
		_, _ = l.Fail(t.ID, Failure{Error: "its output says that it failed", At: r.At})
		return Recovered{ID: t.ID, Status: Failed, Why: "its output says so"}
	case f.Exists && !f.Broken:
		_, _ = l.Done(t.ID, Result{Output: t.Output, Digest: f.Digest, At: r.At})
		return Recovered{ID: t.ID, Status: Complete, Why: "its output exists"}
	case r.Limit > 0 && t.Attempts >= r.Limit:
		_, _ = l.Fail(t.ID, Failure{Error: (&TaskLimitError{t.ID, t.Attempts, r.Limit}).Error(), At: r.At})
		return Recovered{ID: t.ID, Status: Failed, Why: "it has no output, and that was the last attempt"}
	}
	l.again(t)
	if f.Broken {
		return Recovered{ID: t.ID, Status: Pending, Why: "its output is invalid", Broken: t.Output}
	}
	return Recovered{ID: t.ID, Status: Pending, Why: "it has no output"}
}
