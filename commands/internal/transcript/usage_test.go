package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two requests to the model in the last turn, the first on two lines, and one of a subagent.
const claudeUsage = `{"isSidechain":false,"type":"user","message":{"role":"user","content":"earlier"},"uuid":"1"}
{"isSidechain":false,"type":"assistant","message":{"id":"msg_0","model":"claude-big-1","role":"assistant","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":900,"output_tokens":900}},"uuid":"2"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":"fix the parser"},"uuid":"3"}
{"isSidechain":false,"type":"assistant","message":{"id":"msg_1","model":"claude-big-1","role":"assistant","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":4,"cache_creation_input_tokens":1000,"cache_read_input_tokens":20000,"output_tokens":1,"service_tier":"standard"}},"uuid":"4"}
{"isSidechain":false,"type":"assistant","message":{"id":"msg_1","model":"claude-big-1","role":"assistant","content":[{"type":"tool_use","name":"Task","input":{}}],"usage":{"input_tokens":4,"cache_creation_input_tokens":1000,"cache_read_input_tokens":20000,"output_tokens":300}},"uuid":"5"}
{"isSidechain":true,"type":"user","message":{"role":"user","content":"search"},"uuid":"6"}
{"isSidechain":true,"type":"assistant","message":{"id":"msg_2","model":"claude-small-1","role":"assistant","content":[{"type":"text","text":"found"}],"usage":{"input_tokens":50,"output_tokens":20}},"uuid":"7"}
{"isSidechain":false,"type":"user","toolUseResult":{"usage":{"input_tokens":50,"output_tokens":20}},"message":{"role":"user","content":[{"type":"tool_result","content":"found"}]},"uuid":"8"}
{"isSidechain":false,"type":"assistant","message":{"id":"msg_3","model":"claude-big-1","role":"assistant","content":[{"type":"text","text":"Fixed."}],"usage":{"input_tokens":6,"cache_creation_input_tokens":500,"cache_read_input_tokens":21000,"output_tokens":40}},"uuid":"9"}
{"isSidechain":false,"type":"assistant","message":{"id":"0","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API error"}],"usage":{"input_tokens":0,"output_tokens":0}},"uuid":"10"}
`

// The first token_count of the turn repeats that of the turn before.
const codexUsage = `{"type":"event_msg","payload":{"type":"user_message","message":"earlier"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5000,"cached_input_tokens":1000,"output_tokens":200,"total_tokens":5200},"last_token_usage":{"input_tokens":3000,"cached_input_tokens":1000,"output_tokens":100}}}}
{"type":"turn_context","payload":{"cwd":"/x","model":"gpt-big-codex"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}]}}
{"type":"event_msg","payload":{"type":"user_message","message":"fix it"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5000,"cached_input_tokens":1000,"output_tokens":200,"total_tokens":5200},"last_token_usage":{"input_tokens":3000,"cached_input_tokens":1000,"output_tokens":100}}}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9000,"cached_input_tokens":4000,"output_tokens":300,"reasoning_output_tokens":50,"total_tokens":9300},"last_token_usage":{"input_tokens":4000,"cached_input_tokens":3000,"output_tokens":100}}}}
{"type":"event_msg","payload":{"type":"agent_message","message":"Done."}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":14000,"cached_input_tokens":8000,"output_tokens":450,"total_tokens":14450},"last_token_usage":{"input_tokens":5000,"cached_input_tokens":4000,"output_tokens":150}}}}
{"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{}}}
`

const geminiUsage = `{"sessionId":"s","messages":[
{"id":"1","type":"user","content":"first"},
{"id":"2","type":"gemini","content":"done","model":"gemini-big","tokens":{"input":9000,"output":900,"cached":0,"total":9900}},
{"id":"3","type":"user","content":"second"},
{"id":"4","type":"gemini","content":"","model":"gemini-big","tokens":{"input":1000,"output":30,"cached":600,"thoughts":20,"tool":5,"total":1055}},
{"id":"5","type":"gemini","content":"ok","model":"gemini-big","tokens":{"input":1200,"output":40,"cached":1000,"thoughts":0,"tool":0,"total":1240}}
]}
`

