package web

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// restorable saves a change of a.txt for issue 44, takes the change back, and returns the
// page of the checkpoint.
func (w *world) restorable() (page string) {
	w.write("a.txt", "one\nsaved\n")
	w.git("add", "-A")
	c := w.save("44", "build", checkpoint.Manual, "to come back to", nil)
	w.git("reset", "-q", "--hard")
	return "/i/44/c/" + string(c.ID)
}

func (w *world) file() string {
	data, err := os.ReadFile(filepath.Join(w.dir, "a.txt"))
	require.NoError(w.t, err)
	return string(data)
}

// Restore and resume describe what they do, change nothing before the confirmation, and can
// be undone. Only a form with the proof of the same state is accepted.
func TestRestoreResumeUndo(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"restore", "resume"} {
		t.Run(act, func(t *testing.T) {
			w := newWorld(t, true)
			page := w.restorable()
			was := w.file()
			asked := w.get(page + "/" + act)
			has(t, asked, "<code>a.txt</code>")
			has(t, asked, "would restore</span>")
			for _, form := range []string{"", "proof=00", w.proof(page + "/drop")} {
				assert.Equal(t, http.StatusForbidden, w.ask("POST", page+"/"+act, form, nil).Code)
			}
			assert.Equal(t, http.StatusForbidden, w.ask("POST", page+"/"+act, w.proof(page+"/"+act), func(r *http.Request) {
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			}).Code)
			assert.Equal(t, was, w.file(), "nothing has changed")

			answer := w.ask("POST", page+"/"+act, w.proof(page+"/"+act), nil)
			require.Equal(t, http.StatusSeeOther, answer.Code, answer.Body)
			assert.Equal(t, "one\nsaved\n", w.file())
			has(t, w.get(answer.Header().Get("Location")), `href="/i/44/undo"`)

			has(t, w.get("/i/44/undo"), "Undo the last restore?")
			stale := w.proof("/i/44/undo")
			assert.Equal(t, http.StatusForbidden, w.ask("POST", "/i/44/undo", "proof=00", nil).Code)
			assert.Equal(t, "one\nsaved\n", w.file(), "a page that describes an undo does not undo")
			answer = w.ask("POST", "/i/44/undo", stale, nil)
			require.Equal(t, http.StatusSeeOther, answer.Code, answer.Body)
			has(t, w.get(answer.Header().Get("Location")), "Undone: the last restore")
			assert.Equal(t, was, w.file())
			has(t, w.get("/i/44/undo"), "There is nothing to undo")
			assert.Equal(t, http.StatusNotFound, w.ask("POST", "/i/44/undo", stale, nil).Code)
		})
	}
}

// A form of an undo is refused if another change came between.
func TestUndoOfAnotherStateIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	page := w.restorable()
	require.Equal(t, http.StatusSeeOther, w.ask("POST", page+"/restore", w.proof(page+"/restore"), nil).Code)
	stale := w.proof("/i/44/undo")
	require.Equal(t, http.StatusSeeOther, w.ask("POST", page+"/archive", w.proof(page+"/archive"), nil).Code)
	assert.Equal(t, http.StatusForbidden, w.ask("POST", "/i/44/undo", stale, nil).Code)
	has(t, w.get("/i/44/undo"), "Undo the last archive?")
	require.Equal(t, http.StatusSeeOther, w.ask("POST", "/i/44/undo", w.proof("/i/44/undo"), nil).Code)
	has(t, w.get("/i/44"), "to come back to")
}

// A restore that the store refuses has no button, but the reason.
func TestRefusedRestoreHasNoButton(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	page := w.restorable()
	w.git("switch", "-q", "-c", "other")
	asked := w.get(page + "/restore")
	has(t, asked, "main")
	lacks(t, asked, `name="proof"`)
	assert.Equal(t, http.StatusConflict, w.ask("POST", page+"/restore", "proof="+w.site.proof("restore", "44", page[len("/i/44/c/"):]), nil).Code)
}

