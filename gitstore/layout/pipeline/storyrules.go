package pipeline

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
)

// storyRules checks a worker's checkpoint: first common fields, then required and foreign
// fields of its stage.
func storyRules(c *codec.Checker) {
	c.Required("storyId", "stage", "timestamp", "lastAction")
	c.Text("storyId", "agentId", "lastAction")
	c.Time("timestamp")
	if !values.Has(c.Doc, "agentId") {
		c.Warn("agentId", "required", "missing: a document of 4.0.0")
	} else if values.Text(c.Doc, "agentId") == "" {
		c.Fail("agentId", "required", "empty")
	}
	for _, key := range []string{"tasksCompleted", "tasksRemaining"} {
		if !values.Has(c.Doc, key) {
			c.Fail(key, "required", "missing")
		}
		c.Texts(key)
	}
	done := completedTasks(c.Doc)
	for i, id := range values.Texts(values.Get(c.Doc, "tasksRemaining")) {
		if done[id] {
			c.Fail(checkpoint.PathOf("tasksRemaining", i), "consistency", "%.60q is completed too", id)
		}
	}
	if id := values.Text(c.Doc, "storyId"); id != "" {
		c.Named("checkpoint-" + id)
	}
	if n, ok := checkStage(c); ok {
		checkStageFields(c, n)
	}
}

// completedTasks returns the tasks that a document lists as completed.
func completedTasks(m *checkpoint.Map) map[string]bool {
	done := map[string]bool{}
	for _, id := range values.Texts(values.Get(m, "tasksCompleted")) {
		done[id] = true
	}
	return done
}

func checkStage(c *codec.Checker) (int, bool) {
	v, ok := c.Given("stage")
	if !ok {
		return 0, false
	}
	n := stageOf(v)
	switch num, isNumber := v.(checkpoint.Number); {
	case isNumber && n < 0, n == 4:
		c.Fail("stage", "range", "want 0 to 3, got %s", codec.Shown(v))
		return 0, false
	case n < 0 || isNumber && num != checkpoint.Number(checkpoint.Int(int64(n))):
		c.Fail("stage", "kind", "want an integer from 0 to 3, got %s", codec.Shown(v))
		return 0, false
	case !isNumber:
		c.Warn("stage", "kind", "%s is read as %d", codec.Shown(v), n)
	}
	return n, true
}

func checkStageFields(c *codec.Checker, n int) {
	done, left := values.Texts(values.Get(c.Doc, "tasksCompleted")), values.Texts(values.Get(c.Doc, "tasksRemaining"))
	verdict := values.Text(c.Doc, "verdict")
	for _, f := range story.Fields() {
		if f.Stage == n && (f.For == "" || f.For == verdict) {
			c.Required(f.Document)
		}
		switch {
		case f.Stage != n:
		case f.Document == "qualityScore":
			checkScore(c, f)
		case f.Max > 0:
			c.Number(f.Document, float64(f.Min), float64(f.Max), false)
		case f.Words != nil:
			c.OneOf(f.Document, f.Words...)
		}
	}
	switch n {
	case 0:
		checkNoTasks(c, "tasksCompleted", len(done), n)
		if c.Doc.List("tasksRemaining") != nil && len(left) == 0 {
			c.Fail("tasksRemaining", "required", "empty, want the tasks that stage 0 created")
		}
	case story.Validation:
		checkNoTasks(c, "tasksCompleted", len(done), n)
		checkNoTasks(c, "tasksRemaining", len(left), n)
	case story.Quality:
		checkNoTasks(c, "tasksRemaining", len(left), n)
	}
	c.Text("reason")
	if _, isList := values.Get(c.Doc, "issues").([]any); isList {
		c.Warn("issues", "kind", "a list, want text")
	} else {
		c.Text("issues")
	}
	checkOtherStages(c, n, verdict)
}

// storyAgainst checks that a complete story has completed all tasks of its earlier stages.
func storyAgainst(c *codec.Checker, before *checkpoint.Record) {
	if stageOf(values.Get(c.Doc, "stage")) != 3 || values.Text(before.Doc(), "stage.story") != values.Text(c.Doc, "storyId") {
		return
	}
	done := completedTasks(c.Doc)
	for id := range values.Sub(before.Doc(), "tasks").All() {
		if !done[id] {
			c.Fail("tasksCompleted", "consistency", "%.60q is missing, stage %s named it", id, values.Text(before.Doc(), "stage.number"))
		}
	}
}

func checkNoTasks(c *codec.Checker, key string, n, stage int) {
	if n > 0 {
		c.Fail(key, "consistency", "%d tasks, want none in stage %d", n, stage)
	}
}

// checkScore checks a score, and warns about one of another scale.
func checkScore(c *codec.Checker, f story.Field) {
	path := f.Document
	c.Number(path, float64(f.Min), float64(f.Max), false)
	v, _ := c.Given(path)
	if n := checkpoint.Number(values.AsText(v)); n != "" && n.Float() > 0 && n.Float() <= 10 {
		if _, whole := n.Int(); !whole {
			c.Warn(path, "range", "%s looks like a scale of 0 to 10", n)
		}
	}
}

func checkOtherStages(c *codec.Checker, n int, verdict string) {
	told := map[string]bool{}
	for _, f := range story.Fields() {
		told[f.Document] = told[f.Document] || f.Stage == n
	}
	for _, f := range story.Fields() {
		if _, ok := c.Given(f.Document); ok && !told[f.Document] {
			told[f.Document] = true
			c.Add(f.Document != "verdict", f.Document, "place", "stage %d has none", n)
		}
	}
	if _, ok := c.Given("reason"); ok && n == 1 && verdict != "NO-GO" {
		c.Warn("reason", "consistency", "there is one, but the verdict is not NO-GO")
	}
	if _, ok := c.Given("issues"); ok && n == 3 && verdict != "FAIL" {
		c.Warn("issues", "consistency", "there are some, but the verdict is not FAIL")
	}
}
