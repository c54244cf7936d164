package web

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A chromium is a browser controlled through a pipe with NUL-terminated DevTools protocol
// messages.
type chromium struct {
	t       *testing.T
	in      io.Writer
	session string // id of the single tab's session
	silent  bool   // scripts are disabled

	mu      sync.Mutex
	last    int
	answers map[int]chan message
	events  []message
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// startChromium starts a browser with an empty profile, or skips the test if no browser
// is installed.
func startChromium(t *testing.T) *chromium {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no chromium here")
		}
		t.Skip("there is no chromium here")
	}
	toBrowser, in, err := os.Pipe()
	require.NoError(t, err)
	out, fromBrowser, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio",
		"--host-resolver-rules=MAP *.example 127.0.0.1", "--user-data-dir="+home, "--remote-debugging-pipe", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	require.NoError(t, cmd.Start())
	toBrowser.Close()
	fromBrowser.Close()
	c := &chromium{t: t, in: in, answers: map[int]chan message{}}
	t.Cleanup(func() {
		in.Close() // a closed pipe ends the browser
		time.AfterFunc(5*time.Second, cancel)
		_ = cmd.Wait()
		cancel()
		out.Close()
	})
	go c.listen(out)
	c.open()
	return c
}

// listen dispatches the browser's messages.
func (c *chromium) listen(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		data, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data[:len(data)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		if m.ID == 0 {
			c.events = append(c.events, m)
		} else if answer := c.answers[m.ID]; answer != nil {
			answer <- m
		}
		c.mu.Unlock()
	}
}

// do sends a command and returns its result.
func (c *chromium) do(method string, params any) json.RawMessage {
	c.t.Helper()
	result, err := c.try(method, params)
	require.NoError(c.t, err, method)
	return result
}

func (c *chromium) try(method string, params any) (json.RawMessage, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.last++
	m := message{ID: c.last, Method: method, Params: data, SessionID: c.session}
	answer := make(chan message, 1)
	c.answers[m.ID] = answer
	c.mu.Unlock()
	if data, err = json.Marshal(m); err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(data, 0)); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, errors.New(m.Error.Message)
		}
		return m.Result, nil
	case <-time.After(patience):
		return nil, errors.New("no answer")
	}
}

// open attaches to a new tab and enables page, network, runtime and log events.
func (c *chromium) open() {
	var target struct{ TargetID string }
	require.NoError(c.t, json.Unmarshal(c.do("Target.createTarget", map[string]any{"url": "about:blank"}), &target))
	var attached struct{ SessionID string }
	require.NoError(c.t, json.Unmarshal(c.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}), &attached))
	c.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime", "Log"} {
		c.do(domain+".enable", map[string]any{})
	}
	c.size(1280, 900, false)
}

// size sets the window size in CSS pixels.
func (c *chromium) size(width, height int, phone bool) {
	c.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})
}

// dark sets the preferred colour scheme.
func (c *chromium) dark(on bool) {
	value := map[bool]string{true: "dark", false: "light"}[on]
	c.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": value}}})
}

// script enables or disables JavaScript.
func (c *chromium) script(on bool) {
	c.silent = !on
	c.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": !on})
}

// visit opens a URL and waits for its load event.
func (c *chromium) visit(url string) {
	c.t.Helper()
	mark := c.mark()
	c.do("Page.navigate", map[string]any{"url": url})
	c.waitFor("Page.loadEventFired", mark)
}

func (c *chromium) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.events)
}

// patience ends a wait for an event that does not happen.
const patience = 2 * time.Minute

// waitFor waits for an event after mark.
func (c *chromium) waitFor(method string, mark int) {
	c.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		for _, m := range c.since(mark) {
			if m.Method == method {
				return
			}
		}
	}
	c.t.Fatalf("the browser did not say %s", method)
}

func (c *chromium) since(mark int) []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]message(nil), c.events[mark:]...)
}

// eval evaluates JavaScript in the page, even if the page's own scripts are disabled.
func (c *chromium) eval(expression string, result any) {
	c.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	raw := c.do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	require.NoError(c.t, json.Unmarshal(raw, &got))
	require.Nil(c.t, got.ExceptionDetails, "%s: %s", expression, raw)
	if result != nil {
		require.NoError(c.t, json.Unmarshal(got.Result.Value, result), expression)
	}
}

// click clicks an element and waits for the next page.
func (c *chromium) click(selector string) {
	c.t.Helper()
	mark := c.mark()
	c.eval("document.querySelector("+quoted(selector)+").click()", nil)
	c.waitFor("Page.loadEventFired", mark)
}

// press sends key presses in sequence.
func (c *chromium) press(keys ...string) {
	c.t.Helper()
	for _, key := range keys {
		text := key
		if key == "Enter" {
			text = "\r"
		}
		code := 0
		if key == "Enter" {
			code = 13
		}
		c.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code})
		c.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code})
	}
}

// shoot writes a screenshot of the whole page, up to a maximum height.
func (c *chromium) shoot(file string, width int) {
	c.t.Helper()
	var height int
	c.eval("document.documentElement.scrollHeight", &height)
	c.size(width, min(height, 4000), width < 500)
	var shot struct{ Data string }
	require.NoError(c.t, json.Unmarshal(c.do("Page.captureScreenshot", map[string]any{"format": "png"}), &shot))
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(c.t, err)
	require.NoError(c.t, os.WriteFile(file, data, 0o644))
}

// wait waits until an expression is true. While the browser goes to another page, it cannot
// evaluate the expression.
func (c *chromium) wait(expression string) {
	c.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		var got struct{ Result struct{ Value bool } }
		raw, err := c.try("Runtime.evaluate", map[string]any{"expression": "!!(" + expression + ")", "returnByValue": true, "awaitPromise": true})
		if err == nil && json.Unmarshal(raw, &got) == nil && got.Result.Value {
			return
		}
	}
	c.t.Fatalf("never true: %s", expression)
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}
