package layout

import (
	"errors"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// pipelineState returns the kind for state.json, the lead's state of all stories.
func pipelineState() *kind {
	return &kind{
		name: "state", listNoPhase: true,
		is: func(m *object) bool {
			return hasAny(m, "story_state", "stories_remaining", "priority_queue_ids", "worker_map", "crash_count", "quality_cycles") ||
				has(m, "complete", "last_check")
		},
		version: func(m *object) string {
			switch {
			case hasAny(m, "selected_story_id", "previous_quality_score"):
				return "4.0.0"
			case has(m, "story_state"):
				return "1.0.0"
			}
			return "1.0.0a"
		},
		rules:   stateRules,
		key:     func(m *object) string { return text(m, "team_name") },
		at:      func(m *object) any { return get(m, "last_check") },
		trigger: func(*object) checkpoint.Trigger { return checkpoint.Interval },
		apply:   applyState,
		update:  updateState,
		file:    func(*object) string { return "state.json" },
		indent:  defaultIndent,
	}
}

// applyState stores the state of all stories in the record.
func applyState(m *object, r *checkpoint.Record) {
	status := inProgress
	if get(m, "complete") == true {
		status = completed
	}
	setWorkflow(r, "id", text(m, "team_name"), "project", text(m, "project_brief.name"), "status", status,
		"started_at", text(m, "pipeline_start_time"), "updated_at", text(m, "last_check"))
	p := checkpoint.NewMap()
	for _, key := range []string{"story_state", "quality_cycles", "validation_retries", "crash_count"} {
		if v, ok := get(m, key).(*object); ok {
			p.Set(key, v.Clone())
		}
	}
	if q := texts(get(m, "priority_queue_ids")); len(q) > 0 {
		p.Set("priority_queue_ids", q)
	}
	r.Doc().Set("pipeline", p)
}

// updateState updates states and counters that differ from the record.
func updateState(r *checkpoint.Record, m *object) {
	was := m.Clone()
	for key, v := range sub(r.Doc(), "pipeline").All() {
		now, isMap := v.(*object)
		if !isMap {
			put(m, key, v)
			continue
		}
		for story, s := range now.All() {
			put(mustSub(m, key), story, s)
		}
	}
	if s := text(r.Doc(), "workflow.status"); s != "" {
		if done, ok := get(m, "complete").(bool); ok && done != (s == completed) {
			m.Set("complete", s == completed)
		}
	}
	touch(r, was, m, "last_check")
}

func stateRules(c *checker) {
	c.text("team_name", "storage_mode", "selected_story_id", "skill_repo_path")
	c.time("last_check", "pipeline_start_time")
	if v, ok := c.given("complete"); ok {
		if _, isBool := v.(bool); !isBool {
			c.fail("complete", "kind", "want true or false, got %s", shown(v))
		}
	}
	c.number("active_workers", 0, anyNumber, true)
	c.number("stories_remaining", 0, anyNumber, true)
	c.texts("priority_queue_ids")
	for _, key := range []string{"worker_map", "worktree_map", "story_results", "status_cache", "git_stats", "business_answers", "project_brief", "story_briefs", "stage_timestamps", "readiness_scores"} {
		c.mapping(key)
	}
	c.list("infra_issues")
	c.local("skill_repo_path")
	if v, ok := c.given("storage_mode"); ok && !slices.Contains([]string{"file", "linear"}, textOf(v)) {
		c.warn("storage_mode", "enum", "%s is none of file, linear", shown(v))
	}
	checkStoryStates(c)
	checkCounters(c)
	checkDependencies(c)
	checkWorkers(c)
	checkStageTimes(c)
}

func checkStoryStates(c *checker) {
	states, _ := c.mapping("story_state")
	for id, v := range states.All() {
		at := checkpoint.PathOf("story_state", id)
		switch word := textOf(v); {
		case slices.Contains(story.States(), word):
		case stageOf(word) == 4:
			c.warn(at, "enum", "%s is read as DONE", shown(v))
		case stageOf(word) >= 0:
			c.warn(at, "enum", "%s is read as STAGE_%d", shown(v), stageOf(word))
		default:
			c.fail(at, "enum", "want one of %s, got %s", strings.Join(story.States(), ", "), shown(v))
		}
	}
}

func checkCounters(c *checker) {
	for _, l := range story.Counters() {
		counts, _ := c.mapping(l.Key)
		for id, v := range counts.All() {
			at := checkpoint.PathOf(l.Key, id)
			c.number(at, 0, anyNumber, true)
			if n, ok := number(textOf(v)).Int(); ok && n > int64(l.Limit) {
				c.warn(at, "range", "%d is above the limit of %d", n, l.Limit)
			}
		}
	}
}

// checkWorkers compares the numbers of workers and remaining stories with the lists.
func checkWorkers(c *checker) {
	workers, ok := c.mapping("worker_map")
	if n, isInt := number(text(c.doc, "active_workers")).Int(); ok && isInt && int(n) != workers.Len() {
		c.warn("active_workers", "consistency", "%d, but worker_map has %d", n, workers.Len())
	}
	states, ok := c.mapping("story_state")
	left := len(openStories(c.doc, states))
	if n, isInt := number(text(c.doc, "stories_remaining")).Int(); ok && isInt && int(n) != left {
		c.warn("stories_remaining", "consistency", "%d, but %d stories are neither DONE nor PAUSED", n, left)
	}
}

// openStories returns queued stories, and stories that are neither done nor paused.
func openStories(m, states *object) map[string]bool {
	open := map[string]bool{}
	for id, v := range states.All() {
		if word := textOf(v); word != story.Done && word != story.Paused {
			open[id] = true
		}
	}
	for _, id := range texts(get(m, "priority_queue_ids")) {
		open[id] = true
	}
	return open
}

// Heartbeat returns the last write time of a pipeline lead's state. It returns zero if
// the record has no such state or if the pipeline is complete.
func Heartbeat(r *checkpoint.Record) time.Time {
	state := sub(r.Doc(), "layout.files.state.document")
	if r.Layout() != string(Pipeline) || state.Len() == 0 || get(state, "complete") != false {
		return time.Time{}
	}
	at, err := checkpoint.ParseTime(get(state, "last_check"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Worktree returns the worktree folder of a story in the lead's document, "" if unknown.
func Worktree(r *checkpoint.Record, id string) string {
	m := sub(r.Doc(), "layout.files.state.document.worktree_map")
	return textOf(get(m, checkpoint.PathOf("", id)))
}

// RecoverState recomputes the volatile values of the lead's document after a restart:
// active workers, remaining stories, and suspicions, which are deleted.
func RecoverState(r *checkpoint.Record) {
	m, ok := get(r.Doc(), "layout.files.state.document").(*object)
	if !ok || Name(r.Layout()) != Pipeline {
		return
	}
	open := openStories(m, sub(r.Doc(), "pipeline.story_state"))
	m.Delete("suspicious_idle")
	if has(m, "stories_remaining") {
		put(m, "stories_remaining", len(open))
	}
	if has(m, "active_workers") {
		n := 0
		for id := range sub(m, "worker_map").All() {
			if open[id] {
				n++
			}
		}
		put(m, "active_workers", n)
	}
}

// checkStageTimes warns about stages with an end before their start.
func checkStageTimes(c *checker) {
	times, _ := get(c.doc, "stage_timestamps").(*object)
	for story, v := range times.All() {
		stages, _ := v.(*object)
		for key := range stages.All() {
			at := checkpoint.PathOf(checkpoint.PathOf("stage_timestamps", story), key)
			c.time(at)
			stage, ends := strings.CutSuffix(key, "_end")
			start, errStart := checkpoint.ParseTime(get(stages, checkpoint.PathOf("", stage+"_start")))
			end, err := checkpoint.ParseTime(get(stages, checkpoint.PathOf("", key)))
			if ends && err == nil && errStart == nil && end.Before(start) {
				c.warn(at, "time", "%s ends before it begins", stage)
			}
		}
	}
}

// checkDependencies reports dependency cycles and warns about unknown stories.
func checkDependencies(c *checker) {
	deps, ok := c.mapping("depends_on")
	if !ok {
		return
	}
	known := slices.Concat(deps.Keys(), sub(c.doc, "story_state").Keys(), texts(get(c.doc, "priority_queue_ids")))
	isKnown := make(map[string]bool, len(known))
	for _, id := range known {
		isKnown[id] = true
	}
	for story, v := range deps.All() {
		at := checkpoint.PathOf("depends_on", story)
		c.texts(at)
		for i, id := range texts(v) {
			if !isKnown[id] {
				c.warn(checkpoint.PathOf(at, i), "consistency", "%.60q is no story of this state", id)
			}
		}
	}
	needs := func(id string) []string {
		v, _ := deps.Get(id)
		return texts(v)
	}
	var cycle *tasks.CycleError
	if _, err := tasks.Layers(deps.Keys(), needs); errors.As(err, &cycle) {
		c.fail(checkpoint.PathOf("depends_on", cycle.IDs[0]), "consistency", "a cycle: %s", strings.Join(cycle.IDs, " -> "))
	}
}
