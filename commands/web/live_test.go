package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var livePattern = regexp.MustCompile(`data-live="([^"]+)" data-state="([0-9a-f-]+)"`)

// poll asks like the script of a page that was read before.
func (w *world) poll(page string) *httptest.ResponseRecorder {
	w.t.Helper()
	m := livePattern.FindStringSubmatch(page)
	require.NotNil(w.t, m)
	return w.ask("GET", regexp.MustCompile("&amp;").ReplaceAllString(m[1], "&"), "", func(r *http.Request) {
		r.Header.Set("If-None-Match", `"`+m[2]+`"`)
	})
}

func TestPollsOfAnIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.work()
	page := w.get("/i/42")
	answer := w.poll(page)
	assert.Equal(t, http.StatusNotModified, answer.Code)
	assert.Empty(t, answer.Body.String())

	w.save("42", "build", checkpoint.Manual, "one", nil)
	w.save("42", "build", checkpoint.Manual, "two", nil)
	w.save("7", "", checkpoint.Manual, "of another issue", nil)
	answer = w.poll(page)
	require.Equal(t, http.StatusOK, answer.Code)
	assert.JSONEq(t, `{"new": 2, "text": "2 new checkpoints", "unsaved": "all files saved"}`, answer.Body.String())
	assert.NotEmpty(t, answer.Header().Get("ETag"))
	assert.JSONEq(t, `{"new": 0, "text": "", "unsaved": "all files saved"}`, w.poll(regexp.MustCompile(`data-state="`).ReplaceAllString(w.get("/i/42"), `data-state="0`)).Body.String())

	page = w.get("/i/42")
	repo, err := w.open(t.Context())
	require.NoError(t, err)
	defer repo.Close()
	require.NoError(t, repo.Drop(t.Context(), "42", []checkpoint.ID{saved[0].ID}))
	assert.JSONEq(t, `{"new": 0, "text": "The checkpoints have changed", "unsaved": "all files saved"}`, w.poll(page).Body.String())
}

func TestPollsOfAllIssues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.work()
	for _, path := range []string{"/", "/activity"} {
		page := w.get(path)
		assert.Equal(t, http.StatusNotModified, w.poll(page).Code)
		w.save("42", "build", checkpoint.Manual, "one", nil)
		w.save("7", "", checkpoint.Manual, "two", nil)
		assert.JSONEq(t, `{"new": 2, "text": "New checkpoints of 2 issues"}`, w.poll(page).Body.String())
	}
	for _, query := range []string{"", "?since=x", "?since=1&issue=%2f%2f"} {
		assert.Equal(t, http.StatusNotFound, w.ask("GET", "/live"+query, "", nil).Code, query)
	}
}
