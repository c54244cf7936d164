package restore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cached returns the file of the stat cache.
func (x *site) cached() []byte {
	x.t.Helper()
	data, err := os.ReadFile(x.Path(".git/git-checkpoint/stat-cache"))
	require.NoError(x.t, err)
	return data
}

// plan returns the paths with changes since a checkpoint, as status finds them.
func (x *site) plan(c *gitstore.Checkpoint) []string {
	x.t.Helper()
	done, err := x.s.Files.Plan(context.Background(), c, nil)
	require.NoError(x.t, err)
	return slices.Concat(done.Restored, done.Skipped, done.InTheWay)
}

// TestChangeWithinATickIsSeen changes files without a change of size and mtime after the save has
// read them: one that is older than the save, and one as new as the save, whose ctime may be equal
// on a file system with coarse times.
func TestChangeWithinATickIsSeen(t *testing.T) {
	t.Parallel()
	x := newSite(t, "settled", "racy")
	x.Write("settled", "saved 1\n")
	time.Sleep(60 * time.Millisecond)
	x.Write("racy", "saved 2\n")
	c := x.save(withWorktree)
	assert.True(t, bytes.Contains(x.cached(), []byte("settled")))
	assert.False(t, bytes.Contains(x.cached(), []byte("racy")), "it may change again without new stat data")
	assert.Empty(t, x.plan(c))
	x.keepTime("settled", 0, func() { x.Write("settled", "edited \n") })
	x.keepTime("racy", 0, func() { x.Write("racy", "edited \n") })
	assert.Equal(t, []string{"racy", "settled"}, x.plan(c))
	done := x.restore(c, func(r *gitstore.RestoreRequest) { r.Asked = true })
	assert.Equal(t, []string{"racy", "settled"}, done.Skipped)
	assert.Equal(t, "edited \n", x.Read("racy"))
	assert.Equal(t, "edited \n", x.Read("settled"))
	x.noLitter()
}

// TestContentIsComparedBeforeItIsReplaced gives a file other content than the stat cache has for
// its stat data. The cache says that an older checkpoint may replace the file.
func TestContentIsComparedBeforeItIsReplaced(t *testing.T) {
	t.Parallel()
	x := newSite(t, "other")
	x.Write("other", "saved 1\n")
	older := x.save(withWorktree)
	x.Write("other", "saved 2\n")
	time.Sleep(60 * time.Millisecond)
	x.save(withWorktree)
	asked := func(r *gitstore.RestoreRequest) { r.Asked = true }
	x.Write("other", "unknown\n")
	x.forgeStat("other")
	assert.Equal(t, []string{"other"}, x.plan(older), "only the plan believes the cache")
	done := x.restore(older, asked)
	assert.Equal(t, []string{"other"}, done.Skipped)
	assert.Equal(t, "unknown\n", x.Read("other"))
	x.noLitter()
	x.Write("other", "saved 2\n")
	x.forgeStat("other")
	assert.Equal(t, []string{"other"}, x.restore(older, asked).Restored, "this content is known")
	assert.Equal(t, "saved 1\n", x.Read("other"))
}

// forgeStat gives the entry of a file in the stat cache the present stat data of the file.
func (x *site) forgeStat(name string) {
	x.t.Helper()
	var st syscall.Stat_t
	require.NoError(x.t, syscall.Lstat(x.Path(name), &st))
	data := x.cached()
	const fixed = 9*4 + 8 + 2 // stat data, key, length of the path
	at := bytes.Index(data, append(binary.BigEndian.AppendUint16(nil, uint16(len(name))), name...))
	require.Positive(x.t, at)
	at -= fixed - 2 + int(data[5]) // the length of a hash
	for i, field := range []uint32{
		uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec),
		uint32(st.Dev), uint32(st.Ino), st.Uid, st.Gid, uint32(st.Size),
	} {
		binary.BigEndian.PutUint32(data[at+4*i:], field)
	}
	end := len(data) - sha256.Size
	sum := sha256.Sum256(data[:end])
	require.NoError(x.t, os.WriteFile(x.Path(".git/git-checkpoint/stat-cache"), append(data[:end], sum[:]...), 0o600))
}
