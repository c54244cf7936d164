package storetest

import (
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keys are issues that are difficult as a ref, file name or URL.
var keys = []struct {
	is  string
	key checkpoint.Issue
}{
	{"a number", "7"},
	{"a number with zeros before it", "007"},
	{"a key of a tracker", "PROJ-42"},
	{"a slash", "team/backend/42"},
	{"a percent sign", "100%2F"},
	{"blanks", " a b "},
	{"what git forbids", `~^:?*[\..@{x}.lock`},
	{"a dot at both ends", ".hidden."},
	{"a dash before it", "--all"},
	{"an at sign alone", "@"},
	{"other scripts", "Straße/世界"},
	{"what looks like an id", "CP-x-20260101T000000Z-00000000"},
	{"the word for the newest", "latest"},
	{"200 bytes", checkpoint.Issue(strings.Repeat("x", 200))},
}

func issuePromises() []Promise {
	var list []Promise
	for _, k := range keys {
		list = append(list, Promise{Name: "issue/" + k.is, hold: func(t *trial) {
			saved := t.save(request(k.key, checkpoint.Manual))
			t.save(request("another", checkpoint.Manual))
			issues, strange, err := t.Issues(t.ctx, false)
			require.NoError(t, err)
			assert.Empty(t, strange)
			assert.ElementsMatch(t, []checkpoint.Issue{k.key, "another"}, issues)
			c := t.list(k.key)[0]
			assert.Equal(t, saved.ID, c.ID)
			assert.Equal(t, k.key, c.Issue)
			assert.Equal(t, k.key, t.record(&c).Issue())
		}})
	}
	return append(list, []Promise{
		{Name: "issue/keys that are encoded alike are apart", hold: func(t *trial) {
			keys := []checkpoint.Issue{"a/b", "a%2Fb", "a%252Fb", "a b", "a%20b"}
			for _, k := range keys {
				t.save(request(k, checkpoint.Manual, set("key", string(k))))
			}
			for _, k := range keys {
				list := t.list(k)
				require.Len(t, list, 1)
				assert.Equal(t, string(k), t.record(&list[0]).Doc().Text("key"))
			}
		}},
		{Name: "issue/a key that differs in case alone is refused", hold: func(t *trial) {
			t.save(request("proj-42", checkpoint.Manual))
			_, err := t.Save(t.ctx, request("PROJ-42", checkpoint.Manual))
			var refused *gitstore.RefusedError
			require.ErrorAs(t, err, &refused)
			assert.Empty(t, t.list("PROJ-42"))
			assert.Len(t, t.list("proj-42"), 1)
		}},
		{Name: "issue/what is no key is refused", hold: func(t *trial) {
			for _, k := range []checkpoint.Issue{"", "line\nbreak", "nul\x00", "\xff", checkpoint.Issue(strings.Repeat("x", 201))} {
				_, err := t.Save(t.ctx, request(k, checkpoint.Manual))
				assert.Error(t, err, "%q", k)
			}
			issues, strange, err := t.Issues(t.ctx, false)
			require.NoError(t, err)
			assert.Empty(t, issues)
			assert.Empty(t, strange)
		}},
		{Name: "issue/a place is empty at first", hold: func(t *trial) {
			for _, archived := range []bool{false, true} {
				issues, strange, err := t.Issues(t.ctx, archived)
				require.NoError(t, err)
				assert.Empty(t, issues)
				assert.Empty(t, strange)
			}
		}},
		{Name: "issue/one that was emptied can be used again", hold: func(t *trial) {
			t.drop(t.chain(2)...)
			assert.Empty(t, t.live())
			ids := t.chain(1)
			assert.Equal(t, ids, t.live())
		}},
	}...)
}
