package pipeline

import (
	"errors"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// stateKind returns the kind for state.json, the lead's state of all stories.
func stateKind() *codec.Kind {
	return &codec.Kind{
		Name: "state", ListNoPhase: true, Heartbeat: true,
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "story_state", "stories_remaining", "priority_queue_ids", "worker_map", "crash_count", "quality_cycles") ||
				values.Has(m, "complete", "last_check")
		},
		Version: func(m *checkpoint.Map) string {
			switch {
			case values.HasAny(m, "selected_story_id", "previous_quality_score"):
				return "4.0.0"
			case values.Has(m, "story_state"):
				return "1.0.0"
			}
			return "1.0.0a"
		},
		Rules:   stateRules,
		Key:     func(m *checkpoint.Map) string { return values.Text(m, "team_name") },
		At:      func(m *checkpoint.Map) any { return values.Get(m, "last_check") },
		Trigger: func(*checkpoint.Map) checkpoint.Trigger { return checkpoint.Interval },
		Apply:   applyState,
		Update:  updateState,
		File:    func(*checkpoint.Map) string { return "state.json" },
	}
}

// applyState stores the state of all stories in the record.
func applyState(m *checkpoint.Map, r *checkpoint.Record) {
	status := workflow.InProgress
	if values.Get(m, "complete") == true {
		status = workflow.Completed
	}
	workflow.Set(r, "id", values.Text(m, "team_name"), "project", values.Text(m, "project_brief.name"), "status", status,
		"started_at", values.Text(m, "pipeline_start_time"), "updated_at", values.Text(m, "last_check"))
	p := checkpoint.NewMap()
	for _, key := range []string{"story_state", "quality_cycles", "validation_retries", "crash_count"} {
		if v, ok := values.Get(m, key).(*checkpoint.Map); ok {
			p.Set(key, v.Clone())
		}
	}
	if q := values.Texts(values.Get(m, "priority_queue_ids")); len(q) > 0 {
		p.Set("priority_queue_ids", q)
	}
	if done, ok := values.Get(m, "complete").(bool); ok {
		p.Set("complete", done)
	}
	r.Doc().Set("pipeline", p)
	if !story.Is(r) {
		r.SetResumeFrom(story.Next(r))
	}
}

// updateState updates states and counters that differ from the record. The end of the
// workflow counts if the record still has the document's value of complete.
func updateState(r *checkpoint.Record, m *checkpoint.Map) {
	was := m.Clone()
	for key, v := range values.Sub(r.Doc(), "pipeline").All() {
		now, isMap := v.(*checkpoint.Map)
		if !isMap {
			values.Put(m, key, v)
			continue
		}
		for story, s := range now.All() {
			values.Put(m.MustSub(key), story, s)
		}
	}
	done, ok := values.Get(was, "complete").(bool)
	if s := values.Text(r.Doc(), "workflow.status"); s != "" && ok && values.Get(m, "complete") == done && done != (s == workflow.Completed) {
		m.Set("complete", s == workflow.Completed)
	}
	workflow.Touch(r, was, m, "last_check")
}

func stateRules(c *codec.Checker) {
	c.Text("team_name", "storage_mode", "selected_story_id", "skill_repo_path")
	c.Time("last_check", "pipeline_start_time")
	c.Bool("complete")
	c.Number("active_workers", 0, codec.AnyNumber, true)
	c.Number("stories_remaining", 0, codec.AnyNumber, true)
	c.Texts("priority_queue_ids")
	for _, key := range []string{"worker_map", "worktree_map", "story_results", "status_cache", "git_stats", "business_answers", "project_brief", "story_briefs", "stage_timestamps", "readiness_scores"} {
		c.Mapping(key)
	}
	scores, _ := c.Mapping("readiness_scores")
	for id := range scores.All() {
		c.Number(checkpoint.PathOf("readiness_scores", id), 0, codec.AnyNumber, false)
	}
	c.List("infra_issues")
	c.Local("skill_repo_path")
	if v, ok := c.Given("storage_mode"); ok && !slices.Contains([]string{"file", "linear"}, values.AsText(v)) {
		c.Warn("storage_mode", "enum", "%s is not one of file, linear", codec.Shown(v))
	}
	checkStoryStates(c)
	checkCounters(c)
	checkDependencies(c)
	checkWorkers(c)
	checkStageTimes(c)
}

func checkStoryStates(c *codec.Checker) {
	states, _ := c.Mapping("story_state")
	for id, v := range states.All() {
		at := checkpoint.PathOf("story_state", id)
		switch word := values.AsText(v); {
		case slices.Contains(story.States(), word):
		case stageOf(word) == 4:
			c.Warn(at, "enum", "%s is read as DONE", codec.Shown(v))
		case stageOf(word) >= 0:
			c.Warn(at, "enum", "%s is read as STAGE_%d", codec.Shown(v), stageOf(word))
		default:
			c.Fail(at, "enum", "want one of %s, got %s", strings.Join(story.States(), ", "), codec.Shown(v))
		}
	}
}

func checkCounters(c *codec.Checker) {
	for _, l := range story.Counters() {
		counts, _ := c.Mapping(l.Key)
		for id, v := range counts.All() {
			at := checkpoint.PathOf(l.Key, id)
			c.Number(at, 0, codec.AnyNumber, true)
			if n, ok := checkpoint.Number(values.AsText(v)).Int(); ok && n > int64(l.Limit) {
				c.Warn(at, "range", "%d is above the limit of %d", n, l.Limit)
			}
		}
	}
}

