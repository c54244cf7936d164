package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// screens is the directory for screenshots. It is read before newWorld unsets GIT_
// variables.
var screens = os.Getenv("GIT_CHECKPOINT_TEST_SCREENS")

// audit is a script that lists accessibility and layout errors in a rendered page.
//
//go:embed testdata/audit.js
var audit string

// A tour is a browser with a served page.
type tour struct {
	*chromium
	w     *world
	axe   string // source of axe-core, or ""
	base  string // without a trailing slash
	token string
}

// startTour serves a repository and starts a browser.
func startTour(t *testing.T) *tour {
	c := startChromium(t)
	w := newWorld(t, true)
	s, err := Listen("127.0.0.1:0", w.o)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	return &tour{chromium: c, w: w, base: "http://" + s.listener.Addr().String(), token: s.token}
}

func (b *tour) enter(s string) { b.visit(b.base + s) }

// at returns the browser's current path and query.
func (b *tour) at() string {
	b.t.Helper()
	var path string
	b.eval("location.pathname + location.search", &path)
	return path
}

func (b *tour) text() string {
	b.t.Helper()
	var text string
	b.eval("document.body.innerText", &text)
	return text
}

// look audits the page in light, dark and phone form, and stores screenshots if
// requested.
func (b *tour) look(name string) {
	b.t.Helper()
	for _, form := range []struct {
		name  string
		width int
		dark  bool
	}{{"light", 1280, false}, {"dark", 1280, true}, {"phone", 390, false}} {
		b.size(form.width, 900, form.width < 500)
		b.dark(form.dark)
		var wrong []string
		b.eval(audit, &wrong)
		assert.Empty(b.t, wrong, "%s, %s", name, form.name)
		if b.axe != "" && form.name != "phone" && !b.silent { // axe-core needs timers
			b.eval(b.axe, nil)
			b.eval("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).slice(0, 3).join(' ')))", &wrong)
			assert.Empty(b.t, wrong, "axe-core: %s, %s", name, form.name)
		}
		if screens != "" {
			b.shoot(filepath.Join(screens, name+"-"+form.name+".png"), form.width)
		}
	}
	b.size(1280, 900, false)
	b.dark(false)
}

// stayed checks that the browser sent no requests to other servers and ran no unwanted
// scripts.
func (b *tour) stayed(allowed ...string) {
	b.t.Helper()
	requests := 0
	for _, m := range b.since(0) {
		var p struct {
			Request struct{ URL string }
			Entry   struct{ Level, Text, URL string }
		}
		require.NoError(b.t, json.Unmarshal(m.Params, &p))
		switch m.Method {
		case "Network.requestWillBeSent":
			requests++
			ok := strings.HasPrefix(p.Request.URL, b.base+"/") || strings.HasPrefix(p.Request.URL, "data:")
			for _, a := range allowed {
				ok = ok || strings.HasPrefix(p.Request.URL, a)
			}
			assert.True(b.t, ok, p.Request.URL)
		case "Page.javascriptDialogOpening":
			assert.Fail(b.t, "a script ran", string(m.Params))
		case "Log.entryAdded", "Runtime.exceptionThrown":
			if len(allowed) == 0 && !strings.HasSuffix(p.Entry.URL, "/i/nothing") { // the page that does not exist
				assert.NotEqual(b.t, "error", p.Entry.Level, "%s %s", p.Entry.Text, p.Entry.URL)
				assert.NotEqual(b.t, "Runtime.exceptionThrown", m.Method, string(m.Params))
			}
		}
	}
	assert.Positive(b.t, requests)
}

