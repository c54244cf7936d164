package layout

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// storyRules checks a worker's checkpoint: first common fields, then required and foreign
// fields of its stage.
func storyRules(c *checker) {
	c.required("storyId", "stage", "timestamp", "lastAction")
	c.text("storyId", "agentId", "lastAction")
	c.time("timestamp")
	if !has(c.doc, "agentId") {
		c.warn("agentId", "required", "missing: a document of 4.0.0")
	} else if text(c.doc, "agentId") == "" {
		c.fail("agentId", "required", "empty")
	}
	for _, key := range []string{"tasksCompleted", "tasksRemaining"} {
		if !has(c.doc, key) {
			c.fail(key, "required", "missing")
		}
		c.texts(key)
	}
	done := completedTasks(c.doc)
	for i, id := range texts(get(c.doc, "tasksRemaining")) {
		if done[id] {
			c.fail(checkpoint.PathOf("tasksRemaining", i), "consistency", "%.60q is completed too", id)
		}
	}
	if id := text(c.doc, "storyId"); id != "" {
		c.named("checkpoint-" + id)
	}
	if n, ok := checkStage(c); ok {
		checkStageFields(c, n)
	}
}

// completedTasks returns the tasks that a document lists as completed.
func completedTasks(m *object) map[string]bool {
	done := map[string]bool{}
	for _, id := range texts(get(m, "tasksCompleted")) {
		done[id] = true
	}
	return done
}

// checkStage returns the stage number.
func checkStage(c *checker) (int, bool) {
	v, ok := c.given("stage")
	if !ok {
		return 0, false
	}
	n := stageOf(v)
	switch num, isNumber := v.(number); {
	case isNumber && n < 0, n == 4:
		c.fail("stage", "range", "want 0 to 3, got %s", shown(v))
		return 0, false
	case n < 0 || isNumber && num != number(checkpoint.Int(int64(n))):
		c.fail("stage", "kind", "want an integer from 0 to 3, got %s", shown(v))
		return 0, false
	case !isNumber:
		c.warn("stage", "kind", "%s is read as %d", shown(v), n)
	}
	return n, true
}

// checkStageFields checks the fields of a stage.
func checkStageFields(c *checker, n int) {
	done, left := texts(get(c.doc, "tasksCompleted")), texts(get(c.doc, "tasksRemaining"))
	verdict := text(c.doc, "verdict")
	switch n {
	case 0:
		c.required("planScore")
		c.number("planScore", 0, 4, false)
		checkNoTasks(c, "tasksCompleted", len(done), n)
		if isList(c.doc, "tasksRemaining") && len(left) == 0 {
			c.fail("tasksRemaining", "required", "empty, want the tasks that stage 0 created")
		}
	case 1:
		c.required("readiness", "verdict")
		c.number("readiness", 1, 10, false)
		c.oneOf("verdict", "GO", "NO-GO")
		checkNoTasks(c, "tasksCompleted", len(done), n)
		checkNoTasks(c, "tasksRemaining", len(left), n)
		if verdict == "NO-GO" {
			c.required("reason")
		}
	case 3:
		c.required("verdict", "qualityScore")
		c.oneOf("verdict", "PASS", "CONCERNS", "WAIVED", "FAIL")
		checkScore(c, "qualityScore")
		checkNoTasks(c, "tasksRemaining", len(left), n)
		if verdict == "FAIL" {
			c.required("issues")
		}
	}
	c.text("reason")
	if _, isList := get(c.doc, "issues").([]any); isList {
		c.warn("issues", "kind", "a list, want text")
	} else {
		c.text("issues")
	}
	checkOtherStages(c, n, verdict)
}

// storyAgainst checks that a complete story has completed all tasks of its earlier stages.
func storyAgainst(c *checker, before *checkpoint.Record) {
	if stageOf(get(c.doc, "stage")) != 3 || text(before.Doc(), "stage.story") != text(c.doc, "storyId") {
		return
	}
	done := completedTasks(c.doc)
	for id := range sub(before.Doc(), "tasks").All() {
		if !done[id] {
			c.fail("tasksCompleted", "consistency", "%.60q is missing, stage %s named it", id, text(before.Doc(), "stage.number"))
		}
	}
}

// checkNoTasks reports tasks in a stage without tasks.
func checkNoTasks(c *checker, key string, n, stage int) {
	if n > 0 {
		c.fail(key, "consistency", "%d tasks, want none in stage %d", n, stage)
	}
}

// checkScore checks a score from 0 to 100.
func checkScore(c *checker, path string) {
	c.number(path, 0, 100, false)
	v, _ := c.given(path)
	if n := number(textOf(v)); n != "" && n.Float() > 0 && n.Float() <= 10 {
		if _, whole := n.Int(); !whole {
			c.warn(path, "range", "%s looks like a scale of 0 to 10", n)
		}
	}
}

// checkOtherStages reports fields of other stages.
func checkOtherStages(c *checker, n int, verdict string) {
	stages := map[string][]int{
		"planScore": {0}, "readiness": {1}, "verdict": {1, 3}, "reason": {1}, "qualityScore": {3}, "issues": {3},
	}
	for _, f := range stageFields {
		if _, ok := c.given(f[0]); !ok || slices.Contains(stages[f[0]], n) {
			continue
		}
		if f[0] == "verdict" {
			c.fail("verdict", "place", "stage %d has none", n)
			continue
		}
		c.warn(f[0], "place", "stage %d has none", n)
	}
	if _, ok := c.given("reason"); ok && n == 1 && verdict != "NO-GO" {
		c.warn("reason", "consistency", "there is one, but the verdict is not NO-GO")
	}
	if _, ok := c.given("issues"); ok && n == 3 && verdict != "FAIL" {
		c.warn("issues", "consistency", "there are some, but the verdict is not FAIL")
	}
}
