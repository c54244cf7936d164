package forge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/freshness/issue/forge"
)

// TestSetLabelsOutdates holds that what was seen of an issue before its labels
// changed is not taken for what it is.
func TestSetLabelsOutdates(t *testing.T) {
	s := server(t)
	s.Private(secret)
	f := ask(t, forge.GitHub, s, secret)
	_, err := f.Issue(t.Context(), "42")
	require.NoError(t, err)
	_, seen := f.Seen("42")
	require.Equal(t, at, seen)
	require.NoError(t, f.SetLabels(t.Context(), "42", forge.Change{Add: []string{"urgent"}}))
	_, seen = f.Seen("42")
	assert.Zero(t, seen)
}

func TestSetLabels(t *testing.T) {
	each(t, func(t *testing.T, kind forge.Kind) {
		s := server(t)
		s.Private(secret)
		change := forge.Change{Add: []string{"state:done", "a/b c"}, Remove: []string{"state:ready", "never there"}}
		require.NoError(t, ask(t, kind, s, secret).SetLabels(t.Context(), "42", change))
		assert.Equal(t, []string{"type:feature", "state:done", "a/b c"}, s.Issue("42").Labels)

		require.NoError(t, ask(t, kind, s, secret).SetLabels(t.Context(), "42", forge.Change{Remove: []string{"a/b c"}}))
		assert.Equal(t, []string{"type:feature", "state:done"}, s.Issue("42").Labels)
	})
}

func TestSetLabelsFails(t *testing.T) {
	each(t, func(t *testing.T, kind forge.Kind) {
		s := server(t)
		change := forge.Change{Add: []string{"x"}}
		err := ask(t, kind, s, "").SetLabels(t.Context(), "42", change)
		require.ErrorContains(t, err, "it takes a token to change labels: ")

		err = ask(t, kind, s, secret).SetLabels(t.Context(), "42", change)
		require.EqualError(t, err, strings.TrimPrefix(s.URL, "http://")+": "+variable[kind]+" is not allowed to change the labels of issue 42 of o/r (403)")
		assert.Equal(t, []string{"type:feature", "state:ready"}, s.Issue("42").Labels)
	})
	s := server(t)
	err := ask(t, forge.GitLab, s, secret).SetLabels(t.Context(), "42", forge.Change{Add: []string{"a,b"}})
	require.ErrorContains(t, err, `a label cannot have a comma: "a,b"`)
}

// TestSetLabelsRefuses what would be another path, or no label anywhere, before
// anything is asked.
func TestSetLabelsRefuses(t *testing.T) {
	s := server(t)
	s.Private(secret)
	f := ask(t, forge.GitHub, s, secret)
	for _, name := range []string{"", ".", "..", " . ", "a\nb", strings.Repeat("x", 256)} {
		require.ErrorContains(t, f.SetLabels(t.Context(), "42", forge.Change{Remove: []string{name}}), "cannot be a label", name)
		require.ErrorContains(t, f.SetLabels(t.Context(), "42", forge.Change{Add: []string{name}}), "cannot be a label", name)
	}
	many := make([]string, 101)
	require.ErrorContains(t, f.SetLabels(t.Context(), "42", forge.Change{Add: many}), "101 labels are too many to change, at most 100")
	assert.Empty(t, s.Requests())
}

// TestSetLabelsOfARenamedProject writes to where the issue was found: forges
// redirect questions, not changes.
func TestSetLabelsOfARenamedProject(t *testing.T) {
	s := server(t)
	s.Private(secret)
	s.Misbehave("renamed")
	require.NoError(t, ask(t, forge.GitHub, s, secret).SetLabels(t.Context(), "42", forge.Change{Add: []string{"x"}}))
	assert.Contains(t, s.Issue("42").Labels, "x")
	assert.Equal(t, "POST /api/v3/repositories/1/issues/42/labels 200", s.Requests()[2])
}
