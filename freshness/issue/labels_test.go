package issue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ChangeLabels changes the labels in the form of the file, and nothing else.
func TestChangeLabels(t *testing.T) {
	t.Parallel()
	add, remove := []string{"state:docs", "P 1"}, []string{"state:ready"}
	for _, c := range []struct{ name, in, want string }{
		{"block", "title: t # the title\n\nlabels:\n  - bug # one\n  - state:ready\n  - \"p\"\n\nbody: |\n  x\n", "title: t # the title\n\nlabels:\n  - bug # one\n  - \"p\"\n  - state:docs\n  - \"P 1\"\n\nbody: |\n  x\n"},
		{"block without indent", "labels:\n- state:ready\n- bug\ntitle: t\n", "labels:\n- bug\n- state:docs\n- \"P 1\"\ntitle: t\n"},
		{"block at the end", "labels:\n  - state:ready", "labels:\n  - state:docs\n  - \"P 1\"\n"},
		{"mappings", "labels:\n  - name: state:ready\n    color: red\n  - name: bug\ntitle: t\n", "labels:\n  - name: bug\n  - name: state:docs\n  - name: \"P 1\"\ntitle: t\n"},
		{"flow", "labels: [bug, 'state:ready', \"a, ]\"] # all\ntitle: t\n", "labels: [\"bug\", \"a, ]\", state:docs, \"P 1\"] # all\ntitle: t\n"},
		{"empty flow", "labels: []\n", "labels: [state:docs, \"P 1\"]\n"},
		{"flow of mappings", "labels: [{name: state:ready}]\n", "labels: [{\"name\": state:docs}, {\"name\": \"P 1\"}]\n"},
		{"null", "labels:\ntitle: t\n", "labels: [state:docs, \"P 1\"]\ntitle: t\n"},
		{"no key", "title: t", "title: t\nlabels: [state:docs, \"P 1\"]\n"},
		{"CRLF", "labels:\r\n  - state:ready\r\ntitle: t\r\n", "labels:\r\n  - state:docs\r\n  - \"P 1\"\r\ntitle: t\r\n"},
		{"JSON", `{"title": "ä", "labels": ["bug", "state:ready"], "n": 1.50}` + "\n", `{"title": "ä", "labels": ["bug", "state:docs", "P 1"], "n": 1.50}` + "\n"},
		{"JSON lines", "{\n  \"labels\": [\n    \"state:ready\",\n    \"bug\"\n  ]\n}\n", "{\n  \"labels\": [\"bug\", \"state:docs\", \"P 1\"]\n}\n"},
		{"JSON with tabs", "{\n\t\"labels\": [\"state:ready\"]\n}\n", "{\n\t\"labels\": [\"state:docs\", \"P 1\"]\n}\n"},
		{"JSON mappings", `{"labels": [{"name": "bug"}]}`, `{"labels": [{"name":"bug"}, {"name": "state:docs"}, {"name": "P 1"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, added, _, err := ChangeLabels([]byte(c.in), add, remove)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, add, added)
			again, added, removed, err := ChangeLabels([]byte(got), add, remove)
			require.NoError(t, err)
			assert.Equal(t, got, again)
			assert.Empty(t, append(added, removed...))
		})
	}
	got, _, removed, err := ChangeLabels([]byte("labels:\n  - state:ready\ntitle: t\n"), nil, remove)
	require.NoError(t, err)
	assert.Equal(t, "labels: []\ntitle: t\n", got)
	assert.Equal(t, remove, removed)
}

// A form that ChangeLabels does not know is an error, not another text.
func TestChangeLabelsRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"labels: &a [bug]\nother: *a\n",
		"labels: [bug, # one\n  docs]\n",
		"labels:\n  -\n    state:ready\n",
		"labels:\n  - >-\n    state:ready\n  - bug\n",
		"{title: t}\n",
		"labels: [bug]\n---\nlabels: [docs]\n",
		"labels: bug\n",
	} {
		_, _, _, err := ChangeLabels([]byte(in), []string{"state:docs"}, []string{"state:ready"})
		assert.Error(t, err, in)
	}
	text, _, _, err := ChangeLabels([]byte("labels: []\n"), []string{"a\nb: c"}, nil)
	require.NoError(t, err)
	assert.Equal(t, `labels: ["a\nb: c"]`+"\n", text)
}

// Whatever the file, the result has the wanted labels and all other values.
func FuzzChangeLabels(f *testing.F) {
	for _, in := range []string{"labels:\n  - a # x\n  - b\nt: 1\n", "labels: [a, 'b']\n", `{"labels":["a"],"t":[1]}`, "labels:\n", "t: |\n  labels:\n   - a\n"} {
		f.Add(in, "c", "a")
	}
	f.Fuzz(func(t *testing.T, in, add, remove string) {
		text, added, removed, err := ChangeLabels([]byte(in), []string{add}, []string{remove})
		if err != nil {
			return
		}
		now, err := parseFile([]byte(text))
		require.NoError(t, err)
		for _, label := range added {
			assert.Contains(t, now.Labels, label)
		}
		for _, label := range removed {
			assert.NotContains(t, now.Labels, label)
		}
	})
}