func TestResumeIsBlockedByQuestionsForATerminal(t *testing.T) {
	t.Parallel()
	cp := &gitstore.Checkpoint{Issue: "42", ID: "CP-1"}
	ask := func(check string) *view.Standing {
		return &view.Standing{Checkpoint: cp, Verdict: freshness.Verdict{CanResume: true, Action: freshness.PromptUser, Reasons: []freshness.Reason{{
			Check: check, Action: freshness.PromptUser, Message: "look", Hint: "git log\ngit status",
		}}}}
	}
	why, commands := blocks(ask("head"))
	assert.Equal(t, "look", why)
	assert.Equal(t, []string{"git log", "git status", "git checkpoint resume 42 CP-1 --force"}, commands)
	why, _ = blocks(ask("labels"))
	assert.Empty(t, why, "--yes answers it")
	why, _ = blocks(&view.Standing{Checkpoint: cp})
	assert.NotEmpty(t, why)
	j := &view.Standing{Checkpoint: cp, Verdict: freshness.Verdict{CanResume: true, Awaiting: []string{"ship it"}}}
	why, commands = blocks(j)
	assert.Contains(t, why, "ship it")
	assert.Equal(t, []string{"git checkpoint resume 42 CP-1 --approve 'ship it'"}, commands)
	j = &view.Standing{Checkpoint: &gitstore.Checkpoint{Issue: "42", ID: "CP-1", Branch: "fix"}, Verdict: freshness.Verdict{
		CanResume: true, Other: freshness.Branch{State: freshness.BranchOther, Name: "main", Exists: true},
		Reasons: []freshness.Reason{{Check: "branch", Action: freshness.PromptUser, Message: "HEAD is on main"}},
	}}
	assert.Equal(t, "fix", switchTo(j))
	j.Verdict.Other.Place = "/other"
	assert.Empty(t, switchTo(j))
	why, commands = blocks(j)
	assert.Equal(t, "HEAD is on main; Branch fix is checked out in /other", why)
	assert.Equal(t, []string{"cd /other"}, commands)
}

// forgeAt returns the links of a remote's forge.
func forgeAt(t *testing.T, remote string) Forge {
	t.Helper()
	r, err := forge.ParseRemote(remote)
	require.NoError(t, err)
	s, err := forge.Choose("", r, nil)
	require.NoError(t, err)
	return Forge{s, s}
}

func TestLinksToTheForge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.forge = forgeAt(t, "https://me:secret@github.com/acme/loader.git")
	saved := w.work()
	head := w.git("rev-parse", "HEAD")
	page := w.get("/i/42")
	has(t, page, `href="https://github.com/acme/loader/issues/42"`)
	has(t, page, `href="https://github.com/acme/loader/tree/main"`)
	page = w.get("/i/42/c/" + string(saved[1].ID))
	has(t, page, `href="https://github.com/acme/loader/commit/`+head+`"`)
	lacks(t, page, "secret")
	w.forge = Forge{}
	lacks(t, w.get("/i/42"), "https://")
}

