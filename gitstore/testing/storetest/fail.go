package storetest

import (
	"context"
	"errors"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deep returns n nested lists.
func deep(n int) any {
	var v any = "bottom"
	for range n {
		v = []any{v}
	}
	return v
}

func failPromises() []Promise {
	var list []Promise
	for _, f := range []struct {
		why string
		bad edit
	}{
		{"the trigger is no word", func(r *checkpoint.Record) { r.SetTrigger("Two Words") }},
		{"a text is not UTF-8", set("value", "\xff")},
		{"a text has a NUL", set("value", "a\x00b")},
		{"a key is not UTF-8", func(r *checkpoint.Record) { r.Doc().Set("\xff", "x") }},
		{"a value is of a kind that no record has", func(r *checkpoint.Record) { r.Doc().Set("value", struct{}{}) }},
		{"a known key has a value of another kind", func(r *checkpoint.Record) { r.Doc().Set("workflow_state", "none") }},
		{"it is too deep to be read", set("value", deep(80))},
	} {
		list = append(list, Promise{Name: "fail/" + f.why, hold: func(t *trial) {
			t.chain(2)
			before := t.view()
			_, err := t.Save(t.ctx, request(issue, checkpoint.Manual, f.bad))
			require.Error(t, err)
			t.same(before)
		}})
	}
	return append(list, []Promise{
		{Name: "fail/the edit does", hold: func(t *trial) {
			t.chain(2)
			before := t.view()
			why := errors.New("nothing to say")
			_, err := t.Save(t.ctx, gitstore.SaveRequest{Issue: issue, Edit: func(r *checkpoint.Record) (*checkpoint.Record, error) {
				r.SetPhase("changed")
				return nil, why
			}})
			require.ErrorIs(t, err, why)
			t.same(before)
		}},
		{Name: "fail/the first of an issue does", hold: func(t *trial) {
			_, err := t.Save(t.ctx, request(issue, checkpoint.Manual, set("value", "\xff")))
			require.Error(t, err)
			assert.Empty(t, t.list(issue))
			issues, _, err := t.Issues(t.ctx, false)
			require.NoError(t, err)
			assert.Empty(t, issues)
		}},
		{Name: "fail/nobody waits for it any more", hold: func(t *trial) {
			t.chain(2)
			before := t.view()
			ctx, cancel := context.WithCancel(t.ctx)
			cancel()
			_, err := t.Save(ctx, request(issue, checkpoint.Manual))
			require.ErrorIs(t, err, context.Canceled)
			t.same(before)
		}},
		{Name: "fail/nothing is new", hold: func(t *trial) {
			t.manual(set("state", "a"))
			before := t.view()
			req := request(issue, checkpoint.Interval, set("state", "a"))
			req.IfChanged = true
			_, err := t.Save(t.ctx, req)
			require.ErrorIs(t, err, gitstore.ErrUnchanged)
			t.same(before)
		}},
		{Name: "fail/a note that is not given again is nothing new", hold: func(t *trial) {
			t.manual(note("the first"))
			req := request(issue, checkpoint.Manual, note(""))
			req.IfChanged = true
			_, err := t.Save(t.ctx, req)
			require.ErrorIs(t, err, gitstore.ErrUnchanged)
		}},
		{Name: "fail/not when something is new", hold: func(t *trial) {
			t.manual(set("state", "a"))
			req := request(issue, checkpoint.Interval, set("state", "b"))
			req.IfChanged = true
			assert.Equal(t, t.save(req).ID, t.live()[0])
		}},
		{Name: "fail/a dry run changes nothing", hold: func(t *trial) {
			t.chain(2)
			before := t.view()
			req := request(issue, checkpoint.BatchComplete, phase("review"))
			req.DryRun = true
			saved, err := t.Save(t.ctx, req)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(saved.ID), "CP-review-"), saved.ID)
			assert.Equal(t, checkpoint.BatchComplete, saved.Trigger)
			t.same(before)
		}},
		{Name: "fail/the next one does not", hold: func(t *trial) {
			t.chain(1)
			_, err := t.Save(t.ctx, request(issue, checkpoint.Manual, set("value", "\xff")))
			require.Error(t, err)
			saved := t.manual(set("value", "well"))
			assert.Equal(t, saved.ID, t.find(gitstore.Latest).ID)
		}},
	}...)
}
