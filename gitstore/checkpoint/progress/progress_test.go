package progress

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// record returns a record with the given section.
func record(t *testing.T, section string) *checkpoint.Record {
	t.Helper()
	r, err := checkpoint.Decode([]byte("version: \"1.0\"\nissue_number: 42\n" + section))
	require.NoError(t, err)
	return r
}

func step(phase string) Step { return Step{Phase: phase, At: noon} }

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name, section, typed, want, err string
	}{
		{"by number", "progress: {total: 5}", "3", "3", ""},
		{"with zeros", "progress: {total: 5}", "03", "3", ""},
		{"with a point that says nothing", "progress: {total: 5}", "3.0", "3", ""},
		{"with a point, before anybody counted", "", "phase_01.00", "1", ""},
		{"in between with zeros", "progress: {total: 5}", "04.50", "4.5", ""},
		{"a name with a point", "progress: {names: ['1.0', '1']}", "1.0", "1.0", ""},
		{"nothing before the point", "", ".0", ".0", ""},
		{"with a word before it", "progress: {total: 5}", "phase_3", "3", ""},
		{"behind the last", "progress: {total: 5}", "6", "", "phase 6: the workflow has 5 phases"},
		{"zero", "progress: {total: 5}", "0", "", "phase 0: the workflow has 5 phases"},
		{"one in between", "progress: {total: 5}", "4b", "4b", ""},
		{"one in between with a point", "progress: {total: 5}", "4.5", "4.5", ""},
		{"one in between behind the last", "progress: {total: 5}", "6b", "", "phase 6b: the workflow has 5 phases"},
		{"a number of another base", "progress: {total: 5}", "0x1", "", "phase 0x1: the workflow has 5 phases"},
		{"more than a number holds", "progress: {total: 5}", "99999999999999999999", "", "phase 99999999999999999999: the workflow has 5 phases"},
		{"a name among numbers", "progress: {total: 5}", "build", "", "phase build: the workflow has 5 phases"},
		{"by name", "progress: {names: [plan, build]}", "build", "build", ""},
		{"a name by number", "progress: {names: [plan, build]}", "2", "build", ""},
		{"a name that is a number", "progress: {names: ['2', '1']}", "1", "1", ""},
		{"no such name", "progress: {names: [plan, build]}", "test", "", "phase test: the workflow has the phases plan, build"},
		{"nothing is known", "", "anything", "anything", ""},
		{"the current one", "progress: {total: 3, completed: ['1']}", "", "2", ""},
		{"the current one of a record without a total", "progress: {current: docs}", "", "docs", ""},
		{"none is left", "progress: {total: 1, completed: ['1']}", "", "", "no phase given (no phase is left)"},
		{"none was named yet", "", "", "", "no phase given (no phase is left)"},
		{"too long", "", strings.Repeat("x", 201), "", "the workflow has no phases yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Resolve(record(t, c.section), c.typed)
			if c.err != "" {
				var unknown *RefusedError
				require.ErrorAs(t, err, &unknown)
				assert.Equal(t, failure.Usage, unknown.Code)
				assert.Contains(t, err.Error(), c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestMatch(t *testing.T) {
	const section = "workflow: {id: w1, description: 'Sign in  with a Key', project: auth_system, plan_path: docs/plan.md}\n"
	for _, c := range []struct {
		name string
		q    Query
		want int
	}{
		{"nothing is asked", Query{}, 0},
		{"its description", Query{Text: " sign in with a key "}, 3},
		{"a part of it", Query{Text: "sign in"}, 0},
		{"its project", Query{Text: "Auth System"}, 2},
		{"its project as it is", Query{Text: "auth_system"}, 2},
		{"its plan as a text", Query{Text: "docs/plan.md"}, 1},
		{"its plan", Query{Plan: "./docs/plan.md"}, 3},
		{"another plan", Query{Plan: "plan.md"}, 0},
		{"its id", Query{Plan: "x", IDs: []string{"a", "w1"}}, 3},
		{"its issue", Query{IDs: []string{"42"}}, 3},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, c.q.Match(record(t, section))) })
	}
	assert.Zero(t, Query{Text: "x", Plan: "y"}.Match(record(t, "")))
	assert.Zero(t, Query{IDs: []string{"-"}}.Match(record(t, "workflow: {id: 7}\n")), "no id is not the id -")
}

// Each case checks the current, completed, skipped and remaining phases after all moves.
func TestTransitions(t *testing.T) {
	start := func(p string) func(*checkpoint.Record) error {
		return func(r *checkpoint.Record) error { return step(p).Start(r, 3) }
	}
	done := func(p string) func(*checkpoint.Record) error {
		return func(r *checkpoint.Record) error { return step(p).Done(r, Report{}) }
	}
	skip := func(p string) func(*checkpoint.Record) error {
		return func(r *checkpoint.Record) error { return step(p).Skip(r, "") }
	}
	replan := func(p string) func(*checkpoint.Record) error {
		return func(r *checkpoint.Record) error { return step(p).Replan(r, "", 2) }
	}
	fail := func(p string, then OnFailure) func(*checkpoint.Record) error {
		return func(r *checkpoint.Record) error { _, err := step(p).Fail(r, "x", then, 3); return err }
	}
	type moves = []func(*checkpoint.Record) error
	for _, c := range []struct {
		name, section string
		moves         moves
		want          string // current; completed; skipped; remaining
	}{
		{"the first", "progress: {total: 3}", moves{start("1"), done("1")}, "2;1;;2,3"},
		{"without a start", "progress: {total: 3}", moves{done("1"), done("2")}, "3;1,2;;3"},
		{"to the end", "progress: {total: 2}", moves{done("1"), done("2")}, "3;1,2;;"},
		{"names to the end", "progress: {names: [a, b]}", moves{done("a"), done("b")}, ";a,b;;"},
		{"out of order", "progress: {total: 3}", moves{done("3"), done("1")}, "2;1,3;;2"},
		{"without a total", "", moves{done("1"), done("2")}, "3;1,2;;"},
		{"without a total, out of order", "", moves{done("2"), done("1")}, "3;1,2;;"},
		{"names that nobody listed", "", moves{done("plan")}, ";plan;;"},
		{"ten is not before two", "progress: {total: 10, completed: ['10', '9']}", moves{done("2")}, "1;2,9,10;;1,3,4,5,6,7,8"},
		{"one in between", "progress: {total: 2}", moves{done("1"), done("1b")}, "2;1,1b;;2"},
		{"recorded twice before", "progress: {total: 3, completed: ['1', '1']}", moves{done("2")}, "3;1,1,2;;3"},
		{"skipped", "progress: {total: 3}", moves{skip("1"), done("2")}, "3;2;1;3"},
		{"skipped, then done after all", "progress: {total: 2}", moves{skip("1"), done("1")}, "2;1;;2"},
		{"failed", "progress: {total: 2}", moves{start("1"), fail("1", Nothing)}, "1;;;1,2"},
		{"failed and begun again", "progress: {total: 2}", moves{fail("1", Retry)}, "1;;;1,2"},
		{"failed and skipped", "progress: {total: 2}", moves{fail("1", Skip)}, "2;;1;2"},
		{"failed and given up", "progress: {total: 2}", moves{fail("1", Abort)}, "1;;;1,2"},
		{"planned anew", "progress: {total: 3}", moves{done("1"), done("2"), replan("1")}, "1;2;;1,3"},
		{"skipped, planned anew", "progress: {total: 2}", moves{skip("1"), replan("1")}, "1;;;1,2"},
		{"remaining is written", "progress: {remaining: [b, c]}", moves{done("b")}, "c;b;;c"},
		{"remaining is written, to the end", "progress: {remaining: [b], total: 2}", moves{done("b")}, "3;b;;1,2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(t, c.section)
			for _, move := range c.moves {
				require.NoError(t, move(r))
			}
			require.NoError(t, r.Check())
			p := r.Progress()
			got := []string{p.Current}
			for _, list := range [][]string{p.Completed, p.Skipped, p.Remaining} {
				got = append(got, strings.Join(list, ","))
			}
			assert.Equal(t, c.want, strings.Join(got, ";"))
		})
	}
}

