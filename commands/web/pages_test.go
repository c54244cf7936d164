package web

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// work creates a small issue: three checkpoints in two phases.
func (w *world) work() (saved []*gitstore.Saved) {
	title := func(r *checkpoint.Record) {
		s := r.IssueSnapshot()
		s.Title, s.Labels, s.Known = "Sign out everywhere", []string{"state:ready"}, true
		r.SetIssueSnapshot(s)
		r.SetProgress(checkpoint.Progress{Current: "build", Completed: []string{"plan"}, Total: 2, Names: []string{"plan", "build"}})
	}
	saved = append(saved, w.save("42", "plan", checkpoint.Manual, "the plan", title))
	w.write("a.txt", "one\n2\nthree\n")
	w.write("sub dir/new.txt", "new\n")
	w.git("add", "-A")
	saved = append(saved, w.save("42", "build", checkpoint.BatchComplete, "first batch", func(r *checkpoint.Record) {
		r.Doc().Set("summary", "line one\nline two\n")
	}))
	w.write("a.txt", "one\n2\n3\n")
	w.git("add", "-A")
	return append(saved, w.save("42", "build", checkpoint.AgentComplete, "second batch", func(r *checkpoint.Record) {
		r.Doc().Set("summary", "line one\nline 2\n")
		r.SetCanResume(false)
	}))
}

// has and lacks report failures without printing whole pages.
func has(t *testing.T, page, want string, more ...any) {
	t.Helper()
	assert.True(t, strings.Contains(page, want), append([]any{"there is no %q: %v", want}, fmt.Sprint(more...))...)
}

func lacks(t *testing.T, page, want string, more ...any) {
	t.Helper()
	assert.False(t, strings.Contains(page, want), append([]any{"there is %q: %v", want}, fmt.Sprint(more...))...)
}

func TestIssuesPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	page := w.get("/")
	has(t, page, "No checkpoints yet")
	w.work()
	w.save("9", "docs", checkpoint.Manual, "gone soon", nil)
	repo, err := w.open(t.Context())
	require.NoError(t, err)
	defer repo.Close()
	_, err = repo.Archive(t.Context(), "9", nil, retention.ReasonAsked)
	require.NoError(t, err)
	w.git("update-ref", "refs/checkpoints/x%zz", "HEAD")
	page = w.get("/")
	for _, want := range []string{
		`href="/i/42"`, "Sign out everywhere", "second batch", "Cannot be resumed", "1 of 2 phases", ">main<", "you are here", `<span class="count">3<`,
		"Archived", `href="/i/9/archive"`, "refs/checkpoints/x%zz", "project &lt;b&gt;", ">git-checkpoint<",
	} {
		has(t, page, want)
	}
	lacks(t, page, `href="/i/9"`)
}

func TestIssuePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.work()
	page := w.get("/i/42")
	for _, want := range []string{
		"<h1 id=\"issue-h\" dir=\"auto\">Sign out everywhere</h1>", "Cannot be resumed", "git checkpoint resume 42",
		"nobody asked", "3 checkpoints", "2 files", "+2", "−1", `aria-current="step"`, "first batch", string(saved[2].ID)[len(saved[2].ID)-8:],
	} {
		has(t, page, want)
	}
	assert.Less(t, strings.Index(page, "second batch"), strings.Index(page, "first batch"), "newest first")
	assert.Regexp(t, `(?s)<h3>build.*first batch.*<h3>plan`, page)
	assert.Equal(t, 1, strings.Count(page, ">newest<"))

	page = w.get("/i/42?trigger=batch_complete&q=FIRST")
	has(t, page, "first batch")
	lacks(t, page, "second batch")
	lacks(t, page, "Cannot be resumed", "nothing is judged where something is looked for")
	has(t, w.get("/i/42?only=pinned"), "No checkpoint matches.")
	has(t, w.get("/i/42/archive"), "No checkpoint matches.")
	for _, path := range []string{"/i/43", "/i/43/archive", "/i/a%2fb", "/nowhere", "/i/42/c/nothing", "/i/42/c/nothing/raw", "/i/", "/i/42/x"} {
		assert.Equal(t, http.StatusNotFound, w.ask("GET", path, "", nil).Code, path)
	}
}

