package web

import (
	"net/http"
	"os"
	"path/filepath"
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
			has(t, asked, "restored</span>")
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
	assert.Equal(t, []string{"git log", "git status"}, commands)
	why, _ = blocks(ask("labels"))
	assert.Empty(t, why, "--yes answers it")
	why, _ = blocks(&view.Standing{Checkpoint: cp})
	assert.NotEmpty(t, why)
	j := &view.Standing{Checkpoint: cp, Verdict: freshness.Verdict{CanResume: true, Awaiting: []string{"ship it"}}}
	why, commands = blocks(j)
	assert.Contains(t, why, "ship it")
	assert.Equal(t, []string{"git checkpoint resume 42 CP-1 --approve 'ship it'"}, commands)
	j = &view.Standing{Checkpoint: cp, Verdict: freshness.Verdict{CanResume: true, Other: freshness.Branch{State: freshness.BranchOther, Name: "main"}}}
	why, _ = blocks(j)
	assert.Contains(t, why, "main")
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
