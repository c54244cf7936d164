package gitstore

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/secrets"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aKey matches a rule, but scanners of this repository must not find it.
var aKey = "ghp_" + strings.Repeat("aB3dE6gH9j", 4)

func plainSecret(s Secret) Secret {
	return Secret{ID: s.ID, Path: s.Path, Rule: s.Rule, Line: s.Line}
}

// Incomplete output of git causes an error, since contents are then unknown.
func TestEachObject(t *testing.T) {
	t.Parallel()
	read := func(text string, count int) (got []string, err error) {
		err = secrets.EachObject(bufio.NewReader(strings.NewReader(text)), count, func(name, kind string, _ int64, r io.Reader) error {
			data, err := io.ReadAll(r)
			got = append(got, kind+" "+name+":"+string(data))
			return err
		})
		return got, err
	}
	got, err := read("a blob 3\none\nx missing\nb tree 0\n\nc blob 1\n\n\n", 4)
	require.NoError(t, err)
	assert.Equal(t, []string{"blob a:one", "missing x:", "tree b:", "blob c:\n"}, got)
	for name, text := range map[string]string{
		"nothing": "", "missing and no more": "a missing\n", "no size": "a blob x\n", "cut in the head": "a blob 3",
		"cut in the content": "a blob 3\non", "cut after it": "a blob 3\none", "another size": "a blob 1\none\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(text, 2)
			require.Error(t, err)
		})
	}
	stop := errors.New("stop")
	err = secrets.EachObject(bufio.NewReader(strings.NewReader("a blob 3\none\n")), 1, func(string, string, int64, io.Reader) error { return stop })
	require.ErrorIs(t, err, stop)
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
