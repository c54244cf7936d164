package storetest

import (
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ids of three checkpoints with common parts, oldest first.
const (
	first  checkpoint.ID = "CP-planning-20260101T080000Z-1111aaaa"
	second checkpoint.ID = "CP-review-20260102T080000Z-1111bbbb"
	third  checkpoint.ID = "CP-review-20260103T090000Z-22225555"
)

// three saves these checkpoints.
func (t *trial) three() {
	t.Helper()
	t.save(named(first, phase("planning"), note("draft the plan")))
	t.save(named(second, phase("review"), note("draft the review")))
	t.save(named(third, phase("review"), note("look again")))
}

func findPromises() []Promise {
	var list []Promise
	for _, f := range []struct {
		form, name string
		want       checkpoint.ID
	}{
		{"the whole id", string(first), first},
		{"a prefix that reaches into the time", "CP-planning-2", first},
		{"a prefix that tells two times apart", "CP-review-20260102", second},
		{"the beginning of the final digits", "1111a", first},
		{"the end of the final digits", "5555", third},
		{"latest", "latest", third},
		{"latest and steps back", "latest~2", first},
		{"no steps back", "latest~0", third},
		{"the newest of a phase", "@{phase:review}", third},
		{"the newest at a time", "@{2999-01-01}", third},
		{"the newest with a text in its note", ":/draft", second},
	} {
		list = append(list, Promise{Name: "find/by " + f.form, hold: func(t *trial) {
			t.three()
			assert.Equal(t, f.want, t.find(f.name).ID)
		}})
	}
	return append(append(list, notFoundPromises()...), []Promise{
		{Name: "find/an ambiguous name lists all candidates", hold: func(t *trial) {
			t.three()
			for name, want := range map[string][]checkpoint.ID{"1111": {second, first}, "CP-review-2026010": {third, second}} {
				_, err := t.Find(t.ctx, issue, name)
				var ambiguous *gitstore.AmbiguousError
				require.ErrorAs(t, err, &ambiguous, name)
				assert.Equal(t, name, ambiguous.Name)
				assert.ElementsMatch(t, want, ambiguous.Candidates)
			}
		}},
		{Name: "find/a whole id is not ambiguous", hold: func(t *trial) {
			const short, long checkpoint.ID = "import-20260101", "import-20260101-again"
			t.save(named(short))
			t.save(named(long))
			assert.Equal(t, short, t.find(string(short)).ID)
		}},
		{Name: "find/it tells what the list tells", hold: func(t *trial) {
			t.three()
			for _, want := range t.list(issue) {
				assert.Equal(t, want, *t.find(string(want.ID)))
			}
		}},
		{Name: "find/by its commit, where it has one", hold: func(t *trial) {
			t.three()
			c := t.find("latest~1")
			if c.Commit.IsZero() {
				t.Skip("not tried: its checkpoints are no commits")
			}
			assert.Equal(t, second, t.find(c.Commit.String()).ID)
			assert.Equal(t, second, t.find(c.Commit.String()[:12]).ID)
		}},
		{Name: "find/in the archive, too", hold: func(t *trial) {
			t.three()
			t.archive(first)
			c := t.find("1111aaaa")
			assert.Equal(t, first, c.ID)
			assert.True(t, c.Archived)
		}},
	}...)
}

// notFoundPromises are promises about names without a checkpoint.
func notFoundPromises() []Promise {
	var list []Promise
	for _, f := range []struct{ form, name string }{
		{"a phase alone", "CP-review-"},
		{"three digits", "111"},
		{"digits that no id has", "9999"},
		{"more steps back than there are", "latest~3"},
		{"steps that are no number", "latest~x"},
		{"a text that no note has", ":/nowhere"},
		{"nothing at all", ""},
		{"an id in other letters", "cp-PLANNING-20260101T080000Z-1111AAAA"},
	} {
		list = append(list, Promise{Name: "find/nothing by " + f.form, hold: func(t *trial) {
			t.three()
			t.missing(checkpoint.ID(f.name))
		}})
	}
	return append(list, []Promise{
		{Name: "find/nothing by the id of another issue", hold: func(t *trial) {
			other := t.save(request("43", checkpoint.Manual))
			t.chain(1)
			t.missing(other.ID)
		}},
		{Name: "find/an issue without checkpoints has none", hold: func(t *trial) {
			for _, name := range []string{"latest", "latest~1", string(first), "1111"} {
				_, err := t.Find(t.ctx, issue, name)
				var none *gitstore.NoneError
				require.ErrorAs(t, err, &none, name)
				assert.Equal(t, issue, none.Issue)
			}
		}},
	}...)
}