func TestRefusedTransitions(t *testing.T) {
	const three = "progress: {total: 3, completed: ['1'], skipped: ['2']}"
	for _, c := range []struct {
		name, section string
		move          func(*checkpoint.Record) error
		want          string
		code          int // 0 for a NothingError
	}{
		{"start what is completed", three, func(r *checkpoint.Record) error { return step("1").Start(r, 3) }, "phase 1 is completed already", failure.Refused},
		{"start what is skipped", three, func(r *checkpoint.Record) error { return step("2").Start(r, 3) }, "phase 2 is skipped already", failure.Refused},
		{"complete twice", three, func(r *checkpoint.Record) error { return step("1").Done(r, Report{}) }, "phase 1 is completed already", 0},
		{"skip twice", three, func(r *checkpoint.Record) error { return step("2").Skip(r, "") }, "phase 2 is skipped already", 0},
		{"skip what is completed", three, func(r *checkpoint.Record) error { return step("1").Skip(r, "") }, "phase 1 is completed already", failure.Refused},
		{"fail what is completed", three, func(r *checkpoint.Record) error { _, err := step("1").Fail(r, "", Nothing, 3); return err }, "phase 1 is completed already", failure.Refused},
		{"complete what waits", "progress: {total: 3, awaiting_approval: ['1']}", func(r *checkpoint.Record) error { return step("1").Done(r, Report{}) }, "approval of phase 1 is pending", failure.NeedsAnswer},
		{"start behind what waits", "progress: {total: 3, awaiting_approval: ['1']}", func(r *checkpoint.Record) error { return step("2").Start(r, 3) }, "approval of phase 1 is pending", failure.NeedsAnswer},
		{"approve twice", "progress: {approved: [{phase: '1'}]}", func(r *checkpoint.Record) error { return step("1").Approve(r) }, "phase 1 is approved already", 0},
		{"plan anew a third time", "progress: {total: 3, replan_history: [{phase: 1, reason: a, timestamp: t1}, {phase: phase_1, timestamp: t2}, {phase: '2'}]}", func(r *checkpoint.Record) error { return step("1").Replan(r, "", 2) }, "phase 1 was replanned 2 times, the limit is 2\n  t1: a\n  t2: no reason given", failure.Limit},
		{"begin again too often", "progress: {total: 3, phases: {'1': {status: failed, failures: 4, error: e, timestamp: t}}}", func(r *checkpoint.Record) error { return step("1").Start(r, 3) }, "phase 1 failed 4 times, the limit is 3 retries\n  t: e", failure.Limit},
		{"begin while one is under way", three, func(r *checkpoint.Record) error { return Begin(r, Workflow{}, noon) }, "a workflow is already in progress (1 of 3 phases completed)", failure.Refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(t, c.section)
			before := r.Clone()
			err := c.move(r)
			require.EqualError(t, err, c.want)
			if c.code == 0 {
				require.ErrorAs(t, err, new(*NothingError))
			} else {
				var refused *RefusedError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, c.code, refused.Code)
			}
			assert.True(t, checkpoint.Equal(before.Doc(), r.Doc()), "the record is as it was")
		})
	}
}

