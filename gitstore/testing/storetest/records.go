package storetest

import (
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func recordPromises() []Promise {
	return []Promise{
		{Name: "record/it comes back the same", hold: func(t *trial) {
			saved := t.manual(set("tasks.pending", []any{"a", "b"}), set("progress.share", checkpoint.Number("0.50")))
			want, err := saved.Record.Encode()
			require.NoError(t, err)
			got, err := t.record(t.find(gitstore.Latest)).Encode()
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got))
		}},
		{Name: "record/unknown keys stay in their order", hold: func(t *trial) {
			t.manual(set("zebra", "z"), set("apple.seed", "s"), set("apple.core", "c"), func(r *checkpoint.Record) { r.Doc().Set("mango", nil) })
			t.manual(set("kiwi", "k"))
			doc := t.record(t.find(gitstore.Latest)).Doc()
			var unknown []string
			for _, key := range doc.Keys() {
				switch key {
				case "zebra", "apple", "mango", "kiwi":
					unknown = append(unknown, key)
				}
			}
			assert.Equal(t, []string{"zebra", "apple", "mango", "kiwi"}, unknown)
			assert.Equal(t, []string{"seed", "core"}, doc.Sub("apple").Keys())
		}},
		{Name: "record/numbers keep their spelling", hold: func(t *trial) {
			numbers := []any{
				checkpoint.Number("0"), checkpoint.Number("-0"), checkpoint.Number("1.50"), checkpoint.Number("1e400"),
				checkpoint.Number("9007199254740993"), checkpoint.Number("18446744073709551616"),
			}
			t.manual(set("numbers", numbers))
			got, _ := t.record(t.find(gitstore.Latest)).Doc().Get("numbers")
			assert.Equal(t, numbers, got)
		}},
		{Name: "record/a key with dots is one key", hold: func(t *trial) {
			t.manual(func(r *checkpoint.Record) { r.Doc().Set("a.b", "dotted"); r.Doc().MustSub("a").Set("b", "nested") })
			doc := t.record(t.find(gitstore.Latest)).Doc()
			dotted, _ := doc.Get("a.b")
			assert.Equal(t, "dotted", dotted)
			assert.Equal(t, "nested", doc.Sub("a").Text("b"))
		}},
		{Name: "record/its text is the canonical one", hold: func(t *trial) {
			t.manual(set("odd", "\t- x: # no\n"))
			data, err := t.RecordBytes(t.find(gitstore.Latest))
			require.NoError(t, err)
			r, err := checkpoint.Decode(data)
			require.NoError(t, err)
			again, err := r.Encode()
			require.NoError(t, err)
			assert.Equal(t, string(data), string(again))
		}},
		{Name: "record/the first starts from nothing", hold: func(t *trial) {
			called := 0
			req := request(issue, checkpoint.Manual)
			inner := req.Edit
			req.Edit = func(before *checkpoint.Record) (*checkpoint.Record, error) {
				called++
				assert.Nil(t, before)
				return inner(before)
			}
			t.save(req)
			assert.Positive(t, called)
		}},
		{Name: "record/it starts from the one before", hold: func(t *trial) {
			t.manual(set("a", "1"), set("b", "1"))
			t.manual(set("b", "2"))
			doc := t.record(t.find(gitstore.Latest)).Doc()
			assert.Equal(t, "1", doc.Text("a"))
			assert.Equal(t, "2", doc.Text("b"))
		}},
		{Name: "record/the store says who, when and of what", hold: func(t *trial) {
			saved := t.manual(func(r *checkpoint.Record) {
				r.SetIssue("another")
				r.SetCreatedAt(time.Unix(1, 0))
				r.SetClock(1)
				r.SetVersion("7.0")
			})
			r := t.record(t.find(gitstore.Latest))
			assert.Equal(t, saved.ID, r.ID())
			assert.Equal(t, issue, r.Issue())
			assert.Equal(t, t.clock.Load(), r.CreatedAt().Unix())
			assert.Greater(t, r.Clock(), checkpoint.Clock(1))
			assert.Equal(t, checkpoint.Version, r.Version())
		}},
		{Name: "record/one that is kept keeps its time", hold: func(t *trial) {
			at := time.Date(2025, 12, 24, 18, 0, 0, 0, time.UTC)
			t.save(named(chosen, func(r *checkpoint.Record) { r.SetCreatedAt(at) }))
			assert.Equal(t, at, t.record(t.find(gitstore.Latest)).CreatedAt().UTC())
		}},
		{Name: "record/without a trigger it is a manual one", hold: func(t *trial) {
			saved := t.save(request(issue, ""))
			assert.Equal(t, checkpoint.Manual, saved.Trigger)
			assert.Equal(t, checkpoint.Manual, t.list(issue)[0].Trigger)
		}},
		{Name: "record/what was given is the caller's", hold: func(t *trial) {
			saved := t.manual(set("state.list", []any{"a"}))
			before := t.view()
			saved.Record.SetPhase("changed")
			_ = saved.Record.Doc().Assign("state.list[0]", "changed")
			t.record(t.find(gitstore.Latest)).SetPhase("changed")
			t.same(before)
		}},
		{Name: "record/a later edit leaves earlier ones alone", hold: func(t *trial) {
			t.manual(set("state.list", []any{"a"}))
			before := t.bytes(t.list(issue))
			t.manual(set("state.list[0]", "b"))
			assert.Equal(t, before, t.bytes(t.list(issue)[1:]))
		}},
	}
}