// TestCheckpointPageShowsTexts checks the texts that a save stores for the next session.
func TestCheckpointPageShowsTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.save("42", "docs", checkpoint.Manual, "a note\nits second line", func(r *checkpoint.Record) {
		r.Doc().Set("context_summary", "the parser works")
		r.Doc().Set("key_decisions", []any{"use <yaml>", "no new module"})
	})
	page := w.get("/i/42/c/latest")
	main, _, found := strings.Cut(page, "<details")
	require.True(t, found, "the record is folded")
	for _, want := range []string{"its second line", "the parser works", "<h2>Decisions</h2>", `<li dir="auto">use &lt;yaml&gt;</li>`, `<li dir="auto">no new module</li>`} {
		has(t, main, want, "texts")
	}
}

func TestDiffPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.work()
	last := "/i/42/c/" + string(saved[2].ID) + "/diff"
	page := w.get(last)
	for _, want := range []string{
		"recovery_info", "-line two", "&#43;line 2", `<tr class="del"><td class="no">3</td><td class="no"></td>`, "hree</", "+1", "−1",
	} {
		has(t, page, want)
	}
	lacks(t, page, "new.txt</code>", "it did not change")
	lacks(t, page, ">clock<", "it always changes")

	page = w.get(last + "?against=" + string(saved[0].ID))
	has(t, page, "sub dir/new.txt")
	has(t, page, `<td class="src">new</td>`)
	page = w.get(last + "?against=head")
	has(t, page, "HEAD at the save")
	lacks(t, page, "recovery_info", "HEAD has no record")
	page = w.get("/i/42/c/" + string(saved[0].ID) + "/diff")
	has(t, page, "no file changed", "the first one is compared with HEAD")
	page = w.get(last + "?" + url.Values{"against": {"head"}, "path": {"sub dir/new.txt"}}.Encode())
	has(t, page, "1 file changed<")
	assert.Equal(t, http.StatusNotFound, w.ask("GET", last+"?against=nothing", "", nil).Code)
}

// known lists the elements in templates.
var known = strings.Fields("html head meta title link style script body a header nav ol li div button main section h1 h2 h3 p span ul dl dt dd " +
	"table caption thead tbody tr th td code pre time details summary form label input select option article footer dialog kbd b i strong")

// assertHarmless checks that a page has only elements, attributes and URLs from
// templates, not from records.
func assertHarmless(t *testing.T, path, page string) {
	t.Helper()
	m := regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069\u0080-\u009f]").FindString(page)
	assert.Empty(t, m, path)
	page = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`).ReplaceAllString(page, "")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	elements := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err, path)
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		elements++
		assert.Contains(t, known, e.Name.Local, path)
		for _, a := range e.Attr {
			name := a.Name.Local
			assert.False(t, strings.HasPrefix(name, "on") || name == "style" || name == "srcdoc", "%s: <%s %s>", path, e.Name.Local, name)
			if name == "href" || name == "action" || name == "src" {
				assert.Regexp(t, `^([/#?]([^/]|$)|(index|issue-[A-Za-z0-9_-]+)\.html(#|$)|data:image/svg\+xml,|https://github\.com/)`, a.Value, path)
			}
		}
	}
	assert.Greater(t, elements, 20, path)
}

