package gitstore

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// A hanging transport ends, including all child processes of git.
func TestFetchOfAnObjectEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	w.Write("ssh", "echo $$ >'"+w.Dir+"/child'\nmv '"+w.Dir+"/child' '"+w.Dir+"/pid'\nexec sleep 600\n")
	w.Git("config", "core.sshCommand", "sh "+w.Dir+"/ssh")
	w.Git("config", "remote.origin.url", "ssh://example.com/hub.git")
	w.Git("config", "remote.origin.promisor", "true")
	w.Git("config", "core.repositoryFormatVersion", "1")
	w.Git("config", "extensions.partialClone", "origin")
	pid := 0
	for limit := time.Second; pid == 0; limit *= 4 { // on a busy machine, git may need longer to start ssh
		require.Less(t, limit, 2*time.Minute, "git does not start ssh")
		s := w.open(w.Dir)
		s.repo.PromisedFor = limit
		_, _, err := s.repo.Objects.Read(chain.Genesis("other").Hash)
		require.ErrorAs(t, err, new(*PromisedError))
		require.ErrorContains(t, err, "not done within "+limit.String())
		text, _ := os.ReadFile(filepath.Join(w.Dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	transport, err := os.FindProcess(pid)
	if err != nil {
		return // it has ended
	}
	defer transport.Kill()
	require.Eventually(t, func() bool {
		return gittest.HasEnded(pid)
	}, 2*time.Minute, 5*time.Millisecond, "the transport still runs")
}
