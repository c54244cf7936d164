// Package transcript reads the last request of a person, and the tokens of the turn that it began,
// from the transcript that an agent writes: a file of JSON lines, or for older versions of Gemini one JSON document.
//
//	{"type":"user","message":{"role":"user","content":"fix the test"}}          Claude Code, Qwen
//	{"type":"event_msg","payload":{"type":"user_message","message":"fix it"}}   Codex
//	{"type":"response_item","payload":{"type":"message","role":"user",          Codex
//	  "content":[{"type":"input_text","text":"fix it"}]}}
//	{"messages":[{"type":"user","content":"fix it"}]}                           Gemini
//	{"type":"user.message","data":{"content":"fix it"}}                         Copilot
//
// A transcript is no trusted input: other programs can write it, and its form changes between
// versions. Only its end is read, and everything that is not understood is skipped.
package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Limits of the bytes that are read, from the end of the file.
const (
	block    = 256 << 10 // read first
	maxBytes = 4 << 20   // read at most, if the last request is not in the first block
)

// A Turn has the texts and the tokens of the last turn in a transcript.
type Turn struct {
	Request string             // last request of a person, or ""
	Answer  string             // last text of the agent after the request, or ""
	Usage   []checkpoint.Spent // tokens since the request by model, without agent and phase
	Start   int64              // place of the request: offset in bytes, or index in a document
}

// Last returns the last turn in the transcript at a path. It returns a zero value if the file is
// missing, is no regular file of this user, or has no request near its end.
func Last(path string) Turn {
	f, size := open(path)
	if f == nil {
		return Turn{}
	}
	defer f.Close()
	for want := int64(block); ; want = maxBytes {
		want = min(want, size)
		data := make([]byte, want)
		n, err := f.ReadAt(data, size-want)
		if err != nil && err != io.EOF {
			return Turn{}
		}
		data = data[:n]
		whole := want == size
		if t := lastOf(data, whole); t.Request != "" || whole || want == maxBytes {
			t.Start += size - want
			return t.known()
		}
	}
}

// LastOf returns the last turn in messages that an agent has passed itself.
func LastOf(messages []json.RawMessage) Turn {
	var s scan
	for i := len(messages) - 1; i >= 0 && s.Request == ""; i-- {
		s.add(messages[i])
		s.Start = int64(i)
	}
	return s.end(nil)
}

// open opens a regular file of this user. A symbolic link to such a file is followed.
func open(path string) (*os.File, int64) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0 // opening a FIFO waits for a writer
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, 0
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() || !isOwn(info) {
		f.Close()
		return nil, 0
	}
	return f, info.Size()
}

// lastOf returns the last turn in the end of a transcript. whole is false if data begins within
// a line.
func lastOf(data []byte, whole bool) Turn {
	if whole {
		if t, ok := document(data); ok {
			return t
		}
	}
	var s scan
	for len(data) > 0 && s.Request == "" {
		start := bytes.LastIndexByte(bytes.TrimRight(data, "\r\n"), '\n') + 1
		line := data[start:]
		if data = data[:start]; start == 0 && !whole {
			break
		}
		s.add(line)
	}
	s.Start = int64(len(data))
	return s.end(data)
}

// A scan reads the entries of a turn, from the last to the first.
type scan struct {
	Turn
	meter meter
}

// add adds an entry that comes before the entries that were added.
func (s *scan) add(line []byte) {
	s.meter.add(line)
	switch who, text := said(line); {
	case who == person && s.Answer != "":
		s.Request = strings.ReplaceAll(text, commandMark, "")
	case who == person && !strings.Contains(text, commandMark):
		s.Request = text
	case who == agent && s.Answer == "":
		s.Answer = text
	}
}

// end returns the turn with its usage. The data before contains the entries before the turn.
func (s *scan) end(before []byte) Turn {
	s.Usage = s.meter.usage(before)
	return s.known()
}

// known returns the turn, or a zero value if its request is unknown, since the turn is incomplete.
func (t Turn) known() Turn {
	if t.Request == "" {
		return Turn{}
	}
	return t
}

// document returns the last turn of a transcript that is one JSON document. ok is false for
// JSON lines.
func document(data []byte) (t Turn, ok bool) {
	var d struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if !bytes.Contains(data, []byte(`"messages"`)) || json.Unmarshal(data, &d) != nil {
		return t, false
	}
	return LastOf(d.Messages), true
}

// A speaker is the author of a text in a transcript.
type speaker int

