package crunch_test

import (
	"errors"
	"fmt"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Continue does not read unchanged checkpoints again, and its result equals a complete
// export.
func TestCrunchFolderContinue(t *testing.T) {
	var records []*checkpoint.Record
	var ids []checkpoint.ID
	for n := range 5 {
		data := fmt.Sprintf("checkpoint_id: CP-a-20260101T00000%dZ-0000000%d\nversion: '1.0'\ncreated_at: \"2026-01-01T00:00:0%dZ\"\nissue_number: 7\ntrigger: manual\n", n, n, n)
		r, err := checkpoint.Decode([]byte(data))
		require.NoError(t, err)
		records, ids = append(records, r), append(ids, r.ID())
	}
	before, err := layout.Files(crunch.Name, records[:3])
	require.NoError(t, err)
	whole, err := layout.Files(crunch.Name, records)
	require.NoError(t, err)
	there := map[string]bool{}
	var index []byte
	for _, o := range before {
		there[o.Path] = true
		if o.Path == "index.yaml" {
			index = o.Data
		}
	}
	var asked []checkpoint.ID
	read := func(id checkpoint.ID) (*checkpoint.Record, error) {
		asked = append(asked, id)
		for k := range ids {
			if ids[k] == id && k != 3 {
				return records[k], nil
			}
		}
		return nil, errors.New("broken")
	}
	all := func(id checkpoint.ID) (*checkpoint.Record, error) {
		if id == ids[3] {
			return records[3], nil
		}
		return read(id)
	}
	same := func(got []codec.Output) {
		t.Helper()
		require.Len(t, got, len(whole))
		for k := range got {
			assert.Equal(t, whole[k].Path, got[k].Path)
			assert.Equal(t, whole[k].Link, got[k].Link)
			if got[k].Data != nil {
				assert.Equal(t, string(whole[k].Data), string(got[k].Data))
			}
		}
	}
	has := func(name string) bool { return there[name] }

	got, err := crunch.Folder{index, has}.Continue(ids, all)
	require.NoError(t, err)
	same(got)
	assert.Equal(t, []checkpoint.ID{ids[4]}, asked, "and the one before, which was broken")
	assert.Nil(t, got[0].Data, "it is in place")

	asked = nil
	there[string(ids[1])+".yaml"] = false
	got, err = crunch.Folder{index, has}.Continue(ids, all)
	require.NoError(t, err)
	same(got)
	assert.Equal(t, []checkpoint.ID{ids[1], ids[4]}, asked, "a file that is gone is written again")

	asked = nil
	got, err = crunch.Folder{nil, has}.Continue(ids, read)
	require.NoError(t, err)
	assert.Equal(t, ids, asked, "without an index all are read")
	assert.Len(t, got, len(whole)-1, "one cannot be")

	_, err = crunch.Folder{nil, has}.Continue(nil, read)
	require.Error(t, err)
}

// Keys reserved for git-checkpoint are ordinary keys in a document.
func TestCrunchKeepsReservedKeys(t *testing.T) {
	for _, name := range []string{"mine", "\n  name: crunch"} {
		data := "checkpoint_id: CP-a-1-0000\ncreated_at: \"2026-01-01\"\nissue_number: 7\n" +
			"snapshot:\n  detached: true\nclock: 5\ntrigger: odd_one\nlayout: " + name + "\n"
		f, err := layout.Read(crunch.Name, "", []byte(data))
		require.NoError(t, err)
		require.NoError(t, f.Err(false))
		r := f.Apply(nil)
		r.SetSnapshot(checkpoint.Snapshot{Head: "ours"})
		r.SetClock(9)
		out, err := layout.Of(crunch.Name, layouttest.Stored(t, r))
		require.NoError(t, err)
		assert.Equal(t, data, string(out[0].Data))
	}
}
