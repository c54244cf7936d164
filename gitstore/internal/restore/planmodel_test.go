package restore

import (
	"fmt"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// A modelPath is one path of the exhaustive model: its versions, and two more stored versions. The
// version 0 is an absent path, and none is no version.
type modelPath struct {
	versions[int]
	old, new int  // versions of a checkpoint before, and of one after
	head     bool // HEAD moved since the save
}

const none = -1

// forEachPath calls f with every path of the model, or with 1% of them.
func forEachPath(f func(modelPath)) {
	every, n := 101, 0
	if gittest.Torture() {
		every = 1
	}
	all := []int{0, 1, 2, 3, 4}
	for _, origin := range []relation{equal, before, after, beside, unset} {
		for head := range 3 { // equal, ahead or diverged
			for _, then := range all {
				for _, want := range all {
					for _, now := range all {
						for _, here := range pick(origin == equal, []int{want}, pick(origin == unset, []int{none}, all)) {
							for _, headNow := range pick(head == 0, []int{then}, all) {
								for _, old := range []int{none, 0, 1, 2} {
									for _, new := range pick(origin == equal, []int{none}, []int{none, 0, 3, 2}) {
										for _, common := range pick(origin == beside, []int{then, old}, []int{want}) {
											for extra := range 3 { // captured, left out, ignored
												if n++; n%every != 0 || common == none {
													continue
												}
												v := modelPath{versions[int]{diverged: head == 2, want: want, headThen: then, headNow: headNow, now: now, here: here, origin: origin}, old, new, head > 0}
												v.common = &common
												v.nowIn, v.hereIn = v.storedAt(now), v.storedAt(here)
												v.hereIn.before = v.hereIn.before || origin == equal || origin == before
												v.carried, v.unproven = extra == 1 && want != 0, extra > 0 && want == 0
												f(v)
											}
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func (v *modelPath) storedAt(x int) stored {
	return stored{history: x == v.headThen, before: x == v.old || x == v.want, after: x == v.new}
}

// requests are the modes of the model: a resume and going back, each with and without a merge, and
// --force.
var requests = map[string]choices{
	"resume": {}, "resume, merge": {choice: Merged}, "back": {back: true}, "back, merge": {back: true, choice: Merged}, "force": {back: true, force: true},
}

const merged = 9 // the result of a merge

// result returns the version at a path after an action.
func (v *modelPath) result(a action) int {
	switch a {
	case write:
		return v.want
	case merge, mergeFitting:
		return merged
	}
	return v.now
}

// violated returns the promise that an action for a path breaks, or "".
func (v *modelPath) violated(c choices, a action, base int) string {
	r, p := v.result(a), v.position(c.back)
	isPlain := !v.carried && !v.unproven && !c.force
	switch {
	case p == unknown && a == write && !c.force:
		return "unknown content is overwritten"
	case isPlain && c.back && p != unknown && p != committed && r != v.want:
		return "going back does not reach the checkpoint"
	case isPlain && !c.back && p == older && r != v.want:
		return "a resume does not bring back what is lost"
	case !c.back && (p == newer || p == committed) && a == write && base != v.now:
		return "a resume reverts newer content"
	case (a == merge || a == changed) && (base == v.want || base == v.now && !c.back):
		return "a change of one side is a conflict"
	case v.unproven && r != v.now:
		return "a path is removed without proof"
	case v.carried && (p == newer || p == parallel || p == committed) && r != v.now:
		return "a carried version replaces a newer one"
	case r != v.now && !v.reverts(v.now, r):
		return "undo is not exact"
	case r != v.now && !v.reverts(r, v.now):
		return "redo is not exact"
	}
	return ""
}

// reverts reports whether an undo of the change from want to now reaches want.
func (v *modelPath) reverts(want, now int) bool {
	u := undoOf(want, now, now, v.headThen, v.headThen)
	a, _ := u.plan(choices{back: true, choice: Mine})
	return a == write
}

// TestPlanKeepsItsPromises checks the decision about every path of the model, and that the model
// finds the faults of simpler rules.
func TestPlanKeepsItsPromises(t *testing.T) {
	t.Parallel()
	decisions, example := 0, map[string]string{}
	simpler := map[string]func(*modelPath, choices) (action, int){
		"base is always the common checkpoint": func(v *modelPath, c choices) (action, int) {
			base := v.want
			if v.origin == before || v.origin == beside {
				base = v.base(v.position(false), choices{})
			}
			return v.decideSimply(base, c), base
		},
		"base is always HEAD": func(v *modelPath, c choices) (action, int) { return v.decideSimply(v.headThen, c), v.headThen },
		"carried is captured": func(v *modelPath, c choices) (action, int) {
			captured := *v
			captured.carried = false
			return captured.plan(c)
		},
		"what is stored is overwritten": func(v *modelPath, c choices) (action, int) {
			base := v.base(v.position(c.back), c)
			if p := v.position(c.back); p != unknown && p != same {
				return write, base
			}
			return v.plan(c)
		},
	}
	caught := map[string]int{}
	forEachPath(func(v modelPath) {
		for name, c := range requests {
			decisions++
			a, base := v.plan(c)
			if what := v.violated(c, a, base); what != "" {
				example[what] = fmt.Sprintf("%s: action %d, base %d: %+v", name, a, base, v)
			}
			for rule, plan := range simpler {
				if a, base := plan(&v, c); v.violated(c, a, base) != "" {
					caught[rule]++
				}
			}
		}
	})
	assert.Empty(t, example)
	assert.Greater(t, decisions, 50_000)
	for rule := range simpler {
		assert.Positive(t, caught[rule], rule)
	}
	t.Log(decisions, "decisions", caught)
}

// decideSimply is a three-way comparison that writes over all stored content.
func (v *modelPath) decideSimply(base int, c choices) action {
	switch p := v.position(c.back); {
	case p == same, base == v.want, v.unproven:
		return nothing
	case base == v.now, p != unknown:
		return write
	}
	return changed
}
