package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const claude = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"write the parser"},"uuid":"1","timestamp":"2026-02-14T14:00:00.000Z"}
{"isSidechain":false,"type":"assistant","message":{"model":"x","role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"It is written."}]},"uuid":"2"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>be brief</system-reminder>"},{"type":"text","text":"Do NOT touch tests/.\nFix refresh.py"}]},"uuid":"3"}
{"isSidechain":false,"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat: The messages below"},"uuid":"4"}
{"isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]},"uuid":"5"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"\"user\" text of a tool"}]},"uuid":"6"}
{"isSidechain":true,"type":"user","message":{"role":"user","content":"task of a subagent"},"uuid":"7"}
{"isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Fixed. Next are the docs."}]},"uuid":"8"}
{"type":"user","message":{"role":"user","content":"<local-command-stdout>model set</local-command-stdout>"}}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}
{"type":"system","subtype":"turn_duration"}
`

const codex = `{"timestamp":"2026-02-14T14:00:00Z","type":"session_meta","payload":{"id":"1","cwd":"/x","git":{}}}
{"timestamp":"2026-02-14T14:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/x</cwd>\n</environment_context>"}]}}
{"timestamp":"2026-02-14T14:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix the test"}]}}
{"timestamp":"2026-02-14T14:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"fix the test","kind":"plain"}}
{"timestamp":"2026-02-14T14:00:01Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"role\":\"user\"}"}}
{"timestamp":"2026-02-14T14:00:01Z","type":"event_msg","payload":{"type":"agent_message","message":"It passes."}}
{"timestamp":"2026-02-14T14:00:01Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It passes."}]}}
{"timestamp":"2026-02-14T14:00:02Z","type":"event_msg","payload":{"type":"token_count","info":null}}
`

const gemini = `{
  "sessionId": "s", "projectHash": "h",
  "messages": [
    {"id": "1", "type": "user", "content": [{"text": "first"}]},
    {"id": "2", "type": "gemini", "content": "done", "toolCalls": []},
    {"id": "3", "type": "user", "content": "second"},
    {"id": "4", "type": "gemini", "content": "", "toolCalls": []},
    {"id": "5", "type": "info", "content": "update available"}
  ]
}
`

func TestLastRequestOfAgents(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want [2]string
	}{
		"claude":   {claude, [2]string{"Do NOT touch tests/.\nFix refresh.py", "Fixed. Next are the docs."}},
		"codex":    {codex, [2]string{"fix the test", "It passes."}},
		"gemini":   {gemini, [2]string{"second", ""}},
		"copilot":  {copilotUsage, [2]string{"go", "gone"}},
		"opencode": {opencodeUsage, [2]string{"go", "gone"}},
		"gemini after the text of a hook": {
			`{"id":"1","type":"user","content":[{"text":"<hook_context>You take over.</hook_context>\n\ngo"}]}` + "\n" + `{"id":"2","type":"gemini","content":"gone"}`, [2]string{"go", "gone"},
		},
		"gemini in lines": {`{"id":"1","type":"user","content":[{"text":"go"}]}` + "\n" + `{"id":"2","type":"gemini","content":"gone"}`, [2]string{"go", "gone"}},
		"qwen":            {`{"type":"user","message":{"role":"user","parts":[{"text":"go"}]}}` + "\n" + `{"type":"assistant","message":{"role":"model","parts":[{"text":"gone"}]}}`, [2]string{"go", "gone"}},
		"droid":           {`{"type":"message","message":{"role":"user","content":[{"type":"text","text":"go"}]}}`, [2]string{"go", ""}},
		"cursor":          {`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\ngo\n</user_query>"}]}}`, [2]string{"go", ""}},
		"a command that the agent answers": {
			`{"type":"user","message":{"role":"user","content":"<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>42</command-args>"}}` + "\n" +
				`{"type":"assistant","message":{"role":"assistant","content":"done"}}`, [2]string{"/fix 42", "done"},
		},
		"a setting after the request": {
			`{"type":"user","message":{"role":"user","content":"go"}}` + "\n" +
				`{"type":"user","message":{"role":"user","content":"<command-name>/model</command-name>\n<command-args>big</command-args>"}}`, [2]string{"go", ""},
		},
		"no request":           {`{"type":"assistant","message":{"role":"assistant","content":"done"}}`, [2]string{}},
		"a summary":            {`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"This session is being continued"}}`, [2]string{}},
		"a line of HTML":       {`{"type":"user","message":{"role":"user","content":"<div> is not closed, fix it"}}`, [2]string{"<div> is not closed, fix it", ""}},
		"CRLF, cut at the end": {"{\"type\":\"user\",\"content\":\"go\"}\r\n\r\n{\"type\":\"user\",\"cont", [2]string{"go", ""}},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
		last := Last(path)
		assert.Equal(t, test.want, [2]string{last.Request, last.Answer}, name)
	}
}

