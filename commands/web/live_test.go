package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

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
	w.site.watch.at = time.Time{} // the next look is due
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

// Polls look at the refs at most once per second, however many pages are open.
func TestPollsShareOneLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.work()
	page := w.get("/i/42")
	w.poll(page)
	at := time.Now().Add(time.Hour) // so that the last look stays recent, however slow the test is
	w.site.watch.at = at
	m := livePattern.FindStringSubmatch(page)
	ask := func() {
		answer := w.ask("GET", "/live?since=0", "", func(r *http.Request) { r.Header.Set("If-None-Match", `"`+strings.Split(m[2], "-")[0]+`"`) })
		require.Equal(t, http.StatusNotModified, answer.Code)
	}
	for range 100 {
		ask()
	}
	assert.Equal(t, at, w.site.watch.at, "no further look")

	old := time.Now().Add(-watchEvery)
	w.site.watch.at = old
	ask()
	assert.NotEqual(t, old, w.site.watch.at, "the next look was due")
}