// groups returns all matches of a pattern's first group.
func groups(page, pattern string) (found []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

// hostilePath is the name of a file of hostileWork.
const hostilePath = `<img src=x onerror=alert(1)>` + "\u202e.txt"

// hostileWork creates an issue with hostile text in each field.
func (w *world) hostileWork() (issue string, saved []*gitstore.Saved) {
	issue = `a<b>/"x"&../y`
	edit := func(note string) func(*checkpoint.Record) {
		return func(r *checkpoint.Record) {
			r.SetIssueSnapshot(checkpoint.IssueSnapshot{Title: note, Body: note + "\n" + note, Labels: []string{note}, State: note, Known: true})
			r.SetProgress(checkpoint.Progress{Current: note, Completed: []string{"<i>"}, Total: 3, Names: []string{"<i>", note}})
			r.SetWarnings([]string{note})
			m := checkpoint.NewMap()
			m.Set(note, note+"\n"+note)
			m.Set("list", []any{note, m.Clone()})
			table := checkpoint.NewMap()
			table.Set(note, note)
			m.Set("table", []any{table})
			r.Doc().Set("x_"+note, m)
			r.SetSnapshot(checkpoint.Snapshot{Skipped: []checkpoint.Skipped{{Path: note, Size: 5, Reason: note}}})
		}
	}
	path := hostilePath
	w.write(path, hostile+"\n")
	w.git("add", "-A")
	saved = append(saved, w.save(issue, "<i>"+hostile, "unknown_trigger", hostile, edit(hostile)))
	w.write(path, hostile+"!\n"+hostile)
	w.git("add", "-A")
	return issue, append(saved, w.save(issue, "<i>"+hostile, checkpoint.Manual, hostile, edit(hostile+"!")))
}

func TestHostile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.forge = forgeAt(t, "git@github.com:acme/loader.git")
	issue, saved := w.hostileWork()
	base := links{}.issue(checkpoint.Issue(issue))
	cp := base + "/c/" + url.PathEscape(string(saved[1].ID))
	paths := []string{
		"/", base, base + "?" + url.Values{"q": {"<script>"}, "phase": {hostile}, "trigger": {hostile}, "only": {hostile}}.Encode(),
		base + "?q=script", base + "?compare=" + url.QueryEscape(hostile), base + "?compare=" + string(saved[0].ID), base + "?notice=" + url.QueryEscape(hostile), base + "/undo",
		"/activity", cp, cp + "?since=head", cp + "/diff", cp + "/diff?against=head", cp + "/pin", cp + "/drop", cp + "/archive", cp + "/restore", cp + "/resume",
	}
	evil := url.QueryEscape(hostilePath)
	w.fork(saved[1], "a")
	hand := w.turn(issue, "<i>", hostile)
	at := "&at=" + url.QueryEscape(string(hand.ID))
	paths = append(paths, base+"/turns", base+"/turns?n=1&part=1", base+"/blame?path="+evil, base+"/blame?path="+evil+at, base+"/redo",
		cp+"/restore?changed=merge&path="+evil, base+"?path="+evil+"&content="+url.QueryEscape(hostile), "/activity?path="+evil+"&content="+url.QueryEscape(hostile))
	for _, path := range paths {
		page := w.get(path)
		if !strings.Contains(path, "part=1") {
			assertHarmless(t, path, page)
		}
		assert.NotRegexp(t, "[\x1b\u202e]", page, path)
	}
	for _, path := range []string{"/i/" + url.PathEscape(hostile), base + "/c/" + url.PathEscape("<script>"), cp + "/diff?against=" + url.QueryEscape(hostile)} {
		answer := w.ask("GET", path, "", nil)
		assert.Equal(t, http.StatusNotFound, answer.Code)
		assertHarmless(t, path, answer.Body.String())
	}
	page := w.get(cp)
	has(t, page, `&lt;script&gt;alert(1)&lt;/script&gt;`)
	has(t, page, `\u202egnp.exe\u202c \x1b[31mred`)
	page = w.get(cp + "/diff")
	has(t, page, `\x1b[31mred\x1b[0m`)
	assert.NotRegexp(t, "[\x1b\u202e]", w.ask("GET", cp+"/raw", "", nil).Body.String())
}

var proofPattern = regexp.MustCompile(`name="proof" value="([0-9a-f]+)"`)

// proof returns the proof in a confirmation form.
func (w *world) proof(path string) string {
	w.t.Helper()
	m := proofPattern.FindStringSubmatch(w.get(path))
	require.NotNil(w.t, m, path)
	return "proof=" + m[1]
}

func (w *world) pinned() string {
	repo, err := w.open(w.t.Context())
	require.NoError(w.t, err)
	defer repo.Close()
	var text string
	for _, archived := range []bool{false, true} {
		l, err := (&visit{ctx: w.t.Context(), repo: repo}).chain("42", archived, 0)
		require.NoError(w.t, err)
		for _, c := range l.Checkpoints {
			text += fmt.Sprintf("%s pinned=%t archived=%t\n", c.Note, c.Pinned, c.Archived)
		}
	}
	return text
}

