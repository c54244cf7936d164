package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

// The overview shows the issues in pages, the last saved first.
func TestIssuesAreInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.save("42", "p", checkpoint.Manual, "the first", nil)
	page := w.get("/")
	lacks(t, page, "Older")
	var refs strings.Builder // chains that are not valid, but have a newest checkpoint
	tip := w.git("rev-parse", "refs/checkpoints/42")
	for i := range 2*issuesPerPage + 4 {
		fmt.Fprintf(&refs, "%s refs/checkpoints/%04d\n", tip, 1000+i)
	}
	w.write(".git/packed-refs", refs.String())
	w.save("7", "p", checkpoint.Manual, "the last", nil)

	for path, want := range map[string]struct {
		rows         int
		shown        string
		newer, older bool
	}{
		"/":         {issuesPerPage, "1 to 100 of 206 issues", false, true},
		"/?page=2":  {issuesPerPage, "101 to 200 of 206 issues", true, true},
		"/?page=3":  {6, "201 to 206 of 206 issues", true, false},
		"/?page=-1": {issuesPerPage, "1 to 100 of 206 issues", false, true},
	} {
		page := w.get(path)
		assert.Equal(t, want.rows, strings.Count(page, `<li class="card`), path)
		has(t, page, want.shown)
		assert.Equal(t, want.newer, strings.Contains(page, `button" rel="prev"`), path)
		assert.Equal(t, want.older, strings.Contains(page, `button" rel="next"`), path)
	}
	has(t, w.get("/"), `href="/i/7"`)
	assert.Equal(t, http.StatusNotFound, w.ask("GET", "/?page=4", "", nil).Code)
}
