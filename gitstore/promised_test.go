package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/chain"

	"github.com/stretchr/testify/require"
)

// A hanging transport ends, including all child processes of git.
func TestFetchOfAnObjectEnds(t *testing.T) {
	w := newWorld(t)
	w.manual(1)
	w.Write("ssh", "#!/bin/sh\nsleep 300\n")
	w.Git("config", "core.sshCommand", "sh "+w.Dir+"/ssh")
	w.Git("config", "remote.origin.url", "ssh://example.com/hub.git")
	w.Git("config", "remote.origin.promisor", "true")
	w.Git("config", "core.repositoryFormatVersion", "1")
	w.Git("config", "extensions.partialClone", "origin")
	s := w.open(w.Dir)
	s.repo.PromisedFor = time.Second
	start := time.Now()
	_, _, err := s.repo.Objects.Read(chain.Genesis("other").Hash)
	require.ErrorAs(t, err, new(*PromisedError))
	require.ErrorContains(t, err, "not done within 1s")
	require.Less(t, time.Since(start), 4*time.Second)
}