// Each action requires confirmation by its own form.
func TestWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	saved := w.work()
	cp := func(i int) string { return "/i/42/c/" + string(saved[i].ID) }
	before := w.pinned()
	page := w.get(cp(1))
	for _, act := range []string{"pin", "archive", "drop"} {
		has(t, page, `href="`+cp(1)+`/`+act+`"`)
	}
	lacks(t, page, "/unpin")

	// A form without proof, or with the proof for another action or checkpoint, is
	// refused.
	other := w.proof(cp(0) + "/drop")
	for _, form := range []string{"", "proof=", "proof=00", other, w.proof(cp(1) + "/pin")} {
		assert.Equal(t, http.StatusForbidden, w.ask("POST", cp(1)+"/drop", form, nil).Code, form)
	}
	mine := w.proof(cp(1) + "/drop")
	forged := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set(name, value) }
	}
	assert.Equal(t, http.StatusForbidden, w.ask("POST", cp(1)+"/drop", mine, forged("Origin", "http://evil.example")).Code)
	assert.Equal(t, http.StatusForbidden, w.ask("POST", cp(1)+"/drop", mine, forged("Sec-Fetch-Site", "same-site")).Code)
	assert.Equal(t, http.StatusUnauthorized, w.ask("POST", cp(1)+"/drop", mine, forged("Cookie", "c=x")).Code)
	assert.Equal(t, http.StatusForbidden, w.ask("POST", cp(1)+"/drop?"+mine, "x=y", nil).Code, "in the address")
	assert.Equal(t, http.StatusForbidden, w.ask("POST", cp(1)+"/drop", mine+"&x="+strings.Repeat("x", maxForm), nil).Code, "too long")
	assert.Equal(t, before, w.pinned())

	do := func(path, act, leads string) {
		t.Helper()
		answer := w.ask("POST", path+"/"+act, w.proof(path+"/"+act), nil)
		require.Equal(t, http.StatusSeeOther, answer.Code, answer.Body)
		to, _, _ := strings.Cut(answer.Header().Get("Location"), "?notice=")
		assert.Equal(t, leads, to)
		has(t, w.get(answer.Header().Get("Location")), `class="notice" role="status"`)
	}
	do(cp(1), "pin", cp(1))
	has(t, w.get(cp(1)), ">pinned<")
	has(t, w.pinned(), "first batch pinned=true")
	do(cp(1), "unpin", cp(1))
	do(cp(0), "archive", "/i/42")
	has(t, w.get("/i/42/archive"), "the plan")
	has(t, w.get(cp(0)), ">archived<")
	do(cp(2), "drop", "/i/42")
	assert.Equal(t, "first batch pinned=false archived=false\nthe plan pinned=false archived=true\n", w.pinned())
	assert.Equal(t, http.StatusNotFound, w.ask("GET", cp(0)+"/pin", "", nil).Code, "it is archived")
	assert.Equal(t, http.StatusNotFound, w.ask("POST", cp(2)+"/drop", mine, nil).Code, "it is gone")
	do(cp(0), "drop", "/i/42")
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.work()
	before := w.git("for-each-ref")
	cp := "/i/42/c/" + string(saved[1].ID)
	for _, act := range actionNames {
		assert.Equal(t, http.StatusForbidden, w.ask("GET", cp+"/"+act, "", nil).Code)
		for _, form := range []string{"", "proof=" + w.site.proof(act, "42", string(saved[1].ID))} {
			answer := w.ask("POST", cp+"/"+act, form, nil)
			assert.Equal(t, http.StatusForbidden, answer.Code)
			has(t, answer.Body.String(), "without --write")
		}
	}
	assert.Equal(t, http.StatusForbidden, w.ask("GET", "/i/42/undo", "", nil).Code)
	assert.Equal(t, http.StatusForbidden, w.ask("POST", "/i/42/undo", "", nil).Code)
	for _, path := range []string{"/", "/i/42", cp, cp + "/diff", cp + "/nothing", "/activity", "/live?since=0"} {
		code := w.ask("POST", path, "x=y", nil).Code
		assert.True(t, code == http.StatusNotFound || code == http.StatusMethodNotAllowed, "%s: %d", path, code)
	}
	assert.Equal(t, before, w.git("for-each-ref"))
}

// TestCheckpointPageShowsScope checks the scope of a save, and the files that it left out.
func TestCheckpointPageShowsScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.write("new.txt", "new\n")
	w.write("big.bin", strings.Repeat("0", 5000))
	w.write("inner/.git/HEAD", "ref: refs/heads/main\n")
	w.write("inner/.git/refs/x", "")
	w.write("inner/.git/objects/x", "")
	w.write("inner/f", "f\n")
	edit := func(*checkpoint.Record) (*checkpoint.Record, error) { return checkpoint.New(), nil }
	w.capture(gitstore.SaveRequest{Issue: "42", Edit: edit, MaxFile: 4096})
	page := w.get("/i/42/c/latest")
	for _, want := range []string{
		"<div><dt>Contains</dt><dd dir=\"auto\">staged, modified, untracked files; some were left out</dd></div>",
		`<li><code>big.bin</code> <span class="st-text conflicted">larger than 4096 bytes, 4.9 KiB</span></li>`,
		`<li><code>inner/</code> <span class="st-text conflicted">a repository of its own</span></li>`,
	} {
		has(t, page, want)
	}
	w.capture(gitstore.SaveRequest{Issue: "42", Edit: edit, Staged: true})
	page = w.get("/i/42/c/latest")
	has(t, page, `staged files; other files as they were saved before`)
	lacks(t, page, "Not in this checkpoint")
}