// checkWorkers compares the numbers of workers and remaining stories with the lists.
func checkWorkers(c *codec.Checker) {
	workers, ok := c.Mapping("worker_map")
	if n, isInt := checkpoint.Number(values.Text(c.Doc, "active_workers")).Int(); ok && isInt && int(n) != workers.Len() {
		c.Warn("active_workers", "consistency", "%d, but worker_map has %d", n, workers.Len())
	}
	states, ok := c.Mapping("story_state")
	left := len(openStories(c.Doc, states))
	if n, isInt := checkpoint.Number(values.Text(c.Doc, "stories_remaining")).Int(); ok && isInt && int(n) != left {
		c.Warn("stories_remaining", "consistency", "%d, but %d stories are neither DONE nor PAUSED", n, left)
	}
}

// openStories returns queued stories, and stories that are neither done nor paused.
func openStories(m, states *checkpoint.Map) map[string]bool {
	open := map[string]bool{}
	for id, v := range states.All() {
		if word := values.AsText(v); word != story.Done && word != story.Paused {
			open[id] = true
		}
	}
	for _, id := range values.Texts(values.Get(m, "priority_queue_ids")) {
		open[id] = true
	}
	return open
}

// Heartbeat returns the last write time of a pipeline lead's state. It returns zero if
// the record has no such state or if the pipeline is complete.
func Heartbeat(r *checkpoint.Record) time.Time {
	var at time.Time
	if m := stateOf(r); m != nil && values.Get(m, "complete") == false {
		at, _ = checkpoint.ParseTime(values.Get(m, "last_check"))
	}
	return at
}

// Worktree returns the worktree folder of a story in the lead's document, "" if unknown.
func Worktree(r *checkpoint.Record, id string) string {
	m := values.Sub(r.Doc(), "layout.files.state.document.worktree_map")
	return values.AsText(values.Get(m, checkpoint.PathOf("", id)))
}

// RecoverState recomputes the volatile values of the lead's document after a restart:
// active workers, remaining stories, and suspicions, which are deleted.
func RecoverState(r *checkpoint.Record) {
	if m := stateOf(r); m != nil {
		m.Delete("suspicious_idle")
		CountStories(r)
	}
}

// stateOf returns the lead's document in a record, or nil.
func stateOf(r *checkpoint.Record) *checkpoint.Map {
	m, ok := values.Get(r.Doc(), "layout.files.state.document").(*checkpoint.Map)
	if !ok || codec.Name(r.Layout()) != Name {
		return nil
	}
	return m
}

// CountStories recomputes the numbers of active workers and remaining stories in the lead's
// document from the states in the record.
func CountStories(r *checkpoint.Record) {
	m := stateOf(r)
	if m == nil {
		return
	}
	open := openStories(m, values.Sub(r.Doc(), "pipeline.story_state"))
	if values.Has(m, "stories_remaining") {
		values.Put(m, "stories_remaining", len(open))
	}
	if values.Has(m, "active_workers") {
		n := 0
		for id := range values.Sub(m, "worker_map").All() {
			if open[id] {
				n++
			}
		}
		values.Put(m, "active_workers", n)
	}
}

// checkStageTimes warns about stages with an end before their start.
func checkStageTimes(c *codec.Checker) {
	for story, stages := range c.Doc.Sub("stage_timestamps").Subs() {
		for key := range stages.All() {
			at := checkpoint.PathOf(checkpoint.PathOf("stage_timestamps", story), key)
			c.Time(at)
			stage, ends := strings.CutSuffix(key, "_end")
			start, errStart := checkpoint.ParseTime(values.Get(stages, checkpoint.PathOf("", stage+"_start")))
			end, err := checkpoint.ParseTime(values.Get(stages, checkpoint.PathOf("", key)))
			if ends && err == nil && errStart == nil && end.Before(start) {
				c.Warn(at, "time", "%s ends before it begins", stage)
			}
		}
	}
}

// checkDependencies reports dependency cycles and warns about unknown stories.
func checkDependencies(c *codec.Checker) {
	deps, ok := c.Mapping("depends_on")
	if !ok {
		return
	}
	known := slices.Concat(deps.Keys(), values.Sub(c.Doc, "story_state").Keys(), values.Texts(values.Get(c.Doc, "priority_queue_ids")))
	isKnown := make(map[string]bool, len(known))
	for _, id := range known {
		isKnown[id] = true
	}
	for story, v := range deps.All() {
		at := checkpoint.PathOf("depends_on", story)
		c.Texts(at)
		for i, id := range values.Texts(v) {
			if !isKnown[id] {
				c.Warn(checkpoint.PathOf(at, i), "consistency", "%.60q is no story of this state", id)
			}
		}
	}
	needs := func(id string) []string {
		v, _ := deps.Get(id)
		return values.Texts(v)
	}
	_, err := tasks.Layers(deps.Keys(), needs)
	if cycle, ok := errors.AsType[*tasks.CycleError](err); ok {
		c.Fail(checkpoint.PathOf("depends_on", cycle.IDs[0]), "consistency", "a cycle: %s", strings.Join(cycle.IDs, " -> "))
	}
}
