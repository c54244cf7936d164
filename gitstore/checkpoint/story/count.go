package story

import (
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
)

// A Counter is something that may happen to a story so often and no more.
type Counter struct {
	Key   string // below pipeline
	Limit int
	what  string
}

// The counters.
var (
	QualityCycles     = Counter{"quality_cycles", 2, "the quality gate failed"}
	ValidationRetries = Counter{"validation_retries", 1, "the validation said NO-GO"}
	CrashCount        = Counter{"crash_count", 1, "its worker crashed"}
)

// Counters lists them.
func Counters() []Counter { return []Counter{QualityCycles, ValidationRetries, CrashCount} }

// A LimitError is a story that is paused because a counter passed its limit, or
// a task of other work than stories.
type LimitError struct {
	Story        string
	Task         bool
	Count, Limit int
	What         string // what was counted, "" for a story that is paused for another reason
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

// Of returns the story that a record is of, its issue's key where it is of
// none.
func Of(r *checkpoint.Record) string {
	if s := r.Doc().Sub("stage").Text("story"); s != "" {
		return s
	}
	return string(r.Issue())
}

// Is reports whether a record is of one story.
func Is(r *checkpoint.Record) bool { return r.Doc().Sub("stage") != nil }

// Has reports whether a record is the lead's and has the story.
func Has(r *checkpoint.Record, story string) bool {
	_, ok := r.Doc().Sub("pipeline").Sub("story_state").Get(story)
	return ok
}

// Count returns how often it happened to a story.
func (c Counter) Count(r *checkpoint.Record, story string) int {
	n, _ := checkpoint.Number(r.Doc().Sub("pipeline").Sub(c.Key).Text(story)).Int()
	return int(max(n, 0))
}

// move counts once more and pauses the story behind the limit.
func (c Counter) move(r *checkpoint.Record, story string) {
	pipeline := r.Doc().MustSub("pipeline")
	n := c.Count(r, story) + 1
	pipeline.MustSub(c.Key).Set(story, n)
	if n > c.Limit {
		pipeline.MustSub("story_state").Set(story, Paused)
	}
}

// Judge counts what the stage of a story's record says: a NO-GO or a FAIL. It
// is called once for every document of a worker.
func Judge(r *checkpoint.Record) {
	if c, ok := verdict(r); ok {
		c.move(r, Of(r))
	}
}

// SentBack reports whether the verdict of a story's record sends it back.
func SentBack(r *checkpoint.Record) bool {
	_, ok := verdict(r)
	return ok
}

// verdict is the counter that the stage's verdict moves.
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

// Crash counts a crash of a story's worker that was confirmed.
func Crash(r *checkpoint.Record, story string) {
	Clear(r, story)
	CrashCount.move(r, story)
}

// Err returns a *LimitError for a story that is paused, with the counter that
// passed its limit.
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

// Lift lets a paused story go on: a person decided so. Its counters stay, the
// next one pauses it again.
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
