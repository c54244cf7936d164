// Package story implements the rules for the stories of a pipeline: stages, limits of the
// gates, and worker crashes. All functions are pure.
//
// A story's own record has the key stage.story. The lead's record lists all stories in
// pipeline.story_state. Both records use the same counters:
//
//	pipeline:
//	  complete:           false              true at the end; in the lead's record only
//	  story_state:        {AB-1: STAGE_2}    PAUSED if a limit is exceeded
//	  quality_cycles:     {AB-1: 1}          FAIL in stage 3, 2 at most
//	  validation_retries: {AB-1: 0}          NO-GO in stage 1, 1 at most
//	  crash_count:        {AB-1: 1}          crashes of its worker, 1 at most
//
// A counter over its limit pauses the story until a person decides. Stories never restart
// automatically.
package story

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// States of a story besides its stages.
const (
	Done   = "DONE"
	Paused = "PAUSED"
)

// Stages with a gate, and verdicts that return a story to an earlier stage.
const (
	Validation = 1
	Work       = 2
	Quality    = 3

	NoGo = "NO-GO"
	Fail = "FAIL"
)

// States returns all values of story_state.
func States() []string { return []string{"STAGE_0", "STAGE_1", "STAGE_2", "STAGE_3", Done, Paused} }

// Stage parses a stage such as 2, STAGE_2 or stage_2_execution. It returns 4 for a done
// story and -1 for an invalid stage.
func Stage(word string) int {
	s := strings.TrimPrefix(strings.ToLower(word), "stage_")
	s, _, _ = strings.Cut(s, "_")
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 4 {
		return -1
	}
	return n
}

// A Counter counts an event of a story, up to a limit.
type Counter struct {
	Key   string // key below pipeline
	Limit int
	what  string
}

// All counters.
var (
	QualityCycles     = Counter{"quality_cycles", 2, "the quality gate failed"}
	ValidationRetries = Counter{"validation_retries", 1, "the validation said NO-GO"}
	CrashCount        = Counter{"crash_count", 1, "its worker crashed"}
)

// Counters returns all counters.
func Counters() []Counter { return []Counter{QualityCycles, ValidationRetries, CrashCount} }

// A LimitError reports that a story is paused because a counter exceeds its limit. In
// workflows without stories it reports a task.
type LimitError struct {
	Story        string
	Task         bool
	Count, Limit int
	What         string // counted event, "" if the story is paused for another reason
}

func (e *LimitError) Error() string {
	kind := "story"
	if e.Task {
		kind = "task"
	}
	if e.What == "" {
		return fmt.Sprintf("%s %s is paused", kind, e.Story)
	}
	return fmt.Sprintf("%s %s is paused: %s %d times, the limit is %d", kind, e.Story, e.What, e.Count, e.Limit)
}

// Of returns the story of a record, or its issue key if the record has no story.
func Of(r *checkpoint.Record) string {
	return cmp.Or(r.Doc().Sub("stage").Text("story"), string(r.Issue()))
}

// Is reports whether a record belongs to a single story.
func Is(r *checkpoint.Record) bool { return r.Doc().Sub("stage") != nil }

// Has reports whether a lead's record contains the story.
func Has(r *checkpoint.Record, story string) bool {
	_, ok := r.Doc().Sub("pipeline").Sub("story_state").Get(story)
	return ok
}

// Count returns the count for a story.
func (c Counter) Count(r *checkpoint.Record, story string) int {
	n, _ := checkpoint.Number(r.Doc().Sub("pipeline").Sub(c.Key).Text(story)).Int()
	return int(max(n, 0))
}

// Judge counts a NO-GO or FAIL verdict of a story's record. Callers invoke it once for
// each document of a worker.
func Judge(r *checkpoint.Record) {
	if c, ok := verdict(r); ok {
		c.move(r, Of(r))
	}
}

// SentBack reports whether the verdict of a story's record returns the story to an
// earlier stage.
func SentBack(r *checkpoint.Record) bool {
	_, ok := verdict(r)
	return ok
}

// Crash counts a confirmed worker crash and clears the suspicion.
func Crash(r *checkpoint.Record, story string) {
	Clear(r, story)
	CrashCount.move(r, story)
}