func TestReport(t *testing.T) {
	r := record(t, "progress: {total: 2}\nworkflow: {status: in_progress, last_error: boom}\n")
	s := step("1")
	require.NoError(t, s.Start(r, 3))
	s.At = noon.Add(90 * time.Second)
	require.NoError(t, s.Done(r, Report{
		Artifacts: []Artifact{{Path: "a b", Digest: "d1", Size: 3}, {Path: "c", Size: 4}},
		Output:    Artifact{Path: "out.json", Digest: "d2"}, Summary: "first",
	}))
	require.NoError(t, s.Done(r, Report{Artifacts: []Artifact{{Path: "c", Size: 5}}, Summary: "second"}))
	m := r.Doc().Sub("progress").Sub("phases").Sub("1")
	assert.Equal(t, "second", m.Text("summary"), "later wins")
	assert.Equal(t, "1.5", m.Text("duration_minutes"))
	assert.Equal(t, "out.json", m.Text("output"))
	assert.Equal(t, "d2", m.Text("output_digest"))
	assert.Equal(t, []Of{{"1", Artifact{Path: "out.json", Digest: "d2"}}, {"1", Artifact{Path: "a b", Digest: "d1", Size: 3}}, {"1", Artifact{Path: "c", Size: 5}}}, Artifacts(r))
	assert.InDelta(t, 1.5, Minutes(r), 0)
	assert.Empty(t, r.LastError(), "success clears it")

	said := record(t, "progress: {total: 2}")
	require.NoError(t, step("1").Start(said, 3))
	require.NoError(t, said.Doc().Assign("progress.phases.1.duration_minutes", checkpoint.Number("42.5")))
	require.NoError(t, s.Done(said, Report{}))
	assert.InDelta(t, 42.5, Minutes(said), 0, "somebody said it")

	other := record(t, "progress: {phases: {'1': {artifacts: [a.md, {path: b.md}, 7]}}}")
	assert.Equal(t, []Of{{"1", Artifact{Path: "a.md"}}, {"1", Artifact{Path: "b.md"}}}, Artifacts(other))
	assert.Zero(t, Minutes(record(t, "progress: {completed: [1, 2, 3], phases: {'1': {duration_minutes: -4}, '2': {duration_minutes: x}, '3': {duration_minutes: 1e999}}}")))
}

