package web

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// turn saves the end of an agent's turn, or with agent "" what a person changed before the next
// turn. A turn of claude has tokens.
func (w *world) turn(issue, agent, request string) *gitstore.Saved {
	w.t.Helper()
	note := request
	if agent == "" {
		note = "by hand"
	}
	return w.capture(gitstore.SaveRequest{Issue: checkpoint.Issue(issue), Edit: func(r *checkpoint.Record) (*checkpoint.Record, error) {
		if r == nil {
			r = checkpoint.New()
		}
		r.SetTrigger(checkpoint.Turn)
		r.SetPhase("build")
		r.SetNote(note)
		t := r.AgentTurn()
		t.Hand, t.Agent, t.Usage = agent == "", agent, nil
		if !t.Hand {
			t.Number++
			t.Request, t.Answer = request, "Done."
		}
		if agent == "claude" {
			s := checkpoint.Spent{Model: "big", Tokens: checkpoint.Tokens{Input: 1200, Output: 300}}
			t.Usage = []checkpoint.Spent{s}
			s.Agent, s.Phase = agent, "build"
			t.Spent = checkpoint.AddSpent(t.Spent, s)
		}
		r.SetAgentTurn(t)
		return r, nil
	}})
}

// turns saves two turns of different agents, and a change of a person between them.
func (w *world) turns() (saved []*gitstore.Saved) {
	w.write("a.txt", "one\ntwo changed\nthree\n")
	saved = append(saved, w.turn("42", "claude", "change the second line"))
	w.write("a.txt", "zero\none\ntwo changed\nthree\n")
	saved = append(saved, w.turn("42", "", ""))
	w.write("a.txt", "zero\none\ntwo changed\nthree\nfour\n")
	w.write("new.txt", "new\n")
	return append(saved, w.turn("42", "codex", "add <b>four</b>\u202e"))
}

func TestBlamePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.turns()
	w.write("a.txt", "zero\none\ntwo changed\nthree\nfour\nfive\n")
	lines := func(page string) []string {
		var got []string
		block := regexp.MustCompile(`(?s)<span class="by">([^<]*)</span>.*?</li>`)
		row := regexp.MustCompile(`id="L(\d+)"`)
		for _, b := range block.FindAllStringSubmatch(page, -1) {
			for _, l := range row.FindAllStringSubmatch(b[0], -1) {
				got = append(got, l[1]+" "+b[1])
			}
		}
		return got
	}
	page := w.get("/i/42/blame?path=a.txt")
	assert.Equal(t, []string{"1 by hand, between turns 1 and 2", "2 Ann Author", "3 turn 1, claude", "4 Ann Author", "5 turn 2, codex", "6 not saved yet"}, lines(page))
	has(t, page, "change the second line")
	has(t, page, `add &lt;b&gt;four&lt;/b&gt;\u202e`)
	has(t, page, `href="/i/42/c/`+string(saved[2].ID)+`"`)

	at := w.get("/i/42/blame?path=a.txt&at=" + string(saved[0].ID))
	assert.Equal(t, []string{"1 Ann Author", "2 turn 1, claude", "3 Ann Author"}, lines(at))
	has(t, w.get("/i/42/c/"+string(saved[2].ID)), `href="/i/42/blame?at=`+string(saved[2].ID)+`&amp;path=new.txt"`)
}

// Only saved files of the worktree have a page: no path leads out of it, into git's directory, or to
// a file that nobody saved.
func TestBlameOfOtherPathsIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.turns()
	w.write("secret.txt", "hunter2\n")
	w.write(".git/info/exclude", "secret.txt\n")
	for _, path := range []string{"", ".", "..", "../x", "/etc/passwd", "a.txt/../../x", ".git/config", "sub dir", "secret.txt", "nope", "C:\\x\x00"} {
		for _, at := range []string{"", string(saved[1].ID)} {
			answer := w.ask("GET", "/i/42/blame?"+url.Values{"path": {path}, "at": {at}}.Encode(), "", nil)
			assert.Equal(t, http.StatusNotFound, answer.Code, "%q at %q", path, at)
			lacks(t, answer.Body.String(), "hunter2", path)
		}
	}
	require.Equal(t, http.StatusNotFound, w.ask("GET", "/i/42/blame?path=new.txt&at="+string(saved[0].ID), "", nil).Code, "it came later")
	require.Equal(t, http.StatusNotFound, w.ask("GET", "/i/42/blame?path=new.txt&at=nope", "", nil).Code)
}

