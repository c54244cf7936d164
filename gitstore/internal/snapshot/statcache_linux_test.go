package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// opened returns the files of the worktree that are opened during a call, by inotify.
func (w *world) opened(f func()) []string {
	w.t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(w.t, err)
	defer unix.Close(fd)
	dirs := map[uint32]string{}
	must(filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			wd, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
			require.NoError(w.t, err)
			dirs[uint32(wd)] = path
		}
		return nil
	}))
	f()
	var files []string
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(fd, buf)
		if err != nil || n <= 0 {
			break
		}
		for data := buf[:n]; len(data) >= unix.SizeofInotifyEvent; {
			wd, mask, length := binary.NativeEndian.Uint32(data), binary.NativeEndian.Uint32(data[4:]), binary.NativeEndian.Uint32(data[12:])
			name := string(bytes.TrimRight(data[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+length], "\x00"))
			if mask&unix.IN_ISDIR == 0 {
				rel, _ := filepath.Rel(w.Dir, filepath.Join(dirs[wd], name))
				files = append(files, rel)
			}
			data = data[unix.SizeofInotifyEvent+length:]
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// TestKnownFilesAreNotOpened checks that a save reads no file whose content an earlier save has
// read: after a touch, untracked, and changed but not staged.
func TestKnownFilesAreNotOpened(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t)
	assert.Empty(t, w.opened(func() { w.captured() }))
	w.Write("new/untracked.txt", "other\n")
	time.Sleep(60 * time.Millisecond)
	assert.Equal(t, []string{"new/untracked.txt"}, w.opened(func() { w.captured() }))
	must(os.Chtimes(w.Path("dir/touched.txt"), time.Now(), time.Now()))
	time.Sleep(60 * time.Millisecond)
	assert.Equal(t, []string{"dir/touched.txt"}, w.opened(func() { w.captured() }))
	assert.Empty(t, w.opened(func() { w.captured() }))
	assert.Empty(t, w.opened(func() {
		req := w.request(checkpoint.Manual)
		req.Worktree, req.Untracked, req.IfChanged = true, true, true
		_, err := w.s.Save(ctx, req)
		require.ErrorIs(t, err, gitstore.ErrUnchanged)
	}))
}
