package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The --json guide documents every field of records with golden files.
func TestManualFields(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("internal", "manual", "guides", "json.md"))
	require.NoError(t, err)
	sections := map[string]string{}
	for _, part := range strings.Split(string(guide), "\n### ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		for _, kind := range strings.Split(title, ", ") {
			sections[kind] = text
		}
	}
	files, err := filepath.Glob(filepath.Join("internal", "view", "testdata", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var record map[string]any
		require.NoError(t, json.Unmarshal(data, &record))
		kind := record["type"].(string)
		text, ok := sections[kind]
		require.True(t, ok, "%s has no section", kind)
		for _, field := range fieldsIn(record) {
			assert.True(t, strings.Contains(text, "`"+field+"`") || field == "version" || field == "type", "%s: %s", kind, field)
		}
	}
}

// fieldsIn returns the names of all nested fields, except inside values that are records
// in maps whose keys are phases, and in mappings of another system's document.
func fieldsIn(v any) []string {
	var names []string
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			names = append(names, name)
			if !slices.Contains([]string{"checkpoint", "value", "old", "new", "replans", "artifact_paths", "context_metadata"}, name) {
				names = append(names, fieldsIn(inner)...)
			}
		}
	case []any:
		for _, inner := range v {
			names = append(names, fieldsIn(inner)...)
		}
	}
	return names
}