// TestBrowser visits each view in a real browser.
func TestBrowser(t *testing.T) {
	t.Parallel()
	gittest.SkipShort(t)
	b := startTour(t)
	b.axe = axeCore(t)
	saved := b.w.work()
	issue, hostileSaved := b.w.hostileWork()
	b.w.save("9", "docs", checkpoint.Manual, "to be archived", nil)
	b.letIn()
	assert.Equal(t, "/", b.at(), "the token is not seen")
	b.look("issues")

	b.enter("/activity")
	b.look("activity")
	b.enter("/i/nothing")
	assert.Contains(t, b.text(), "Page not found")
	b.look("error")
	b.enter("/")
	t.Run("keys", func(t *testing.T) {
		b.enter("/")
		b.press("j", "j", "k")
		var key string
		b.eval("document.activeElement.querySelector('.key').textContent", &key)
		mark := b.mark()
		b.press("j", "j", "Enter")
		b.waitFor("Page.loadEventFired", mark)
		assert.Equal(t, "/i/42", b.at())
		b.press("/")
		b.press("b", "a", "t", "c", "h")
		b.wait("document.querySelector('[data-found]').textContent.startsWith('2 of 3')")
		mark = b.mark()
		b.press("Enter")
		b.waitFor("Page.loadEventFired", mark)
		assert.Equal(t, "/i/42?q=batch&path=&content=&phase=&trigger=&only=", b.at())
		b.press("?")
		b.wait("document.getElementById('keys').open")
		b.eval("document.getElementById('keys').close()", nil)
		b.eval("document.querySelector('[data-keys-on]').click()", nil)
		b.press("?")
		var open bool
		b.eval("document.getElementById('keys').open", &open)
		assert.False(t, open, "who speaks to the browser, or types by other means, can switch keys off")
		b.eval("document.querySelector('[data-keys-on]').click()", nil)
		for _, theme := range []string{"light", "dark", ""} {
			b.eval("document.querySelector('[data-theme-switch]').click()", nil)
			b.wait("(document.documentElement.dataset.theme || '') === '" + theme + "'")
		}
	})
	t.Run("views", func(t *testing.T) {
		b.enter("/i/42")
		b.look("issue")
		b.click(`a.over[href="/i/42/c/` + string(saved[1].ID) + `"]`)
		b.look("checkpoint")
		mark := b.mark()
		b.press("c")
		b.waitFor("Page.loadEventFired", mark)
		assert.Equal(t, "/i/42?compare="+string(saved[1].ID), b.at())
		b.look("compare")
		b.click("a.compare:not(.back)") // the second click of a comparison
		assert.Equal(t, "/i/42/c/"+string(saved[2].ID)+"/diff?against="+string(saved[1].ID), b.at())
		b.look("diff")
		for name, page := range map[string]string{"restore": "/c/" + string(saved[1].ID) + "/restore", "resume": "/c/" + string(saved[1].ID) + "/resume", "undo": "/undo"} {
			b.enter("/i/42" + page)
			b.look("question-" + name)
		}
		b.enter("/i/42/c/" + string(saved[1].ID) + "/diff")
		b.eval(`document.querySelector("select[name=against]").value = "head"`, nil)
		b.click(".filter .button")
		assert.Contains(t, b.text(), "HEAD at the save")
		mark = b.mark()
		b.press("u")
		b.waitFor("Page.loadEventFired", mark)
		assert.Equal(t, "/i/42/c/"+string(saved[1].ID), b.at())
		b.click(`a[rel="next"]`)
		assert.Equal(t, "/i/42/c/"+string(saved[0].ID), b.at())
		b.click(`a[href$="/raw"]`)
		assert.Contains(t, b.text(), "checkpoint_id: "+string(saved[0].ID))
	})
	// All changing actions work without JavaScript.
	t.Run("without scripts", func(t *testing.T) {
		b.script(false)
		defer b.script(true)
		b.enter("/i/9")
		b.click("a.over")
		b.click(`a[href$="/pin"]`)
		b.look("question")
		b.click("form button.solid")
		assert.Contains(t, b.text(), "pinned")
		b.click(`a[href$="/archive"].button`)
		b.click("form button.solid")
		b.enter("/i/9/archive")
		assert.Contains(t, b.text(), "to be archived")
		b.look("archive")
		b.enter("/i/9/undo")
		b.look("ask-undo")
		b.click("form button")
		assert.Contains(t, b.text(), "Undone: the last archive")
		b.enter("/i/42?trigger=batch_complete")
		assert.Contains(t, b.text(), "first batch")
	})
	// The keys and the slider show another turn beside the list, without a new page.
	t.Run("turns", func(t *testing.T) {
		b.enter("/i/42/turns")
		b.look("turns")
		mark := b.mark()
		b.press("j")
		b.wait("document.querySelector('#pane-h').textContent.includes('first batch')")
		b.eval("const s = document.querySelector('#scrub'); s.value = 1; s.dispatchEvent(new Event('input'))", nil)
		b.wait("document.querySelector('#pane-h').textContent.includes('the plan')")
		b.wait("location.search === '?at=" + string(saved[0].ID) + "'")
		for _, m := range b.since(mark) {
			assert.NotEqual(t, "Page.loadEventFired", m.Method)
		}
	})
	// An open page shows new checkpoints without a reload.
	t.Run("live", func(t *testing.T) {
		b.enter("/i/42")
		b.w.save("42", "build", checkpoint.Manual, "third batch", nil)
		b.wait("!document.querySelector('[data-news]').hidden")
		b.wait("document.querySelector('[data-news]').textContent === '1 new checkpoint'")
		assert.NotContains(t, b.text(), "third batch\n")
		b.click("[data-news]")
		assert.Contains(t, b.text(), "third batch\n")
	})
	t.Run("hostile", func(t *testing.T) {
		base := links{}.issue(checkpoint.Issue(issue))
		cp := base + "/c/" + url.PathEscape(string(hostileSaved[1].ID))
		for name, path := range map[string]string{"issue": base, "checkpoint": cp, "diff": cp + "/diff", "drop": cp + "/drop", "raw": cp + "/raw"} {
			b.enter(path)
			assert.Contains(t, b.text(), "<script>alert(1)</script>", path)
			assert.Contains(t, strings.ToLower(b.text()), `\u202egnp.exe`, path)
			if name != "raw" {
				b.look("hostile-" + name)
			}
		}
	})
	t.Run("file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "page.html")
		b.w.export(file)
		mark := b.mark()
		b.visit("file://" + file + "#c-" + saved[1].Commit.String())
		b.wait("document.getElementById('c-" + saved[1].Commit.String() + "').open")
		b.look("file")
		for _, m := range b.since(mark) {
			if m.Method == "Network.requestWillBeSent" {
				assert.Contains(t, string(m.Params), `"documentURL":"file://`)
			}
		}
		b.mu.Lock()
		b.events = b.events[:mark] // keeps only events of server pages
		b.mu.Unlock()
	})
	b.stayed()
}

