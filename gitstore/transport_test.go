package gitstore

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Concurrent syncs work over all network transports of git.
func TestSyncTransports(t *testing.T) {
	gittest.Slow(t)
	full := gittest.Torture() // newWorld clears the variable
	for _, way := range []struct {
		name string
		open func(t *testing.T) func(w *world, hub string)
		few  int // number of clones, and of saves each; ssh is slow
	}{
		{"git daemon", overDaemon, 3},
		{"git http-backend", overHTTP, 3},
		{"sshd", overSSH, 2},
	} {
		t.Run(way.name, func(t *testing.T) {
			clones, each := way.few, way.few
			if full {
				clones, each = 8, 50
			}
			over := way.open(t)
			c := gather(t, clones, over)
			c.work(each)
			c.agree(clones*each + 1)
		})
	}
}

// With a read-only token, both sides stay unchanged, and the next sync succeeds.
func TestSyncReadOnly(t *testing.T) {
	t.Parallel()
	a, b, hub, _ := pair(t, 1)
	over := overHTTP(t)
	for _, w := range []*world{a, b} {
		over(w, hub)
		w.s = w.open(w.Dir)
	}
	a.manual(1)
	a.sync()
	b.manual(1)
	a.Git("--git-dir="+hub, "config", "http.receivepack", "false")
	before, there := b.Git("for-each-ref", repo.LiveRefs, repo.OwnRefs), a.Git("--git-dir="+hub, "for-each-ref")
	done, err := b.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}, Quiet: true})
	for _, d := range done {
		err = cmp.Or(err, d.Err)
	}
	var remote *RemoteError
	require.ErrorAs(t, err, &remote)
	assert.Contains(t, remote.Reason, "403")
	assert.Equal(t, before, b.Git("for-each-ref", repo.LiveRefs, repo.OwnRefs))
	assert.Equal(t, there, a.Git("--git-dir="+hub, "for-each-ref"))
	a.Git("--git-dir="+hub, "config", "http.receivepack", "true")
	meet(t, hub, a, b)
	assert.Len(t, a.live(), 3)
}

// absent skips a test that needs a missing program. In CI the test fails, because CI
// installs the program.
func absent(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" && runtime.GOOS == "linux" {
		t.Fatalf("%s is not here", what)
	}
	t.Skipf("%s is not here", what)
}

// execPath returns the path of a program in git's exec path.
func execPath(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	require.NoError(t, err)
	path := filepath.Join(strings.TrimSpace(string(out)), program)
	if !fsutil.Exists(path) {
		absent(t, program)
	}
	return path
}

func overDaemon(t *testing.T) func(*world, string) {
	execPath(t, "git-daemon")
	var url string
	return func(w *world, hub string) {
		if url == "" {
			_, url = serve(t, filepath.Dir(hub))
		}
		w.Git("remote", "set-url", "origin", url+filepath.Base(hub))
	}
}

// overHTTP serves through git's own CGI program.
func overHTTP(t *testing.T) func(*world, string) {
	backend := execPath(t, "git-http-backend")
	var server *httptest.Server
	return func(w *world, hub string) {
		if server == nil {
			w.Git("--git-dir="+hub, "config", "http.receivepack", "true")
			server = httptest.NewServer(httpBackend(backend, filepath.Dir(hub)))
			t.Cleanup(server.Close)
		}
		w.Git("remote", "set-url", "origin", server.URL+"/"+filepath.Base(hub))
	}
}

func httpBackend(program, dir string) http.Handler {
	return &cgi.Handler{Path: program, Env: []string{
		"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}, InheritEnv: []string{"PATH", "HOME"}}
}

// overSSH serves through a private sshd with generated keys.
func overSSH(t *testing.T) func(*world, string) {
	sshd := "/usr/sbin/sshd"
	if _, err := exec.LookPath("ssh"); err != nil || !fsutil.Exists(sshd) {
		absent(t, "sshd")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	key := newKey(t, dir, "user")
	port := freePort(t)
	config := filepath.Join(dir, "sshd_config")
	require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf(`ListenAddress 127.0.0.1:%d
HostKey %s
AuthorizedKeysFile %s.pub
StrictModes no
UsePAM no
UseDNS no
PidFile none
MaxStartups 100
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
`, port, newKey(t, dir, "host"), key)), 0o600))
	if os.Geteuid() == 0 { // sshd requires this folder for privilege separation
		require.NoError(t, os.MkdirAll("/run/sshd", 0o755))
	}
	daemon := exec.Command(sshd, "-D", "-e", "-f", config)
	require.NoError(t, daemon.Start())
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	reachable(t, port)
	command := fmt.Sprintf("ssh -F %s -i '%s' -o KexAlgorithms=curve25519-sha256 -o StrictHostKeyChecking=no -o UserKnownHostsFile=%s -o LogLevel=ERROR", os.DevNull, key, os.DevNull)
	return func(w *world, hub string) {
		w.Git("config", "core.sshCommand", command)
		w.Git("remote", "set-url", "origin", fmt.Sprintf("ssh://127.0.0.1:%d%s", port, hub))
	}
}

// newKey generates a key pair and returns the private key file.
func newKey(t *testing.T, dir, name string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// reachable waits until a server listens.
func reachable(t *testing.T, port int) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, time.Minute, 20*time.Millisecond)
}
