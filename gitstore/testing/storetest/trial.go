package storetest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// issue is the issue of most promises.
const issue checkpoint.Issue = "42"

// A trial combines a new store, a handle and a clock to test a promise. Each save
// advances the clock by a second.
type trial struct {
	testing.TB
	World
	Subject
	ctx     context.Context
	clock   *atomic.Int64 // seconds since the epoch
	damaged bool
}

func newTrial(t testing.TB, place Maker) *trial {
	t.Helper()
	clock := new(atomic.Int64)
	clock.Store(time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC).Unix())
	w := place(t, func() time.Time { return time.Unix(clock.Load(), 0).UTC() })
	require.NotNil(t, w.Open, "a world has to be opened")
	return &trial{TB: t, World: w, Subject: w.Open(), ctx: t.Context(), clock: clock}
}

// pass advances the clock.
func (t *trial) pass(d time.Duration) { t.clock.Add(int64(d / time.Second)) }

// An edit changes a record.
type edit func(r *checkpoint.Record)

func phase(name string) edit { return func(r *checkpoint.Record) { r.SetPhase(name) } }
func note(text string) edit  { return func(r *checkpoint.Record) { r.SetNote(text) } }

// set assigns a value to a key or a nested key of the record.
func set(path string, value any) edit {
	return func(r *checkpoint.Record) { _ = r.Doc().Assign(path, value) }
}

// request returns a save request that edits the previous record.
func request(i checkpoint.Issue, trigger checkpoint.Trigger, edits ...edit) gitstore.SaveRequest {
	return gitstore.SaveRequest{Issue: i, Edit: func(before *checkpoint.Record) (*checkpoint.Record, error) {
		r := before
		if r == nil {
			r = checkpoint.New()
			r.SetPhase("implementing")
		}
		r.SetTrigger(trigger)
		for _, e := range edits {
			e(r)
		}
		return r, nil
	}}
}

// named returns a save request for a record with an id.
func named(id checkpoint.ID, edits ...edit) gitstore.SaveRequest {
	req := request(issue, checkpoint.Manual, append(edits, func(r *checkpoint.Record) { r.SetID(id) })...)
	req.Keep = true
	return req
}

func (t *trial) save(req gitstore.SaveRequest) *gitstore.Saved {
	t.Helper()
	t.pass(time.Second)
	saved, err := t.Save(t.ctx, req)
	require.NoError(t, err)
	return saved
}

// manual saves a manual checkpoint.
func (t *trial) manual(edits ...edit) *gitstore.Saved {
	t.Helper()
	return t.save(request(issue, checkpoint.Manual, edits...))
}

// chain saves n checkpoints and returns their ids, newest first.
func (t *trial) chain(n int) []checkpoint.ID {
	t.Helper()
	var ids []checkpoint.ID
	for k := range n {
		ids = append(ids, t.manual(set("n", checkpoint.Int(int64(k)))).ID)
	}
	slices.Reverse(ids)
	return ids
}

func (t *trial) list(i checkpoint.Issue) []gitstore.Checkpoint {
	t.Helper()
	l, err := t.List(t.ctx, i, 0)
	require.NoError(t, err)
	return l.Checkpoints
}

// live returns the ids in the chain, newest first.
func (t *trial) live() []checkpoint.ID {
	t.Helper()
	return idsOf(t.list(issue))
}

func (t *trial) drop(ids ...checkpoint.ID) {
	t.Helper()
	require.NoError(t, t.Drop(t.ctx, issue, ids))
}

func (t *trial) pin(id checkpoint.ID, on bool) {
	t.Helper()
	changed, err := t.Pin(t.ctx, issue, id, on)
	require.NoError(t, err)
	require.True(t, changed, "pin %s %t", id, on)
}

func (t *trial) find(name string) *gitstore.Checkpoint {
	t.Helper()
	c, err := t.Find(t.ctx, issue, name)
	require.NoError(t, err)
	return c
}

// missing asserts that Find does not find an id.
func (t *trial) missing(id checkpoint.ID) {
	t.Helper()
	_, err := t.Find(t.ctx, issue, string(id))
	var notFound *gitstore.NotFoundError
	require.ErrorAs(t, err, &notFound)
	assert.Equal(t, string(id), notFound.Name)
}

func (t *trial) record(c *gitstore.Checkpoint) *checkpoint.Record {
	t.Helper()
	r, err := t.VerifiedRecord(c)
	require.NoError(t, err)
	return r
}

// bytes returns the stored records of a list.
func (t *trial) bytes(list []gitstore.Checkpoint) map[checkpoint.ID]string {
	t.Helper()
	texts := map[checkpoint.ID]string{}
	for i := range list {
		data, err := t.RecordBytes(&list[i])
		require.NoError(t, err)
		texts[list[i].ID] = string(data)
	}
	return texts
}

// A view contains the visible state of an issue: chain order and all records.
type view struct {
	list  []gitstore.Checkpoint
	texts map[checkpoint.ID]string
}

func (t *trial) view() view {
	t.Helper()
	list := t.list(issue)
	texts := t.bytes(list)
	for i := range list {
		list[i].Commit, list[i].Tree = plumbing.ZeroHash, plumbing.ZeroHash // storage details may change
	}
	return view{list, texts}
}

// same asserts that the visible state of the issue is unchanged.
func (t *trial) same(before view) {
	t.Helper()
	after := t.view()
	assert.Equal(t, before.list, after.list)
	assert.Equal(t, before.texts, after.texts)
}

// rewrite damages the newest record.
func (t *trial) rewrite(change func(record []byte) []byte) {
	t.Helper()
	t.damaged = true
	t.Rewrite(issue, change)
}

// verify calls Verify for each issue.
func (t *trial) verify() {
	t.Helper()
	if t.damaged || t.Failed() {
		return
	}
	issues, strange, err := t.Issues(t.ctx, false)
	require.NoError(t, err)
	assert.Empty(t, strange)
	for _, i := range issues {
		report, err := t.Verify(t.ctx, i)
		require.NoError(t, err)
		assert.Empty(t, report.Errors, "verify finds nothing in issue %s", i)
	}
}

func idsOf(list []gitstore.Checkpoint) []checkpoint.ID {
	ids := make([]checkpoint.ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids
}
