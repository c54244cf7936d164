package workflow

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each shape of progress is read alike. Without a stated total, phases in sight are the total
// only if one of them is open, or if the work is completed.
func TestReadProgress(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		want      checkpoint.Progress
		unread    []string
	}{
		{
			"a list", `{"completed_phases":[2,1,1],"current_phase":"phase_3","total_phases":4}`,
			checkpoint.Progress{Current: "3", Completed: []string{"1", "2"}, Total: 4},
			nil,
		},
		{
			"a list of mappings", `{"completedPhases":[{"phase":"plan","completed_at":"x"},{"name":"build"}],"step":"test"}`,
			checkpoint.Progress{Current: "test", Completed: []string{"plan", "build"}},
			nil,
		},
		{
			"a mapping by number", `{"total_phases":4,"phase_names":{"1":"a","2":"b"},"completed_phases":{"2":{"completed_at":"x"},"1":{"artifact":"p.md"}},"current_phase":3}`,
			checkpoint.Progress{Current: "3", Completed: []string{"1", "2"}, Total: 4},
			nil,
		},
		{
			"a mapping with its open phases", `{"completed_phases":{"1":true,"2":false,"3":null}}`,
			checkpoint.Progress{Completed: []string{"1"}, Names: []string{"1", "2", "3"}},
			nil,
		},
		{
			"a mapping of words", `{"phases":{"plan":"completed","docs":"skipped","build":"in_progress","test":"pending"}}`,
			checkpoint.Progress{Current: "build", Completed: []string{"plan"}, Skipped: []string{"docs"}, Names: []string{"plan", "docs", "build", "test"}},
			nil,
		},
		{
			"a mapping of objects", `{"milestones":{"m1":{"status":"completed"},"m2":{"status":"planning"}},"currentMilestone":"m2"}`,
			checkpoint.Progress{Current: "m2", Completed: []string{"m1"}, Names: []string{"m1", "m2"}},
			nil,
		},
		{
			"a list with states", `{"stages":[{"id":"a","done":true},{"id":"b","started_at":"x"}]}`,
			checkpoint.Progress{Current: "b", Completed: []string{"a"}, Names: []string{"a", "b"}},
			nil,
		},
		{
			"two lists", `{"step":"b","completed":["a"],"pending":["b","c"]}`,
			checkpoint.Progress{Current: "b", Completed: []string{"a"}, Names: []string{"a", "b", "c"}},
			nil,
		},
		{"two empty lists", `{"step":"a","completed":[],"pending":[]}`, checkpoint.Progress{Current: "a"}, nil},
		{"names of a total", `{"phase_names":["a","b","c"],"completed_phases":[1]}`, checkpoint.Progress{Completed: []string{"1"}, Total: 3}, nil},
		{"all that was seen", `{"phases":{"a":"done","b":"done"}}`, checkpoint.Progress{Completed: []string{"a", "b"}}, nil},
		{"completed work", `{"phases":{"a":"done","b":"done"},"status":"completed"}`, checkpoint.Progress{Completed: []string{"a", "b"}, Names: []string{"a", "b"}}, nil},
		{"titles", `{"phases":{"1":"Research"},"phase":"1"}`, checkpoint.Progress{Current: "1"}, []string{"phases"}},
		{
			"other words", `{"completedWork":{"a":1},"tasks_remaining":4,"completed_at":5,"steps":"3","pending_redirects":[],"overall_progress":{"x":1}}`,
			checkpoint.Progress{},
			[]string{"completedWork", "tasks_remaining", "overall_progress"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := checkpoint.DecodeDocument([]byte(c.doc), checkpoint.DefaultLimits)
			require.NoError(t, err)
			got, unread := ReadProgress(m)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.unread, unread)
		})
	}
}

// A change of the progress keeps the shape of the document.
func TestUpdatePhasesKeepsShape(t *testing.T) {
	for doc, want := range map[string]string{
		`{"completed_phases":[1],"x":0}`:                          `{"completed_phases":[1,2],"x":0}`,
		`{"completed_phases":{"1":true,"3":true}}`:                `{"completed_phases":{"1":true,"2":true}}`,
		`{"completed_phases":{"1":"done"}}`:                       `{"completed_phases":{"1":"done","2":"completed"}}`,
		`{"completed_phases":{"1":{"completed_at":"x","a":"b"}}}`: `{"completed_phases":{"1":{"completed_at":"x","a":"b"},"2":{"completed_at":"2026-01-02T03:04:05Z"}}}`,
	} {
		m, err := checkpoint.DecodeDocument([]byte(doc), checkpoint.DefaultLimits)
		require.NoError(t, err)
		r := checkpoint.New()
		at, err := checkpoint.ParseTime("2026-01-02T03:04:05Z")
		require.NoError(t, err)
		r.SetCreatedAt(at)
		r.SetProgress(checkpoint.Progress{Completed: []string{"1", "2"}})
		UpdatePhases(r, m, "", "completed_phases", "")
		data, err := m.MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
}