// A long turn has its request far from the end. Only the end of a longer one is read.
func TestRequestFarFromTheEnd(t *testing.T) {
	result := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"%s"}]}}`+"\n", strings.Repeat("x", 1<<20))
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(claude+result+result+result), 0o600))
	assert.Equal(t, "Do NOT touch tests/.\nFix refresh.py", Last(path).Request)
	require.NoError(t, os.WriteFile(path, []byte(claude+strings.Repeat(result, 5)), 0o600))
	assert.Equal(t, Turn{}, Last(path))
}

// A line that is longer than the end of the file that is read hides the entries before it.
func TestHugeLine(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "t.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	write := func(at int64, text string) {
		_, err := f.WriteAt([]byte(text), at)
		require.NoError(t, err)
	}
	const size = 100 << 20 // a hole in the file, without blocks on the disk
	write(0, claude+`{"type":"user","message":{"role":"user","content":"`)
	write(size, `"}}`+"\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	assert.Equal(t, Turn{}, Last(f.Name()))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	write(size+4, claude)
	assert.Equal(t, "Do NOT touch tests/.\nFix refresh.py", Last(f.Name()).Request)
}

func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	line := `{"type":"user","message":{"role":"user","content":"go"}}` + "\n"
	for _, text := range []string{
		"", "\n", "\x00\x00\x00", "{", "[]", "null", `"user"`, `{"type":"user"}`, `{"type":["user"]}`, `{"type":"user","message":7}`,
		`{"type":"user","message":{"role":"user","content":{"a":1}}}`, `{"payload":[1]}`, `{"messages":[1,null,{"type":"user","content":[[1]]}]}`,
		strings.Repeat("[", 100_000), `{"type":"user","message":` + strings.Repeat(`{"content":`, 20_000),
	} {
		assert.Equal(t, Turn{}, Last(write("bad", text)), "%.40q", text)
		assert.Equal(t, "go", Last(write("bad", line+text+"\n")).Request, "%.40q", text)
	}
	good := write("good", line)
	require.NoError(t, os.Symlink(good, filepath.Join(dir, "link")))
	assert.Equal(t, "go", Last(filepath.Join(dir, "link")).Request)
	for _, path := range []string{dir, filepath.Join(dir, "none"), "", "/dev/zero", "/dev/tty", "/proc/self/environ"} {
		assert.Equal(t, Turn{}, Last(path), path)
	}
}

func FuzzLast(f *testing.F) {
	for _, text := range []string{claude, codex, gemini, claudeUsage, codexUsage, geminiUsage, qwenUsage, piUsage} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, whole := range []bool{true, false} {
			turn := lastOf(data, whole)
			assert.False(t, turn.Request == "" && turn.Answer != "")
			assert.NotContains(t, turn.Request, commandMark)
			for _, s := range turn.Usage {
				assert.NotZero(t, s.Tokens)
				assert.Equal(t, modelName(s.Model), s.Model)
				assert.GreaterOrEqual(t, min(s.Input, s.Output, s.CacheRead, s.CacheWrite), int64(0))
			}
		}
	})
}