func TestBeginAfterTheEnd(t *testing.T) {
	r := record(t, "workflow_state: {current_phase: docs, phase_attempt: 3}\n")
	require.NoError(t, Begin(r, Workflow{Type: "implement", Total: 2, Layout: "claude"}, noon))
	assert.Equal(t, "docs", r.Phase(), "of an issue that had no workflow")
	require.NoError(t, step("1").Done(r, Report{}))
	Finish(r, Failed, "boom", noon)
	assert.Equal(t, "boom", r.LastError())
	require.NoError(t, Begin(r, Workflow{Names: []string{"a"}}, noon))
	assert.Empty(t, r.Phase())
	assert.Empty(t, r.LastError())
	assert.Empty(t, r.Layout())
	assert.Equal(t, checkpoint.Progress{Current: "a", Total: 1, Names: []string{"a"}, Remaining: []string{"a"}}, r.Progress())
}

// Random transitions keep the invariants: completed, skipped and remaining phases are
// disjoint and complete, records survive encoding, and failed transitions leave records
// unchanged.
func TestRandomTransitions(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		total := 1 + rnd.IntN(6)
		r := record(t, fmt.Sprintf("progress: {total: %d}", total))
		for range 40 {
			s := Step{Phase: fmt.Sprint(1 + rnd.IntN(total)), At: noon, Force: rnd.IntN(8) == 0}
			before := r.Clone()
			var err error
			switch rnd.IntN(7) {
			case 0:
				err = s.Start(r, 3)
			case 1, 2:
				err = s.Done(r, Report{})
			case 3:
				_, err = s.Fail(r, "", []OnFailure{Nothing, Retry, Skip, Abort}[rnd.IntN(4)], 3)
			case 4:
				err = s.Skip(r, "")
			case 5:
				err = s.Replan(r, "", 2)
			case 6:
				err = s.Approve(r)
			}
			if err != nil {
				require.True(t, checkpoint.Equal(before.Doc(), r.Doc()), "seed %d: %v", seed, err)
				continue
			}
			p := r.Progress()
			all := slices.Concat(p.Completed, p.Skipped, p.Remaining)
			slices.Sort(all)
			require.Len(t, all, total, "seed %d: %v", seed, p)
			require.Len(t, slices.Compact(all), total, "seed %d: %v", seed, p)
			require.Equal(t, len(p.Remaining) == 0, Complete(r))
			data, err := r.Encode()
			require.NoError(t, err)
			again, err := checkpoint.Decode(data)
			require.NoError(t, err)
			require.Equal(t, p, again.Progress())
		}
	}
}
