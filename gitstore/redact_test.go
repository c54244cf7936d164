package gitstore

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// redacted saves a record with texts, and returns the result.
func (w *world) redacted(how Redaction, texts map[string]any) *Saved {
	w.t.Helper()
	req := w.request(checkpoint.Manual, func(r *checkpoint.Record) {
		for key, v := range texts {
			r.Doc().Set(key, v)
		}
	})
	req.Redact = how
	return w.save(req)
}

// Secrets in record texts appear in no written object, neither in records nor in commit
// messages.
func TestSaveMasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	saved := w.redacted(RedactMask, map[string]any{
		"note": "it is " + aKey + "!", "db_password": "x9K2vB5nM8" + "qL7zP0wT", "list": []any{"a", map[string]any{"deep": aKey}},
		"outputs": map[string]any{"src/api_key.md": "3f786850e387550fdab836ed7e6dc881de23001b"},
	})
	assert.Len(t, saved.Warnings, 3)
	assert.Contains(t, strings.Join(saved.Warnings, "\n"), "note contained a possible secret (github-token), which was masked")
	assert.Contains(t, strings.Join(saved.Warnings, "\n"), "list.deep contained")
	data, err := w.s.RecordBytes(&saved.Checkpoint)
	require.NoError(t, err)
	assert.Contains(t, string(data), "it is [redacted:github-token]!")
	assert.Contains(t, string(data), "3f786850e387550fdab836ed7e6dc881de23001b")
	assert.Equal(t, "it is [redacted:github-token]!", saved.Note)
	for _, object := range strings.Fields(w.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		out := string(w.Pipe(nil, "cat-file", "-p", object))
		assert.NotContains(t, out, aKey)
		assert.NotContains(t, out, "qL7zP0w")
	}
	w.sound()
}

// Warnings about secrets contain no secret, even if a record key is a secret.
func TestRedactWarningsContainNoSecret(t *testing.T) {
	t.Parallel()
	for _, how := range []Redaction{RedactWarn, RedactMask} {
		w := newWorld(t)
		saved := w.redacted(how, map[string]any{"outputs": map[string]any{aKey: aKey}})
		require.Len(t, saved.Warnings, 2)
		assert.NotContains(t, strings.Join(saved.Warnings, ""), aKey)
		assert.Contains(t, saved.Warnings[0], "outputs.[redacted:github-token] contain")
		assert.Regexp(t, `^a key of outputs contain(s|ed) a possible secret \(github-token\)`, saved.Warnings[1])
	}
}

// Secret keys appear in no object. Several secret keys get different names, and repeated
// saves reuse these names.
func TestSaveMasksKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := "ghp_" + strings.Repeat("z9", 18)
	for range 2 {
		saved := w.redacted(RedactMask, map[string]any{
			aKey: map[string]any{"in": 1}, "list": []any{map[string]any{"first": 1, aKey: 2, other: 3, "last": 4}},
		})
		require.ElementsMatch(t, []string{
			"a key of list contained a possible secret (github-token), which was masked",
			"a key of list contained a possible secret (github-token), which was masked",
			"a key contained a possible secret (github-token), which was masked",
		}, saved.Warnings)
		doc := saved.Record.Doc()
		in, _ := doc.Sub("[redacted:github-token]").Get("in")
		assert.Equal(t, checkpoint.Number("1"), in)
		list, _ := doc.Get("list")
		assert.ElementsMatch(t, []string{"first", "[redacted:github-token]", "[redacted:github-token]-2", "last"}, list.([]any)[0].(*checkpoint.Map).Keys())
		assert.NotContains(t, doc.Keys(), "[redacted:github-token]-2")
	}
	for _, object := range strings.Fields(w.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		out := string(w.Pipe(nil, "cat-file", "-p", object))
		assert.NotContains(t, out, aKey)
		assert.NotContains(t, out, other)
	}
	w.sound()
}