// The page finds what list --grep, --path and --content find.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.turns()
	w.save("43", "build", checkpoint.Manual, "of another issue", func(r *checkpoint.Record) {
		r.Doc().Set("key_decisions", []any{"use <i>four</i> keys"})
	})
	found := func(page string) (ids []string) {
		for _, m := range regexp.MustCompile(`class="over name" href="/i/\d+/c/([^"]+)"`).FindAllStringSubmatch(page, -1) {
			ids = append(ids, m[1])
		}
		return ids
	}
	id := func(k int) string { return string(saved[k].ID) }
	for query, want := range map[string][]string{
		"q=SECOND+line": {id(1), id(0)}, "q=done.": {id(2), id(1), id(0)}, "q=" + id(1): {id(1)}, "path=new.txt": {id(2)}, "path=*.txt": {id(2), id(1), id(0)},
		"content=zero": {id(1)}, "content=changed&q=second": {id(0)}, "content=changed&q=four": nil, "path=new.txt&content=zero": nil, "path=../..": nil,
	} {
		page := w.get("/i/42?" + query)
		assert.Equal(t, want, found(page), query)
		all := found(w.get("/activity?" + query))
		assert.Equal(t, want, all, "all issues: "+query)
	}
	assert.Len(t, found(w.get("/activity?q=four")), 2)
	has(t, w.get("/i/42?path=../.."), `role="alert"`)
	has(t, w.get("/activity?path=../.."), `role="alert"`)
	page := w.get("/i/42?path=%22%3E%3Cb%3E&content=%22%3E%3Cb%3E")
	lacks(t, page, "<b>")
	has(t, w.get("/i/42/archive"), `name="q"`)
	lacks(t, w.get("/i/42/archive"), `name="content"`)
}

// Without a script, links lead through the turns. Each row has its turn, agent, phase and request.
func TestTurnsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	saved := w.turns()
	w.save("42", "build", checkpoint.Manual, "no turn", nil)
	id := func(k int) string { return string(saved[k].ID) }
	page := w.get("/i/42/turns")
	row := regexp.MustCompile(`(?s)<li class="row frame".*?</li>`).FindAllString(page, -1)
	require.Len(t, row, 3)
	for k, want := range [][]string{
		{`data-n="3"`, "turn 2, codex", "build", `add &lt;b&gt;four`, "data-selected"},
		{`data-n="2"`, "By hand, between turns 1 and 2"},
		{`data-n="1"`, "turn 1, claude", "change the second line", "/i/42/turns?at=" + id(0)},
	} {
		for _, text := range want {
			has(t, row[k], text)
		}
	}
	has(t, page, `rel="next" href="/i/42/turns?at=`+id(1)+`"`)
	has(t, page, "new.txt")
	has(t, page, `href="/i/42/c/`+id(2)+`/restore"`)
	oldest := w.get("/i/42/turns?at=" + id(0))
	assert.Equal(t, oldest, w.get("/i/42/turns?n=1"))
	assert.Equal(t, oldest, w.get("/i/42/turns?n=-7"))
	has(t, oldest, "1.2k in, 300 out")
	lacks(t, oldest, "new.txt")
	part := w.get("/i/42/turns?n=1&part=1")
	has(t, oldest, part)
	lacks(t, part, "<html")
	assert.Equal(t, http.StatusNotFound, w.ask("GET", "/i/42/turns?at=nope", "", nil).Code)

	w.save("44", "build", checkpoint.Manual, "by a person", nil)
	has(t, w.get("/i/44/turns"), "by a person", "without turns, all checkpoints are there")
}

// Turns without requests are told apart by their files.
func TestTurnsWithoutRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.write("b.txt", "b\n")
	w.turn("42", "claude", "")
	w.write("a.txt", "changed\n")
	w.turn("42", "claude", "")
	page := w.get("/i/42/turns")
	has(t, page, "Changed a.txt")
	has(t, page, "Changed b.txt")
}

// fork starts forks from a checkpoint.
func (w *world) fork(from *gitstore.Saved, names ...string) {
	w.t.Helper()
	repo, err := w.open(context.Background())
	require.NoError(w.t, err)
	defer repo.Close()
	c, err := repo.ByID(context.Background(), from.Issue, from.ID)
	require.NoError(w.t, err)
	_, err = repo.Fork(context.Background(), gitstore.ForkRequest{From: c, Names: names})
	require.NoError(w.t, err)
}

// A fork and its source show the same tree, with the values of compare.
func TestForksPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.turns()
	lacks(t, w.get("/i/42"), "Attempts")
	w.fork(saved[0], "a", "b")
	w.write("a.txt", "another way\n")
	deeper := w.turn("42+a", "claude", "another way")
	w.fork(deeper, "x")
	for _, issue := range []string{"42", "42+a", "42+b", "42+a+x"} {
		page := w.get(links{}.issue(checkpoint.Issue(issue)))
		tree := regexp.MustCompile(`(?s)<ul class="tree".*?</section>`).FindString(page)
		require.NotEmpty(t, tree, issue)
		assert.Equal(t, 1, strings.Count(tree, "this issue"), issue)
		for _, want := range []string{">#42<", ">42+a<", ">42+b<", ">42+a+x<", "turn 1, claude</a>", "1 turn, ", "1.2k in, 300 out", "another way", "2 files</span>"} {
			has(t, html.UnescapeString(tree), want, issue)
		}
	}
	has(t, w.get("/i/42%2Ba"), "Tokens by agent and phase")
	has(t, w.get("/i/42%2Ba"), "claude big")
}
