package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A format is a form in which agents write the tokens of a request to a model.
type format struct {
	word    string   // text of each line with a usage
	usage   string   // path of the usage
	total   string   // path of the sum since the begin of the session, or ""
	id      string   // path of the id: several entries with one id count once, or ""
	model   string   // path of the model, or ""
	input   []string // paths of the numbers in the usage, which are added
	output  []string
	read    string
	written string
	all     string // input and output, for models whose output has the thoughts already, or ""
	within  bool   // tokens that are read from a cache are within the input
}

// formats has the forms of all agents. The first one with a number in the usage counts.
var formats = []format{
	// Claude Code: {"message":{"id":"m","model":"x","usage":{"input_tokens":1}}}
	{
		word: `"usage"`, usage: "message.usage", id: "message.id", model: "message.model",
		input: []string{"input_tokens"}, output: []string{"output_tokens"}, read: "cache_read_input_tokens", written: "cache_creation_input_tokens",
	},
	// pi: {"id":"1","message":{"model":"x","usage":{"input":1}}}
	{
		word: `"usage"`, usage: "message.usage", id: "id", model: "message.model",
		input: []string{"input"}, output: []string{"output"}, read: "cacheRead", written: "cacheWrite",
	},
	// Codex: {"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1}}}}
	{
		word: `"token_count"`, usage: "payload.info.last_token_usage", total: "payload.info.total_token_usage",
		input: []string{"input_tokens"}, output: []string{"output_tokens"}, read: "cached_input_tokens", within: true,
	},
	// opencode: {"id":"1","modelID":"x","tokens":{"input":1,"cache":{"read":1}}}
	{
		word: `"modelID"`, usage: "tokens", id: "id", model: "modelID",
		input: []string{"input"}, output: []string{"output", "reasoning"}, read: "cache.read", written: "cache.write",
	},
	// Copilot: {"id":"1","data":{"usage":{"model":"x","inputTokens":1}}}
	{
		word: `"session.usage_record"`, usage: "data.usage", id: "id", model: "data.usage.model",
		input: []string{"inputTokens"}, output: []string{"outputTokens"}, read: "cacheReadTokens", written: "cacheWriteTokens", within: true,
	},
	// Gemini: {"id":"1","model":"x","tokens":{"input":1}}
	{
		word: `"tokens"`, usage: "tokens", id: "id", model: "model",
		input: []string{"input", "tool"}, output: []string{"output", "thoughts"}, read: "cached", within: true,
	},
	// Qwen: {"uuid":"1","model":"x","usageMetadata":{"promptTokenCount":1}}
	{
		word: `"usageMetadata"`, usage: "usageMetadata", id: "uuid", model: "model",
		input: []string{"promptTokenCount"}, output: []string{"candidatesTokenCount", "thoughtsTokenCount"}, read: "cachedContentTokenCount", all: "totalTokenCount", within: true,
	},
}

// The lines of Codex that name the model of a turn, and the path of the model.
const (
	modelWord = `"turn_context"`
	modelPath = "payload.model"
)

// most limits a number of tokens in a transcript. Larger numbers are ignored.
const most = 1_000_000_000_000

// A meter adds the usage of the entries of a turn, from the last to the first.
type meter struct {
	used []checkpoint.Spent
	ids  map[string]bool

	// Of a format with sums: the last and the first sum of the turn, and the usage beside the first.
	last, first, beside checkpoint.Tokens
	sums                bool
	model               string
}

// add adds the usage of an entry, if there is one.
func (m *meter) add(line []byte) {
	has := func(word string) bool { return bytes.Contains(line, []byte(word)) }
	if !has(modelWord) && !slices.ContainsFunc(formats, func(f format) bool { return has(f.word) }) {
		return
	}
	e := decode(line)
	if m.model == "" && has(modelWord) {
		m.model = modelName(textAt(e, modelPath))
	}
	for _, f := range formats {
		if !has(f.word) {
			continue
		}
		used, ok := f.tokens(e, f.usage)
		if !ok {
			continue
		}
		if f.total != "" {
			if total, ok := f.tokens(e, f.total); ok {
				if !m.sums {
					m.last, m.sums = total, true
				}
				m.first, m.beside = total, used
			}
			return
		}
		if id := textAt(e, f.id); id != "" {
			if m.ids[id] {
				return
			}
			if m.ids == nil {
				m.ids = map[string]bool{}
			}
			m.ids[id] = true
		}
		m.count(modelName(textAt(e, f.model)), used)
		return
	}
}

// count adds tokens of a model.
func (m *meter) count(model string, used checkpoint.Tokens) {
	m.used = checkpoint.AddSpent(m.used, checkpoint.Spent{Model: model, Tokens: used})
}

// usage returns the tokens of the turn by model. The data before contains the entries before the
// turn, if they were read.
func (m *meter) usage(before []byte) []checkpoint.Spent {
	if !m.sums {
		return m.used
	}
	if m.model == "" {
		m.model = modelName(textAt(decode(lastWith(before, modelWord)), modelPath))
	}
	from := m.first.Minus(m.beside)
	for _, f := range formats {
		if f.total == "" {
			continue
		}
		// An agent can repeat the last sum before the turn in the turn, with the usage of the request
		// before.
		sum, ok := f.tokens(decode(lastWith(before, f.word)), f.total)
		if ok && m.first.Minus(sum).Plus(sum) == m.first {
			from = sum
		}
	}
	if m.last.Minus(from).Plus(from) != m.last {
		return nil // the sum was reset within the turn
	}
	m.count(m.model, m.last.Minus(from))
	return m.used
}

// lastWith returns the last line with a word, or nil.
func lastWith(data []byte, word string) []byte {
	at := bytes.LastIndex(data, []byte(word))
	if at < 0 {
		return nil
	}
	line, _, _ := bytes.Cut(data[bytes.LastIndexByte(data[:at], '\n')+1:], []byte("\n"))
	return line
}

// tokens returns the numbers of the object at a path. ok is false if the object has no number.
func (f format) tokens(e any, path string) (t checkpoint.Tokens, ok bool) {
	sum := func(names ...string) (sum int64) {
		for _, name := range names {
			number, _ := at(e, path+"."+name).(json.Number)
			if n, err := number.Int64(); err == nil && n >= 0 && n <= most {
				sum, ok = sum+n, true
			}
		}
		return sum
	}
	t = checkpoint.Tokens{Input: sum(f.input...), Output: sum(f.output...), CacheRead: sum(f.read), CacheWrite: sum(f.written)}
	if all := sum(f.all); all > t.Input {
		t.Output = min(t.Output, all-t.Input)
	}
	if f.within {
		t.Input = max(t.Input-t.CacheRead, 0)
	}
	return t, ok
}

// decode returns the JSON value of an entry, or nil.
func decode(line []byte) (entry any) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if d.Decode(&entry) != nil {
		return nil
	}
	return entry
}

// at returns the value at a path of keys, or nil.
func at(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// textAt returns the text at a path, or "".
func textAt(value any, path string) string {
	text, _ := at(value, path).(string)
	return text
}

// modelName returns the name of a model, or "" if the text has other characters than such a name.
func modelName(name string) string {
	if len(name) > 100 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@[]+-") != "" {
		return ""
	}
	return name
}
