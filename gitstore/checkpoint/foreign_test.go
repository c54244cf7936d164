package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreign returns the external folder of real files.
func foreign(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, "/", dir)
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared", "foreign")
	if _, err := os.Stat(dir); err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "CI needs the real files: %v", err)
		t.Skip("no real files here: ", err)
	}
	return dir
}

// The crunch templates contain placeholder words for times. Decode accepts them, and
// Validate reports them.
func TestCrunchTemplate(t *testing.T) {
	data := read(t, filepath.Join(foreign(t), "000-crunch", "template_yaml_0.yaml"))
	r, err := Decode(data)
	require.NoError(t, err)
	assert.Equal(t, Issue("42"), r.Issue())
	assert.Equal(t, []int{1, 2}, r.CompletedBatches())
	assert.Equal(t, 3, r.CurrentBatch())
	assert.Equal(t, "batch_3_task_1", r.ResumeFrom())
	assert.Equal(t, "feature/issue-42-jwt-refresh", r.Branch())
	assert.Equal(t, []File{{"src/auth/tokens.py", "modified", true}}, r.Files())
	assert.Equal(t, []Output{{Agent: "system-architect", Action: "create_spec", Location: ".claude/crunch/42/spec.md"}}, r.Outputs())
	assert.True(t, r.CreatedAt().IsZero())
	problems := r.Validate()
	assert.False(t, valid(problems))
	var paths []string
	for _, p := range problems {
		if !p.Warning {
			paths = append(paths, p.Path)
		}
	}
	assert.Equal(t, []string{
		"created_at", "workflow_state.phase_started_at", "agent_outputs.system-architect.create_spec.completed_at",
	}, paths)

	var keys []string
	for _, f := range recordSchema().fields[:15] {
		if f.name != "trigger" {
			keys = append(keys, f.name)
		}
	}
	assert.Equal(t, keys, r.doc.Keys(), "the schema has the order of the template")
	requireRoundTrip(t, r.doc)
}

// Every real document survives a round trip with its key order, or is rejected with a
// position.
func TestRealDocuments(t *testing.T) {
	documents, refused := 0, 0
	err := filepath.WalkDir(foreign(t), func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		ext := filepath.Ext(name)
		if d.IsDir() || ext != ".yaml" && ext != ".json" {
			return nil
		}
		m, err := DecodeDocument(read(t, name), DefaultLimits)
		if err != nil {
			var se *SyntaxError
			require.True(t, errors.As(err, &se), "%s: %v", name, err)
			assert.Positive(t, se.Line)
			assert.Positive(t, se.Column)
			t.Logf("%s: %v", filepath.Base(name), err)
			refused++
			return nil
		}
		documents++
		requireRoundTrip(t, m)
		return nil
	})
	require.NoError(t, err)
	t.Log(documents, "read,", refused, "refused")
	assert.Greater(t, documents, 100)
	assert.Less(t, refused, documents/4)
}
