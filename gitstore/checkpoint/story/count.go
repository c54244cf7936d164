package story

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
)

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
	if s := r.Doc().Sub("stage").Text("story"); s != "" {
		return s
	}
	return string(r.Issue())
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

// move increments the counter, and pauses the story if the counter exceeds its limit.
func (c Counter) move(r *checkpoint.Record, story string) {
	pipeline := r.Doc().MustSub("pipeline")
	n := c.Count(r, story) + 1
	pipeline.MustSub(c.Key).Set(story, n)
	if n > c.Limit {
		pipeline.MustSub("story_state").Set(story, Paused)
	}
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