// The file of --open leads into the page, although the browser sends no strict cookie with a
// navigation from a file.
func TestBrowserOpensTheFile(t *testing.T) {
	t.Parallel()
	gittest.SkipShort(t)
	b := startTour(t)
	b.w.work()
	file := filepath.Join(t.TempDir(), "open.html")
	require.NoError(t, os.WriteFile(file, []byte(redirectTo(b.base+"/i/42?"+tokenParam+"="+b.token)), 0o600))
	b.visit("file://" + file)
	b.wait("location.pathname === '/i/42' && document.body && document.body.innerText.includes('first batch')")
	assert.Equal(t, "/i/42", b.at(), "the token is not seen")
}

// axeCore returns the source of axe-core from the npm registry, or "" if npm or the registry
// is missing.
func axeCore(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Log("axe-core does not run: there is no npm")
		return ""
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "axe-core@4")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("axe-core does not run: npm: %v: %.300s", err, out)
		return ""
	}
	source, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	require.NoError(t, err)
	return string(source)
}

// letIn opens the printed URL.
func (b *tour) letIn() {
	b.t.Helper()
	b.visit(b.base + "/?" + tokenParam + "=" + b.token)
}

// Requests from another page in the same browser fail.
func TestBrowserBlocksOtherPages(t *testing.T) {
	t.Parallel()
	gittest.SkipShort(t)
	b := startTour(t)
	saved := b.w.work()
	b.letIn()
	drop := b.base + "/i/42/c/" + string(saved[0].ID) + "/drop"
	before := b.w.git("for-each-ref", "refs/checkpoints")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" action="%s"><input name="proof" value="%s"></form><iframe src="%s"></iframe><img src="%s/i/42">`,
			drop, r.URL.Query().Get("proof"), b.base+"/i/42", b.base)
	}))
	defer evil.Close()
	b.visit(drop)
	var proof string
	b.eval(`document.querySelector("[name=proof]").value`, &proof)
	port := evil.URL[strings.LastIndexByte(evil.URL, ':'):]
	for _, host := range []string{"127.0.0.1", "localhost", "evil.example"} { // other port, other site
		b.visit("http://" + host + port + "/?proof=" + proof)
		var got string
		b.eval("fetch("+quoted(b.base+"/i/42")+", {credentials: 'include'}).then(r => r.text(), e => 'refused')", &got)
		assert.Equal(t, "refused", got, host)
		b.eval("fetch("+quoted(b.base+"/i/42")+", {credentials: 'include', mode: 'no-cors'}).then(r => r.text(), e => 'refused')", &got)
		assert.NotContains(t, got, "first batch", host)
		var framed bool
		b.eval("(() => { try { return frames[0].document.body.innerText.includes('first batch') } catch (e) { return false } })()", &framed)
		assert.False(t, framed, host)
		mark := b.mark()
		b.eval("document.forms[0].submit()", nil)
		b.waitFor("Page.loadEventFired", mark)
		assert.NotContains(t, b.text(), "first batch", host)
		assert.Equal(t, before, b.w.git("for-each-ref", "refs/checkpoints"), host)
	}
	// DNS rebinding: another name for this server.
	_, at, _ := strings.Cut(strings.TrimPrefix(b.base, "http://"), ":")
	b.visit("http://rebound.example:" + at + "/i/42?" + tokenParam + "=" + b.token)
	assert.Equal(t, "git-checkpoint: this server has another host name", strings.TrimSpace(b.text()))
	b.stayed(evil.URL, "http://localhost"+port, "http://evil.example"+port, "http://rebound.example")
}
