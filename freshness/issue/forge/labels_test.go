package forge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore/testing/forgetest"
)

func TestSetLabels(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, kind forge.Kind) {
		s := server(t)
		s.Private(secret)
		s.Define("state:done", "a/b c")
		change := forge.LabelChange{Add: []string{"state:done", "a/b c"}, Remove: []string{"state:ready", "never there"}}
		done, err := ask(t, kind, s, secret).SetLabels(t.Context(), "42", change)
		require.NoError(t, err)
		assert.Equal(t, change, done)
		assert.Equal(t, []string{"type:feature", "state:done", "a/b c"}, s.Issue("42").Labels)

		_, err = ask(t, kind, s, secret).SetLabels(t.Context(), "42", forge.LabelChange{Remove: []string{"a/b c"}})
		require.NoError(t, err)
		assert.Equal(t, []string{"type:feature", "state:done"}, s.Issue("42").Labels)
	})
}

// TestRefusedRemovalIsNotReportedAsRemoved checks GitHub's answer 404 to a token that may
// read an issue and not change it. It answers the same if the issue has no such label.
func TestRefusedRemovalIsNotReportedAsRemoved(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Private(secret)
	s.Misbehave("read-only")
	done, err := ask(t, forge.GitHub, s, secret).SetLabels(t.Context(), "42", forge.LabelChange{Remove: []string{"state:ready"}})
	require.ErrorContains(t, err, "GH_ENTERPRISE_TOKEN is not allowed to change the labels of issue 42 of o/r (404)")
	assert.True(t, done.IsZero())
	done, err = ask(t, forge.GitHub, s, secret).SetLabels(t.Context(), "42", forge.LabelChange{Remove: []string{"never there"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"never there"}, done.Remove)
}

// TestLabelOfProjectAndOrganizationIsRemovedTwice checks two labels of the same name: each
// has its own id.
func TestLabelOfProjectAndOrganizationIsRemovedTwice(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Private(secret)
	s.Define("state:done")
	s.Share("state:done", "team:a")
	s.Put("42", forgetest.FakeIssue{Title: "t", Labels: []string{"state:ready", "bug"}, Shared: []string{"state:ready"}})
	change := forge.LabelChange{Add: []string{"state:done", "team:a"}, Remove: []string{"state:ready"}}
	done, err := ask(t, forge.Gitea, s, secret).SetLabels(t.Context(), "42", change)
	require.NoError(t, err)
	assert.Equal(t, change, done)
	assert.Equal(t, []string{"bug", "state:done"}, s.Issue("42").Labels)
	assert.Equal(t, []string{"state:done", "team:a"}, s.Issue("42").Shared)
}

func TestSetLabelsFails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, kind forge.Kind) {
		s := server(t)
		change := forge.LabelChange{Add: []string{"x"}}
		_, err := ask(t, kind, s, "").SetLabels(t.Context(), "42", change)
		require.ErrorContains(t, err, "a token is required to change labels: ")

		_, err = ask(t, kind, s, secret).SetLabels(t.Context(), "42", change)
		require.EqualError(t, err, strings.TrimPrefix(s.URL, "http://")+": "+variable[kind]+" is not allowed to change the labels of issue 42 of o/r (403)")
		assert.Equal(t, []string{"type:feature", "state:ready"}, s.Issue("42").Labels)
	})
	s := server(t)
	_, err := ask(t, forge.GitLab, s, secret).SetLabels(t.Context(), "42", forge.LabelChange{Add: []string{"a,b"}})
	require.ErrorContains(t, err, `a label cannot have a comma: "a,b"`)
}

// TestSetLabelsRefuses checks that invalid labels fail before any request.
func TestSetLabelsRefuses(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Private(secret)
	f := ask(t, forge.GitHub, s, secret)
	for _, name := range []string{"", ".", "..", " . ", "a\nb", strings.Repeat("x", 256)} {
		_, err := f.SetLabels(t.Context(), "42", forge.LabelChange{Remove: []string{name}})
		require.ErrorContains(t, err, "cannot be a label", name)
		_, err = f.SetLabels(t.Context(), "42", forge.LabelChange{Add: []string{name}})
		require.ErrorContains(t, err, "cannot be a label", name)
	}
	many := make([]string, 101)
	_, err := f.SetLabels(t.Context(), "42", forge.LabelChange{Add: many})
	require.ErrorContains(t, err, "101 labels are too many to change, at most 100")
	assert.Empty(t, s.Requests())
}
