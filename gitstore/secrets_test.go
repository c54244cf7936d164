package gitstore

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// aKey matches a rule, but scanners of this repository must not find it.
var aKey = "ghp_" + strings.Repeat("aB3dE6gH9j", 4)

func plainSecret(s Secret) Secret {
	return Secret{ID: s.ID, Path: s.Path, Rule: s.Rule, Line: s.Line}
}

// outgoing returns what a push of issues to origin would expose.
func (w *world) outgoing(issues ...checkpoint.Issue) []Outgoing {
	w.t.Helper()
	var groups [][]remote.RefUpdate
	for _, i := range issues {
		groups = append(groups, []remote.RefUpdate{{Ref: LiveRef(i), Tip: plumbing.NewHash(w.Git("rev-parse", LiveRef(i)))}})
	}
	outs, err := w.s.chain.Outgoing(ctx, "origin", Exposed{}, groups...)
	require.NoError(w.t, err)
	return outs
}
