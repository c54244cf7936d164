package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// hostile is text with special meaning in browsers or terminals.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1) ' onmouseover=alert(1) x=" {{.}} </style><!-- ` +
	"\u202egnp.exe\u202c \x1b[31mred\x1b[0m \u200bzero"

// A world is a repository with checkpoints and its web page.
type world struct {
	t       testing.TB
	dir     string
	repo    *gittest.Repo
	at      time.Time
	o       Options
	page    http.Handler
	site    *site
	forge   Forge
	unsaved int              // files
	other   freshness.Branch // branch fact of a verdict while HEAD is on its Name
}

const testToken = "a-token-for-tests"

// Pages have the local time zone.
func init() { time.Local = time.UTC }

var first = gittest.NewTemplate(func(r *gittest.Repo) {
	r.Write("a.txt", "one\ntwo\nthree\n")
	r.Git("add", "-A")
	r.Commit("first")
})

// newWorld creates a repository and its web page.
func newWorld(t testing.TB, write bool) *world {
	t.Helper()
	r := first.New(t)
	w := &world{t: t, dir: r.Dir, repo: r, at: now.Add(-48 * time.Hour)}
	w.o = Options{Open: w.open, Now: func() time.Time { return now }, Name: "project <b>", Write: write}
	w.site = newSite(w.o)
	w.page = newGuard(testToken, "c", "", contentPolicy, w.site.handler())
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return strings.TrimSpace(w.repo.Git(args...))
}

func (w *world) write(path, text string) {
	w.t.Helper()
	w.repo.Write(path, text)
}

// open opens the repository with a fixed assessment of checkpoints.
func (w *world) open(ctx context.Context) (*Repository, error) {
	s, err := gitstore.Open(ctx, gitstore.Options{Dir: w.dir, Now: func() time.Time { return w.at }})
	if err != nil {
		return nil, err
	}
	agent := func(string) string { return "" }
	return &Repository{Store: s, Forge: w.forge, Agent: agent, NotSaved: func(*gitstore.Checkpoint) (int, error) { return w.unsaved, nil }, Detached: func() string { return "" }, Judge: func(c *gitstore.Checkpoint, r *checkpoint.Record) (*view.Standing, error) {
		facts := freshness.Facts{Now: now, NoIssue: "nobody asked", Findings: []freshness.Reason{{
			Check: "session", Message: r.Note(), Detail: []string{r.Note()}, Diff: []string{"-" + r.Note()}, Hint: r.Note(),
		}}}
		v := freshness.Evaluate(r, facts, freshness.Rules{})
		v.CanResume = true
		if w.other.Name != "" && w.git("branch", "--show-current") == w.other.Name {
			v.Other = w.other
		}
		return &view.Standing{Checkpoint: c, Record: r, Verdict: v, Now: now}, nil
	}, Mirror: func() {}}, nil
}

// save saves a checkpoint one minute after the previous checkpoint. edit may be nil.
func (w *world) save(issue, phase string, trigger checkpoint.Trigger, note string, edit func(*checkpoint.Record)) *gitstore.Saved {
	w.t.Helper()
	return w.capture(gitstore.SaveRequest{
		Issue: checkpoint.Issue(issue), Staged: true,
		Edit: func(r *checkpoint.Record) (*checkpoint.Record, error) {
			if r == nil {
				r = checkpoint.New()
			}
			r.SetTrigger(trigger)
			r.SetPhase(phase)
			r.SetNote(note)
			r.SetBranch("main")
			if edit != nil {
				edit(r)
			}
			return r, nil
		},
	})
}

// capture carries out the request of a save one minute after the previous checkpoint.
func (w *world) capture(req gitstore.SaveRequest) *gitstore.Saved {
	w.t.Helper()
	w.at = w.at.Add(time.Minute)
	repo, err := w.open(context.Background())
	require.NoError(w.t, err)
	defer repo.Close()
	saved, err := repo.Save(context.Background(), req)
	require.NoError(w.t, err)
	return saved
}

// ask sends a request with a valid browser cookie.
func (w *world) ask(method, path, form string, change func(*http.Request)) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form))
	r.Host = "127.0.0.1:8042"
	r.AddCookie(&http.Cookie{Name: "c", Value: testToken})
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	answer := httptest.NewRecorder()
	w.page.ServeHTTP(answer, r)
	return answer
}

// get returns the text of a page and requires status 200.
func (w *world) get(path string) string {
	w.t.Helper()
	answer := w.ask("GET", path, "", nil)
	require.Equal(w.t, http.StatusOK, answer.Code, path)
	return answer.Body.String()
}