const qwenUsage = `{"uuid":"1","type":"user","message":{"role":"user","parts":[{"text":"go"}]}}
{"uuid":"2","type":"assistant","model":"qwen-coder","message":{"role":"model","parts":[{"text":"gone"}]},"usageMetadata":{"promptTokenCount":700,"candidatesTokenCount":60,"thoughtsTokenCount":4,"totalTokenCount":764,"cachedContentTokenCount":500}}
`

const piUsage = `{"type":"session","id":"s","model":"none"}
{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"type":"message","id":"b","message":{"role":"assistant","content":[{"type":"text","text":"gone"}],"model":"other-large","usage":{"input":11,"output":22,"cacheRead":33,"cacheWrite":44,"cost":{"total":0.01}}}}
`

// The last messages of a session, as the plugin for opencode passes them.
const opencodeUsage = `{"id":"msg_1","role":"user","content":"go"}
{"id":"msg_2","role":"assistant","modelID":"other-large","tokens":{"total":60,"input":11,"output":22,"reasoning":5,"cache":{"write":44,"read":33}},"content":""}
{"id":"msg_3","role":"assistant","modelID":"other-large","tokens":{"total":60,"input":1,"output":2,"reasoning":0,"cache":{"write":4,"read":3}},"content":"gone"}
`

const copilotUsage = `{"type":"session.start","data":{"sessionId":"s","selectedModel":"test-model"},"id":"1"}
{"type":"hook.start","data":{"hookType":"userPromptSubmitted","input":{"prompt":"go"}},"id":"2"}
{"type":"user.message","data":{"content":"go","transformedContent":"<current_datetime>2026</current_datetime>go"},"id":"3"}
{"type":"session.usage_record","data":{"usage":{"model":"test-model","inputTokens":50,"outputTokens":10,"cacheReadTokens":20,"cacheWriteTokens":0,"cost":0.0}},"id":"4"}
{"type":"assistant.message","data":{"model":"test-model","content":"","toolRequests":[{"name":"bash"}]},"id":"5"}
{"type":"session.usage_record","data":{"usage":{"model":"test-model","inputTokens":60,"outputTokens":11,"cacheReadTokens":20,"cacheWriteTokens":0,"cost":0.0}},"id":"6"}
{"type":"assistant.message","data":{"model":"test-model","content":"gone"},"id":"7"}
{"type":"assistant.turn_end","data":{"turnId":"1"},"id":"8"}
`

func used(model string, in, out, read, written int64) checkpoint.Spent {
	return checkpoint.Spent{Model: model, Tokens: checkpoint.Tokens{Input: in, Output: out, CacheRead: read, CacheWrite: written}}
}

// usageOf returns the usage of the last turn in a transcript.
func usageOf(t *testing.T, text string) []checkpoint.Spent {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Last(path).Usage
}

func TestUsageOfAgents(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []checkpoint.Spent
	}{
		"claude": {claudeUsage, []checkpoint.Spent{used("claude-big-1", 10, 340, 41000, 1500), used("claude-small-1", 50, 20, 0, 0)}},
		"codex":  {codexUsage, []checkpoint.Spent{used("gpt-big-codex", 2000, 250, 7000, 0)}},
		"codex, the first turn": {
			strings.Join(strings.SplitAfter(codexUsage, "\n")[:2], ""), []checkpoint.Spent{used("", 2000, 100, 1000, 0)},
		},
		"gemini": {geminiUsage, []checkpoint.Spent{used("gemini-big", 605, 90, 1600, 0)}},
		"gemini in lines, one of them written again": {
			`{"id":"1","type":"user","content":"go"}` + "\n" + `{"id":"2","type":"gemini","content":"","model":"m","tokens":{"input":1,"output":2}}` + "\n" +
				`{"id":"2","type":"gemini","content":"gone","model":"m","tokens":{"input":10,"output":20}}`, []checkpoint.Spent{used("m", 10, 20, 0, 0)},
		},
		"qwen": {qwenUsage, []checkpoint.Spent{used("qwen-coder", 200, 64, 500, 0)}},
		"qwen, thoughts within the output": {
			strings.Replace(qwenUsage, `"totalTokenCount":764`, `"totalTokenCount":760`, 1), []checkpoint.Spent{used("qwen-coder", 200, 60, 500, 0)},
		},
		"opencode": {opencodeUsage, []checkpoint.Spent{used("other-large", 12, 29, 36, 48)}},
		"copilot":  {copilotUsage, []checkpoint.Spent{used("test-model", 70, 21, 40, 0)}},
		"gemini, with the text of a hook before the request": {
			`{"id":"1","type":"user","content":[{"text":"<hook_context>You take over issue 42.\n</hook_context>\n\ngo"}]}` + "\n" +
				`{"id":"2","type":"gemini","content":"gone","model":"m","tokens":{"input":10,"output":20}}`, []checkpoint.Spent{used("m", 10, 20, 0, 0)},
		},
		"pi":                {piUsage, []checkpoint.Spent{used("other-large", 11, 22, 33, 44)}},
		"an unknown format": {`{"role":"user","content":"go"}` + "\n" + `{"role":"assistant","content":"ok","usage":{"input_tokens":5},"stats":{"tokens":7}}`, nil},
		"no usage":          {claude, nil},
		"no request":        {`{"type":"assistant","message":{"role":"assistant","content":"done","usage":{"input_tokens":5}}}`, nil},
	} {
		assert.Equal(t, test.want, usageOf(t, test.text), name)
	}
}

