package gitstore

import (
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server is a git daemon that disconnects after a number of bytes.
type server struct {
	dir  string
	left atomic.Int64 // bytes in both directions
	cuts atomic.Int64
	all  atomic.Int64 // number of connections
}

// serve serves the repositories in dir, and returns their URL prefix.
func serve(t *testing.T, dir string) (*server, string) {
	t.Helper()
	if out, err := exec.Command("git", "--exec-path").Output(); err != nil || !fsutil.Exists(filepath.Join(string(out[:len(out)-1]), "git-daemon")) {
		t.Skip("this git has no daemon")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	s := &server{dir: dir}
	s.left.Store(1 << 40)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.answer(conn)
		}
	}()
	return s, "git://" + l.Addr().String() + "/"
}

func (s *server) answer(conn net.Conn) {
	s.all.Add(1)
	defer conn.Close()
	cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+s.dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	cmd.Stdout = &cutter{s, conn, conn}
	if cmd.Start() != nil {
		return
	}
	go func() {
		_, _ = io.Copy(&cutter{s, in, conn}, conn)
		in.Close()
	}()
	_ = cmd.Wait()
}

// A cutter forwards bytes until the limit, and then disconnects.
type cutter struct {
	s    *server
	to   io.Writer
	conn net.Conn
}

func (c *cutter) Write(p []byte) (int, error) {
	left := c.s.left.Add(int64(-len(p)))
	if left >= 0 {
		return c.to.Write(p)
	}
	c.s.cuts.Add(1)
	n, _ := c.to.Write(p[:max(0, len(p)+int(left))])
	c.conn.Close()
	return n, io.ErrClosedPipe
}

// A connection cut at any byte leaves both sides valid and local refs unchanged. The next
// sync succeeds.
func TestSyncCutAnywhere(t *testing.T) {
	gittest.Slow(t)
	tries := 20
	if gittest.Torture() {
		tries = 200
	}
	a, b, hub, saved := pair(t, 1)
	srv, url := serve(t, filepath.Dir(hub))
	for _, w := range []*world{a, b} {
		w.Git("remote", "set-url", "origin", url+filepath.Base(hub))
		w.s = w.open(w.Dir)
	}
	r := rand.New(rand.NewPCG(1, 4))
	for range tries {
		saved = append(saved, a.manual(1)...)
		saved = append(saved, b.manual(1)...)
		a.sync()
		before := b.Git("for-each-ref", "refs/checkpoints", repo.OwnRefs)
		srv.left.Store(r.Int64N(5000))
		done, err := b.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}})
		if err != nil || done[0].Err != nil {
			assert.Equal(t, before, b.Git("for-each-ref", "refs/checkpoints", repo.OwnRefs))
		}
		srv.left.Store(1 << 40)
		b.Git("--git-dir="+hub, "fsck", "--strict")
		b.sync()
	}
	meet(t, hub, a, b)
	assert.ElementsMatch(t, saved, a.live())
	assert.Greater(t, srv.cuts.Load(), int64(tries/4), "connections have to be cut")
}