// Err returns a *LimitError with the exceeded counter if the story is paused, otherwise
// nil.
func Err(r *checkpoint.Record, story string) error {
	if r.Doc().Sub("pipeline").Sub("story_state").Text(story) != Paused {
		return nil
	}
	e := &LimitError{Story: story, Task: !Is(r) && r.Layout() != "pipeline"}
	for _, c := range Counters() {
		if n := c.Count(r, story); n > c.Limit {
			e.Count, e.Limit, e.What = n, c.Limit, c.what
			break
		}
	}
	return e
}

// Lift resumes a paused story after a person's decision. Counters keep their values, so
// the next event pauses the story again.
func Lift(r *checkpoint.Record, story string) {
	states := r.Doc().Sub("pipeline").Sub("story_state")
	if states.Text(story) != Paused {
		return
	}
	if n := Stage(r.Doc().Sub("stage").Text("number")); n >= 0 && Of(r) == story {
		states.Set(story, fmt.Sprintf("STAGE_%d", n))
		return
	}
	states.Delete(story)
}

// Worked records the last action of a story in stage 2 and its resume point: the first
// remaining task, or the next stage if no task remains. Records in another stage are
// unchanged.
func Worked(r *checkpoint.Record, action string, left []string) {
	stage := r.Doc().Sub("stage")
	if Stage(stage.Text("number")) != Work {
		return
	}
	stage.Set("last_action", action)
	if len(left) > 0 {
		r.SetResumeFrom(left[0])
		return
	}
	r.SetResumeFrom("stage_3")
}

// FollowPhases moves the stage of a story forward after a phase step: to the last phase
// that is over, or to Work if its phase has begun. The phases of the story are its stages.
// A new stage 2 has none of the gates' values, also after a FAIL has sent the story back.
func FollowPhases(r *checkpoint.Record, action string) {
	stage, p := r.Doc().Sub("stage"), r.Progress()
	if stagesOf(r) == nil {
		return
	}
	stage.Set("last_action", action)
	was, now := Stage(stage.Text("number")), 0
	for i, name := range p.Names {
		if p.Over(name) || i == Work && p.Current == name && r.Phase() == name {
			now = i
		}
	}
	if now == was || now < was && (now != Work || !SentBack(r)) {
		return
	}
	stage.Set("number", now)
	if now == Work {
		for _, f := range Fields() {
			stage.Delete(f.Key)
		}
	}
}

// idle is the key in the lead's record for workers without signs of life.
const idle = "suspicious_idle"

// Suspect marks the worker of a story as idle in the lead's record, and reports whether
// the mark is new.
func Suspect(r *checkpoint.Record, story string) bool {
	if isSuspected(r, story) {
		return false
	}
	r.Doc().MustSub("pipeline").MustSub(idle).Set(story, true)
	return true
}

// isSuspected reports whether the worker of a story is marked as idle.
func isSuspected(r *checkpoint.Record, story string) bool {
	v, _ := r.Doc().Sub("pipeline").Sub(idle).Get(story)
	return v == true
}

// Clear removes the mark, and reports whether the mark existed.
func Clear(r *checkpoint.Record, story string) bool {
	was := isSuspected(r, story)
	if m := r.Doc().Sub("pipeline").Sub(idle); m.Len() > 0 {
		m.Delete(story)
		if m.Len() == 0 {
			r.Doc().Sub("pipeline").Delete(idle)
		}
	}
	return was
}

// verdict returns the counter for the stage's verdict.
func verdict(r *checkpoint.Record) (Counter, bool) {
	stage := r.Doc().Sub("stage")
	switch n, word := Stage(stage.Text("number")), stage.Text("verdict"); {
	case n == Validation && word == NoGo:
		return ValidationRetries, true
	case n == Quality && word == Fail:
		return QualityCycles, true
	}
	return Counter{}, false
}

// move increments the counter, and pauses the story if the counter exceeds its limit.
func (c Counter) move(r *checkpoint.Record, story string) {
	pipeline := r.Doc().MustSub("pipeline")
	n := c.Count(r, story) + 1
	pipeline.MustSub(c.Key).Set(story, n)
	if n > c.Limit {
		pipeline.MustSub("story_state").Set(story, Paused)
	}
}
