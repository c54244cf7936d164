package storetest

import (
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chosen is an id that a saved record already contains.
const chosen checkpoint.ID = "CP-planning-20260101T000000Z-0badcafe"

func idPromises() []Promise {
	return []Promise{
		{Name: "ids/they differ within one second", hold: func(t *trial) {
			seen := map[checkpoint.ID]bool{}
			for range 12 {
				saved, err := t.Save(t.ctx, request(issue, checkpoint.Manual))
				require.NoError(t, err)
				assert.False(t, seen[saved.ID], "%s is there already", saved.ID)
				seen[saved.ID] = true
			}
		}},
		{Name: "ids/one that was dropped does not come again", hold: func(t *trial) {
			seen := map[checkpoint.ID]bool{}
			for range 6 {
				saved, err := t.Save(t.ctx, request(issue, checkpoint.Manual))
				require.NoError(t, err)
				assert.False(t, seen[saved.ID], "%s was dropped", saved.ID)
				seen[saved.ID] = true
				t.drop(saved.ID)
			}
		}},
		{Name: "ids/one says the phase and the time", hold: func(t *trial) {
			saved := t.manual(phase("Code Review"))
			assert.True(t, strings.HasPrefix(string(saved.ID), "CP-code_review-20260214T143001Z-"), saved.ID)
			assert.True(t, saved.ID.Own())
		}},
		{Name: "ids/one that a record brings along is kept", hold: func(t *trial) {
			assert.Equal(t, chosen, t.save(named(chosen)).ID)
			assert.Equal(t, []checkpoint.ID{chosen}, t.live())
		}},
		{Name: "ids/one that is not to be kept is replaced", hold: func(t *trial) {
			assert.NotEqual(t, chosen, t.manual(func(r *checkpoint.Record) { r.SetID(chosen) }).ID)
		}},
		{Name: "ids/one that is there is refused", hold: func(t *trial) {
			t.save(named(chosen))
			before := t.view()
			t.taken(chosen, false)
			t.same(before)
		}},
		{Name: "ids/one that was dropped is refused", hold: func(t *trial) {
			t.save(named(chosen))
			t.chain(1)
			t.drop(chosen)
			before := t.view()
			t.taken(chosen, true)
			t.same(before)
		}},
		{Name: "ids/one that is archived is refused", hold: func(t *trial) {
			t.save(named(chosen))
			t.archive(chosen)
			t.taken(chosen, false)
		}},
		{Name: "ids/what is no id is refused", hold: func(t *trial) {
			t.chain(1)
			before := t.view()
			for _, id := range []checkpoint.ID{"two words", "--flag", "line\nbreak", checkpoint.ID(strings.Repeat("x", 201))} {
				_, err := t.Save(t.ctx, named(id))
				assert.Error(t, err, "%q", id)
			}
			t.same(before)
		}},
	}
}

// taken asserts that a save with a used id fails.
func (t *trial) taken(id checkpoint.ID, dropped bool) {
	t.Helper()
	_, err := t.Save(t.ctx, named(id))
	var taken *gitstore.TakenError
	require.ErrorAs(t, err, &taken)
	assert.Equal(t, gitstore.TakenError{Issue: issue, ID: id, Dropped: dropped}, *taken)
}
