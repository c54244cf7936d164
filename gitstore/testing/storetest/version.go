package storetest

import (
	"bytes"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// of returns a function that replaces the version of a record.
func of(version string) func([]byte) []byte {
	return func(record []byte) []byte {
		was := []byte(`version: "` + checkpoint.Version + `"`)
		return bytes.Replace(record, was, []byte(`version: "`+version+`"`), 1)
	}
}

func broken([]byte) []byte { return []byte("checkpoint_id: [cut off") }

func versionPromises() []Promise {
	return needing(rewrites, []Promise{
		{Name: "version/a later one is refused by name", hold: func(t *trial) {
			t.chain(2)
			t.rewrite(of("2.0"))
			_, err := t.VerifiedRecord(t.find(gitstore.Latest))
			var version *checkpoint.VersionError
			require.ErrorAs(t, err, &version)
			assert.Equal(t, "2.0", version.Version)
		}},
		{Name: "version/a later one is listed, and the latest", hold: func(t *trial) {
			ids := t.chain(2)
			t.rewrite(of("2.0"))
			assert.Equal(t, ids, t.live())
			assert.Equal(t, ids[0], t.find(gitstore.Latest).ID)
		}},
		{Name: "version/a later one of the same kind is read", hold: func(t *trial) {
			t.manual(set("from_the_future", "kept"))
			t.rewrite(of("1.9"))
			assert.Equal(t, "kept", t.record(t.find(gitstore.Latest)).Doc().Text("from_the_future"))
		}},
		{Name: "version/a damaged record is told of", hold: func(t *trial) {
			t.chain(2)
			t.rewrite(broken)
			_, err := t.VerifiedRecord(t.find(gitstore.Latest))
			require.ErrorAs(t, err, new(*gitstore.CorruptError))
		}},
		{Name: "version/another checkpoint's record is told of", hold: func(t *trial) {
			ids := t.chain(1)
			t.rewrite(func(record []byte) []byte {
				return []byte(strings.Replace(string(record), string(ids[0]), string(chosen), 1))
			})
			_, err := t.VerifiedRecord(t.find(gitstore.Latest))
			require.ErrorAs(t, err, new(*gitstore.CorruptError))
		}},
		{Name: "version/a damaged record spoils no other", hold: func(t *trial) {
			ids := t.chain(3)
			t.rewrite(broken)
			assert.Equal(t, ids, t.live())
			for _, id := range ids[1:] {
				assert.Equal(t, id, t.record(t.find(string(id))).ID())
			}
		}},
		{Name: "version/a save starts from the newest that can be read", hold: func(t *trial) {
			for name, change := range map[string]func([]byte) []byte{"damaged": broken, "later": of("2.0")} {
				t.manual(set("state", "below "+name))
				t.manual(set("state", name))
				t.rewrite(change)
				saved := t.manual()
				assert.Equal(t, "below "+name, saved.Record.Doc().Text("state"))
				assert.Equal(t, saved.ID, t.find(gitstore.Latest).ID)
			}
		}},
		{Name: "version/a damaged one can be dropped", hold: func(t *trial) {
			ids := t.chain(2)
			t.rewrite(broken)
			t.drop(ids[0])
			assert.Equal(t, ids[1:], t.live())
		}},
	})
}
