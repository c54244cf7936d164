package codec

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// maxReplans is the limit of replans per phase.
const maxReplans = 2

// Phase reports a value that is not a phase. Names, and numbers as text, are warnings.
func (c *Checker) Phase(path string) {
	v, ok := c.Given(path)
	if !ok {
		return
	}
	switch n, isInt := checkpoint.Number(values.AsText(v)).Int(); {
	case values.AsText(v) == "":
		c.Fail(path, "kind", "want a phase, got %s", Shown(v))
	case isInt && n < 0:
		c.Fail(path, "range", "want at least 0, got %d", n)
	case isInt:
		if _, isText := v.(string); isText {
			c.Warn(path, "kind", "%s is a number written as text", Shown(v))
		}
	default:
		c.Warn(path, "kind", "%s is read as a phase's name", Shown(v))
	}
}

// Phases checks a list of phases.
func (c *Checker) Phases(path string) {
	l, ok := c.List(path)
	seen := map[string]bool{}
	for i := range l {
		p := workflow.PhaseName(l[i])
		switch {
		case !ok:
		case p == "":
			c.Fail(checkpoint.PathOf(path, i), "kind", "want a phase, got %s", Shown(l[i]))
		case seen[p]:
			c.Warn(checkpoint.PathOf(path, i), "consistency", "phase %.40s is there twice", p)
		}
		seen[p] = true
	}
}

// Replans compares the replan counts with the history. The counts have three possible
// keys.
func (c *Checker) Replans() {
	history, ok := c.List("replan_history")
	counts := map[string]int{}
	for i, e := range history {
		m, isMap := e.(*checkpoint.Map)
		if !isMap {
			c.Fail(checkpoint.PathOf("replan_history", i), "kind", "want a mapping, got %s", Shown(e))
			continue
		}
		counts[workflow.PhaseName(values.Get(m, "phase"))]++
		c.Time(checkpoint.PathOf("replan_history", i) + ".timestamp")
	}
	for phase, n := range counts {
		if n > maxReplans {
			c.Warn("replan_history", "consistency", "phase %.40s was planned anew %d times, the limit is %d", phase, n, maxReplans)
		}
	}
	for _, name := range []string{"replan_count", "replan_phase_counts", "phase_replan_count"} {
		said, isMap := c.Mapping(name)
		if !ok || !isMap {
			continue
		}
		for phase, v := range said.All() {
			if n, isInt := checkpoint.Number(values.AsText(v)).Int(); !isInt || int(n) != counts[workflow.PhaseName(phase)] {
				c.Warn(checkpoint.PathOf(name, phase), "consistency", "%s, but the history has %d", Shown(v), counts[workflow.PhaseName(phase)])
			}
		}
	}
}