const (
	nobody speaker = iota
	person
	agent
)

// An entry is a line of a transcript, or a message of a document.
type entry struct {
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Content content `json:"content"`
	Message message `json:"message"`
	Payload struct {
		Type    string  `json:"type"`
		Role    string  `json:"role"`
		Message message `json:"message"`
		Content content `json:"content"`
	} `json:"payload"`
	Data struct {
		Content content `json:"content"`
	} `json:"data"`

	IsMeta      bool `json:"isMeta"`           // text of the program, not of the person
	IsSidechain bool `json:"isSidechain"`      // conversation with a subagent
	IsSummary   bool `json:"isCompactSummary"` // summary after a compaction
}

// A message is an object with a role and content, or only a text.
type message struct {
	Role    string
	Content content
}

func (m *message) UnmarshalJSON(data []byte) error {
	var of struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
		Parts   content `json:"parts"`
	}
	if data[0] != '{' { // each attempt reads the whole message
		return m.Content.UnmarshalJSON(data)
	}
	if json.Unmarshal(data, &of) == nil {
		m.Role, m.Content = of.Role, of.Content+of.Parts
	}
	return nil
}

// A content is a text, or the texts of a list of parts. Results of tools have no text here.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if data[0] == '"' && json.Unmarshal(data, &text) == nil {
		*c = content(plain(text))
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if data[0] != '[' || json.Unmarshal(data, &parts) != nil {
		return nil
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "", "text", "input_text", "output_text":
			if text := plain(p.Text); text != "" {
				texts = append(texts, text)
			}
		}
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// said returns the author and the text of an entry, and no text for entries without one.
func said(line []byte) (speaker, string) {
	words := []string{`"user"`, `"user_message"`, `"user.message"`, `"assistant"`, `"assistant.message"`, `"agent_message"`, `"gemini"`, `"model"`}
	if !slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(line, []byte(word)) }) { // most lines are long results of tools
		return nobody, ""
	}
	var e entry
	if json.Unmarshal(line, &e) != nil || e.IsMeta || e.IsSidechain || e.IsSummary {
		return nobody, ""
	}
	kind, role, text := e.Type, cmp.Or(e.Message.Role, e.Role), cmp.Or(e.Message.Content, e.Content, e.Data.Content)
	if p := e.Payload; p.Type != "" {
		kind, role, text = p.Type, p.Role, cmp.Or(p.Message.Content, p.Content)
	}
	who := nobody
	switch {
	case role == "user", role == "" && (kind == "user" || kind == "user_message" || kind == "user.message"):
		who = person
	case role == "assistant" || role == "model", role == "" && (kind == "assistant" || kind == "gemini" || kind == "agent_message" || kind == "assistant.message"):
		who = agent
	}
	return who, string(text)
}

// commandMark begins the text of a command such as "/review 42". It is a request only if the
// agent answers it: other commands of this form change settings of the agent.
const commandMark = "\x00"

// plain returns the text of a person or an agent, and "" for a text that a program wrote in the
// place of a person: the environment, instructions from files, the output of a command, or a note
// about an interrupt.
func plain(text string) string {
	text = WithoutContext(strings.TrimSpace(strings.ReplaceAll(text, commandMark, "")))
	for _, start := range []string{"# AGENTS.md instructions", "[Request interrupted", "Caveat: The messages below"} {
		if strings.HasPrefix(text, start) {
			return ""
		}
	}
	if name, args := tagged(text, "command-name"), tagged(text, "command-args"); name != "" && args != "" && strings.HasPrefix(text, "<command-") {
		return commandMark + name + " " + args
	}
	if asked := tagged(text, "user_query"); asked != "" {
		return asked
	}
	tag, _, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">")
	if ok && strings.HasPrefix(text, "<") && strings.ContainsAny(tag, "-_") && strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz-_") == "" {
		return ""
	}
	return text
}

// WithoutContext returns a request without the texts of hooks that Gemini puts before it.
func WithoutContext(text string) string {
	if _, rest, ok := strings.Cut(text, "</hook_context>"); ok && strings.HasPrefix(text, "<hook_context>") {
		return strings.TrimSpace(rest)
	}
	return text
}

// tagged returns the text of the first element of a tag, or "".
func tagged(text, tag string) string {
	_, text, _ = strings.Cut(text, "<"+tag+">")
	text, _, ok := strings.Cut(text, "</"+tag+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(text)
}
