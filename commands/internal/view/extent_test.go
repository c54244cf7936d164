package view

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

func TestScopeText(t *testing.T) {
	t.Parallel()
	skipped := []checkpoint.Skipped{{Path: "a"}}
	for want, s := range map[string]checkpoint.Snapshot{
		"staged, modified, untracked files":                                       {Scope: checkpoint.ScopeWhole},
		"staged, modified, untracked files; some were left out":                   {Scope: checkpoint.ScopeWhole, Skipped: skipped},
		"staged files; other files as they were saved before":                     {Scope: checkpoint.ScopeStaged},
		"the files that were read in time; other files as they were saved before": {Scope: checkpoint.ScopeCut, Skipped: skipped},
	} {
		assert.Equal(t, want, ScopeText(s))
	}
}

func TestListLeftOutNamesTheSource(t *testing.T) {
	t.Parallel()
	list := ListLeftOut(checkpoint.Snapshot{Skipped: []checkpoint.Skipped{
		{Path: "lib/", Reason: "a repository"}, {Path: "big", Size: 9, Reason: "too large", CarriedFrom: "CP-none-20260214T143000Z-1f0c9a2b"},
	}})
	assert.Equal(t, []LeftOutLine{{"lib/", "a repository", 0}, {"big", "too large; as in CP-none-20260214T143000Z-1f0c9a2b", 9}}, list)
}
