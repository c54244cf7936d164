package gitstore

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/secrets"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Scans of small pushes without secrets need no git process. If a file may contain a
// secret, git lists new files.
func TestScanWithoutGit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	stage := func(name, text string) func(*world) {
		return func(w *world) {
			w.Write(name, text)
			w.Git("add", "-A")
			w.manual(2)
		}
	}
	for _, test := range []struct {
		name  string
		do    func(*world)
		quick bool
		found int
	}{
		{"nothing staged", func(w *world) { w.manual(3) }, true, 0},
		{"files", stage("dir/a.txt", "text\n"), true, 0},
		{"a file that HEAD has by another name", func(w *world) {
			w.Git("mv", "shown.txt", "moved.txt")
			w.manual(1)
		}, false, 0},
		{"a key", stage("dir/a.txt", "new: "+aKey), false, 1},
		{"a key in the record", func(w *world) {
			w.save(w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetNote("it is " + aKey) }))
		}, false, 1},
		{"a key below the newest", func(w *world) {
			stage("a.txt", "new: "+aKey)(w)
			stage("a.txt", "text\n")(w)
		}, false, 1},
		{"a key in a commit of the user's", func(w *world) {
			w.Write("b.txt", "new: "+aKey)
			w.Git("add", "-A")
			w.Commit("with")
			w.Git("rm", "-q", "b.txt")
			w.Commit("without")
			w.manual(1)
		}, false, 1},
		{"another HEAD", func(w *world) {
			w.Write("c.txt", "text\n")
			w.Git("add", "-A")
			w.Commit("more")
			w.manual(1)
		}, false, 0},
		{"a large file", stage("large.txt", strings.Repeat("nothing\n", 200_000)), false, 0},
		{"a pointer", stage("p.bin", secrets.LfsPointer+"oid sha256:1\n"), false, 0},
		{"a ledger", func(w *world) {
			require.NoError(w.t, w.s.Drop(ctx, "42", w.manual(2)[:1]))
		}, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("shown.txt", aKey) // files at the remote are not scanned
			w.Git("add", "-A")
			w.Commit("shown")
			w.hub()
			w.manual(1)
			_, err := w.s.Push(ctx, PushRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}})
			require.NoError(t, err)
			test.do(w)
			out, err := w.outgoing("42")
			require.NoError(t, err)
			req := ScanRequest{Issue: "42", Out: out}
			assert.Equal(t, test.quick, w.s.secrets.Quickly([]secrets.ScanRequest{req})[0] != nil)
			found, err := w.s.Scan(ctx, req)
			require.NoError(t, err)
			assert.Len(t, found.Found, test.found)
			req.Command = "true"
			assert.Nil(t, w.s.secrets.Quickly([]secrets.ScanRequest{req})[0], "the program has to see it")
		})
	}
}