// post confirms the question of a page, and returns the page after it.
func (w *world) post(t *testing.T, question string) string {
	t.Helper()
	page := w.get(question)
	form := url.Values{}
	post := regexp.MustCompile(`(?s)<form method="post".*?</form>`).FindString(page)
	require.NotEmpty(t, post, "there is no button: %s", question)
	for _, field := range regexp.MustCompile(`name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(post, -1) {
		form.Add(field[1], html.UnescapeString(field[2]))
	}
	at, _, _ := strings.Cut(question, "?")
	answer := w.ask("POST", at, form.Encode(), nil)
	require.Equal(t, http.StatusSeeOther, answer.Code, answer.Body)
	return w.get(answer.Header().Get("Location"))
}

func (w *world) text(path string) string {
	data, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil {
		return "missing"
	}
	return string(data)
}

// A row leads back to the state of its turn, also for new files, and each step can be undone and
// redone.
func TestBackToATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	saved := w.turns()
	w.write("new.txt", "newer\n")
	w.turn("42", "claude", "a newer file")
	back := "/i/42/c/" + string(saved[2].ID) + "/restore"
	has(t, w.get("/i/42"), `href="`+back+`"`)
	has(t, w.get("/i/42/turns"), "Back to here")
	lacks(t, newWorld(t, false).get("/"), "Back to here")
	page := w.post(t, back)
	assert.Equal(t, "new\n", w.text("new.txt"))
	has(t, page, `href="/i/42/undo"`)
	w.post(t, "/i/42/c/"+string(saved[0].ID)+"/restore")
	assert.Equal(t, "missing", w.text("new.txt"), "it came later")
	assert.Equal(t, "one\ntwo changed\nthree\n", w.text("a.txt"))
	page = w.post(t, "/i/42/undo")
	assert.Equal(t, "new\n", w.text("new.txt"))
	has(t, page, `href="/i/42/redo"`)
	has(t, w.get("/i/42/redo"), "Redo the last restore?")
	page = w.post(t, "/i/42/redo")
	assert.Equal(t, "missing", w.text("new.txt"))
	has(t, page, "Done again: the last restore")
	has(t, w.get("/i/42/redo"), "There is nothing to redo")
}

// A restore of single files, and of files that changed since, does what its preview shows. If a file
// changes after the preview, nothing is done.
func TestRestoreChoices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	saved := w.turns()
	w.write("a.txt", "of a person\n")
	w.write("new.txt", "of a person\n")
	page := "/i/42/c/" + string(saved[2].ID) + "/restore"
	asked := w.get(page)
	lacks(t, asked, `method="post"`)
	has(t, asked, "nothing was restored: 2 files changed since the checkpoint")
	has(t, asked, "git checkpoint restore 42 "+string(saved[2].ID)+" --changed merge")
	has(t, asked, `href="`+page+`?path=new.txt"`)
	has(t, w.get("/i/42/c/"+string(saved[2].ID)), `href="`+page+`?path=new.txt"`)

	one := page + "?changed=checkpoint&path=new.txt"
	asked = w.get(one)
	lacks(t, asked, "<code>a.txt</code> <span")
	w.write("a.txt", "of a person, again\n")
	w.post(t, one)
	assert.Equal(t, "of a person, again\n", w.text("a.txt"))
	assert.Equal(t, "new\n", w.text("new.txt"))

	stale := w.proof(page + "?changed=checkpoint")
	w.write("new.txt", "between\n")
	assert.Equal(t, http.StatusForbidden, w.ask("POST", page, stale+"&changed=checkpoint", nil).Code, "the plan has changed")
	assert.Equal(t, http.StatusForbidden, w.ask("POST", page, stale+"&changed=checkpoint&path=a.txt", nil).Code, "another choice")
	assert.Equal(t, "between\n", w.text("new.txt"))
	w.post(t, page+"?changed=checkpoint")
	assert.Equal(t, "zero\none\ntwo changed\nthree\nfour\n", w.text("a.txt"))

	for _, query := range []string{"?changed=all", "?path=../x", "?path=/etc/passwd", "?path="} {
		assert.Equal(t, http.StatusNotFound, w.ask("GET", page+query, "", nil).Code, query)
	}
	has(t, w.get(page+"?path=nope"), "the checkpoint has no change to")
	assert.Equal(t, http.StatusConflict, w.ask("POST", page, "path=nope", nil).Code)
}

// A resume of work on another branch switches to it first. If git refuses, the page has its words.
func TestSwitchAndResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.git("switch", "-q", "-c", "fix")
	w.write("a.txt", "one\nfixed\n")
	saved := w.turn("42", "claude", "fix it")
	w.git("checkout", "-q", "--", ".")
	w.git("switch", "-q", "main")
	w.other = freshness.Branch{State: freshness.BranchOther, Name: "main", Exists: true}
	page := "/i/42/c/" + string(saved.ID) + "/resume"
	asked := w.get(page)
	has(t, asked, "Switch to fix and resume?")
	has(t, asked, "restored after the switch")
	after := w.post(t, page)
	has(t, after, "Switched to branch fix. Resumed")
	assert.Equal(t, "fix", w.git("branch", "--show-current"))
	assert.Equal(t, "one\nfixed\n", w.text("a.txt"))

	w.git("checkout", "-q", "--", ".")
	w.git("switch", "-q", "main")
	w.other = freshness.Branch{State: freshness.BranchOther, Name: "main", Exists: true}
	w.git("worktree", "add", "-q", filepath.Join(t.TempDir(), "fix"), "fix")
	answer := w.ask("POST", page, w.proof(page)+"&branch=fix", nil)
	assert.Equal(t, http.StatusConflict, answer.Code, "another worktree has the branch")
	has(t, answer.Body.String(), "fix")
	assert.Equal(t, http.StatusForbidden, w.ask("POST", page, w.proof(page)+"&branch=main", nil).Code, "another branch")
	assert.Equal(t, "main", w.git("branch", "--show-current"))
}
