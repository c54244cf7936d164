package dotagent

import (
	"path"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each phase is tested with its output, without output, and with broken output.
func TestNextOf(t *testing.T) {
	for _, c := range []struct{ phase, more, files, want string }{
		{"REQUIREMENTS", "", "memory/reports/demand.json", "advance ARCHITECTURE (memory/reports/demand.json is there)"},
		{"REQUIREMENTS", "", "", "respawn:pm REQUIREMENTS (there is no memory/reports/demand.json)"},
		{"REQUIREMENTS", "", "!memory/reports/demand.json", "respawn:pm REQUIREMENTS (memory/reports/demand.json is broken)"},
		{"ARCHITECTURE", "", "memory/reports/designs/a.json memory/reports/designs/final_design.json", "advance IMPLEMENTATION (memory/reports/designs/final_design.json is there)"},
		{"ARCHITECTURE", "", "memory/reports/final_design.json", "advance IMPLEMENTATION (memory/reports/final_design.json is there)"},
		{"ARCHITECTURE", "", "memory/reports/designs/a.json", "spawn:roundtable ARCHITECTURE (the designs are there, without a final one)"},
		{"ARCHITECTURE", "progress: {current: ARCHITECTURE, awaiting_approval: ARCHITECTURE}\n", "memory/reports/designs/a.json", "re-present ARCHITECTURE (the designs in memory/reports/designs are there, and nobody has chosen)"},
		{"ARCHITECTURE", "", "memory/reports/demand.json", "respawn:architects ARCHITECTURE (there is no memory/reports/designs/final_design.json or memory/reports/final_design.json)"},
		{"IMPLEMENTATION", "tasks: {T1: {status: running}}\n", "", "recover IMPLEMENTATION (tasks were running)"},
		{"IMPLEMENTATION", "tasks: {T1: {status: complete}, T2: {status: pending}}\n", "", "continue IMPLEMENTATION (ready: T2)"},
		{"IMPLEMENTATION", "tasks: {T1: {status: failed}}\n", "", "continue IMPLEMENTATION (no task is ready)"},
		{"IMPLEMENTATION", "tasks: {T1: {status: complete}}\n", "", "advance VERIFICATION (every task is complete)"},
		{"IMPLEMENTATION", "", "", "continue IMPLEMENTATION (no task is ready)"},
		{"VERIFICATION", "", "memory/reports/verification.json", "advance REFLECTION (memory/reports/verification.json is there)"},
		{"VERIFICATION", "", "", "respawn:qa VERIFICATION (there is no memory/reports/verification.json)"},
		{"REFLECTION", "", "memory/reflections/one.json", "complete REFLECTION (memory/reflections/*.json is there)"},
		{"REFLECTION", "", "memory/reports/reflection-9.json", "complete REFLECTION (memory/reports/reflection*.json is there)"},
		{"REFLECTION", "", "", "respawn:reflector REFLECTION (there is no memory/reflections/*.json or memory/reports/reflection*.json)"},
	} {
		if c.more == "" || strings.HasPrefix(c.more, "tasks") {
			c.more += "progress: {current: " + c.phase + "}\n"
		}
		n, ok := NextOf(dotagentRecord(t, c.more), lookAmong(c.files))
		require.True(t, ok, c.phase)
		assert.Equal(t, c.want, n.Action+" "+n.Phase+" ("+n.Why+")")
	}
	n, ok := NextOf(dotagentRecord(t, "progress: {current: REQUIREMENTS, completed: [REQUIREMENTS], names: [REQUIREMENTS, ARCHITECTURE]}\n"), lookAmong(""))
	require.True(t, ok)
	assert.Equal(t, "respawn:architects", n.Action, "the phase after the one that is complete")
	n, ok = NextOf(dotagentRecord(t, "progress: {current: REFLECTION, completed: [REFLECTION], names: [REFLECTION]}\n"), lookAmong(""))
	require.True(t, ok)
	assert.Equal(t, Finished, n.Action)
	for _, text := range []string{"progress: {current: DREAMS}\n", ""} {
		_, ok = NextOf(dotagentRecord(t, text), lookAmong(""))
		assert.False(t, ok)
	}
	_, ok = NextOf(checkpoint.New(), lookAmong(""))
	assert.False(t, ok)
}

func dotagentRecord(t *testing.T, text string) *checkpoint.Record {
	t.Helper()
	m, err := checkpoint.DecodeDocument([]byte(text+"layout: {name: dotagent}\n"), checkpoint.DefaultLimits)
	require.NoError(t, err)
	return checkpoint.FromDoc(m)
}

// lookAmong returns a Look for a list of names. Names with the prefix ! are broken.
func lookAmong(list string) Look {
	return func(pattern string) (whole, broken int) {
		for _, name := range strings.Fields(list) {
			bare := strings.TrimPrefix(name, "!")
			if ok, _ := path.Match(pattern, bare); !ok {
				continue
			}
			if bare == name {
				whole++
			} else {
				broken++
			}
		}
		return whole, broken
	}
}