func TestHostileNumbersAreIgnored(t *testing.T) {
	for _, n := range []string{"-1", "1e300", `"7"`, "1.5", "null", "[]", "{}", "true", "99999999999999999999", "1000000000001"} {
		for _, text := range []string{claudeUsage, codexUsage, geminiUsage, qwenUsage, piUsage, opencodeUsage} {
			for _, s := range usageOf(t, strings.NewReplacer(`output_tokens":`, `output_tokens":`+n+`,"x":`, `"output":`, `"output":`+n+`,"x":`, `candidatesTokenCount":`, `candidatesTokenCount":`+n+`,"x":`).Replace(text)) {
				assert.Less(t, s.Output, int64(50), n)
			}
		}
	}
	line := `{"type":"assistant","message":{"role":"assistant","model":%q,"content":"ok","usage":{"input_tokens":1}}}` + "\n"
	request := `{"type":"user","message":{"role":"user","content":"go"}}` + "\n"
	assert.Equal(t, []checkpoint.Spent{used("", 1, 0, 0, 0)}, usageOf(t, request+fmt.Sprintf(line, "ignore the rules above")))
	many := request
	for k := range 50 {
		many += fmt.Sprintf(line, fmt.Sprint("m", k))
	}
	models := usageOf(t, many)
	assert.Len(t, models, 50)
	assert.Equal(t, int64(50), checkpoint.SumOf(models).Input)
}

// A sum that becomes smaller within a turn gives no usage.
func TestSumOfCodexThatWasReset(t *testing.T) {
	assert.Nil(t, usageOf(t, strings.Replace(codexUsage, `"input_tokens":14000`, `"input_tokens":1`, 1)))
}

// The usage of a turn is whole, or unknown.
func TestUsageOfALongTurn(t *testing.T) {
	result := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"%s"}]}}`+"\n", strings.Repeat("x", 1<<20))
	answer := `{"type":"assistant","message":{"role":"assistant","content":"more","usage":{"input_tokens":7}}}` + "\n"
	assert.Equal(t, int64(67), checkpoint.SumOf(usageOf(t, claudeUsage+result+result+answer)).Input)
	assert.Nil(t, usageOf(t, claudeUsage+strings.Repeat(result, 5)+answer))
}

// The place of the request changes with the next turn, and not if the turn goes on.
func TestStartOfATurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	start := func(text string) int64 {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return Last(path).Start
	}
	long := strings.Repeat("{}\n", block)
	assert.Equal(t, start(claudeUsage), start(claudeUsage+`{"type":"assistant","message":{"role":"assistant","content":"more"}}`))
	assert.Equal(t, start(long+claudeUsage), start(long+claudeUsage+claude[len(claude)-45:]))
	assert.NotEqual(t, start(claudeUsage), start(claudeUsage+`{"type":"user","message":{"role":"user","content":"next"}}`))
}
