package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A conversation is the part of a request that decides the answer.
type conversation struct {
	prompt string // newest text of the user
	done   bool   // the result of a tool follows the prompt
	tools  []tool
}

// A tool is a function that the model may call. schema is its JSON schema, and namespace
// the name of its group in OpenAI's Responses API, or "".
type tool struct {
	name, namespace, description string
	schema                       map[string]any
}

// An answer is a text, or a call of a tool.
type answer struct {
	text   string
	call   tool // the zero tool for a text
	args   map[string]any
	tokens int // size of the request, as reported to the agent
	wait   time.Duration
}

// answerTo obeys the directives in a prompt:
//
//	%run{COMMAND}   call the shell tool
//	%ask{PROMPT}    call a subagent, whose prompt can have directives too
//	%wait{SECONDS}  answer with a text only after this time
//	%tokens{N}      report a request of N tokens, so that the agent compacts the conversation
//
// A tool is called once: the answer to its result is a text.
func answerTo(c conversation) answer {
	prompt := withoutData(c.prompt)
	a := answer{text: "Done.", tokens: 50}
	if n, err := strconv.Atoi(directive(prompt, "tokens")); err == nil {
		a.tokens = n
	}
	shell, found := findTool(c.tools, "bash", "exec_command", "shell_command", "shell", "run_shell_command", "execute")
	if command := directive(outside(prompt), "run"); command != "" && found && !c.done {
		a.call, a.args = shell, arguments(shell, command, "command", "cmd")
		return a
	}
	agent, found := findTool(c.tools, "agent", "task", "spawn_agent", "invoke_agent")
	if order := directive(prompt, "ask"); order != "" && found && !c.done {
		a.call, a.args = agent, arguments(agent, order, "prompt", "message", "task", "objective")
		return a
	}
	if n, err := strconv.ParseFloat(directive(prompt, "wait"), 64); err == nil {
		a.wait = time.Duration(n * float64(time.Second))
	}
	return a
}

// withoutData removes the recorded data of a checkpoint, which can repeat a prompt.
func withoutData(prompt string) string {
	before, rest, found := strings.Cut(prompt, "begin checkpoint data")
	if !found {
		return prompt
	}
	_, after, _ := strings.Cut(rest, "end checkpoint data")
	return before + after
}

// outside removes the directive %ask, whose prompt is for the subagent.
func outside(prompt string) string {
	return strings.Replace(prompt, "%ask{"+directive(prompt, "ask")+"}", "", 1)
}

// directive returns the text in the braces after %name, or "".
func directive(prompt, name string) string {
	_, rest, found := strings.Cut(prompt, "%"+name+"{")
	depth := 1
	for i, r := range rest {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		if found && depth == 0 {
			return rest[:i]
		}
	}
	return ""
}

// findTool returns the first tool with one of the names, in any case.
func findTool(tools []tool, names ...string) (tool, bool) {
	for _, name := range names {
		i := slices.IndexFunc(tools, func(t tool) bool { return strings.EqualFold(t.name, name) })
		if i >= 0 {
			return tools[i], true
		}
	}
	return tool{}, false
}

// arguments returns arguments that a tool accepts: the value under the first of the names
// that the tool knows, and something valid for each other required argument.
func arguments(t tool, value string, names ...string) map[string]any {
	known, _ := t.schema["properties"].(map[string]any)
	args := map[string]any{}
	for _, name := range names {
		if property, ok := known[name].(map[string]any); ok {
			args[name] = value
			if property["type"] == "array" {
				args[name] = []string{"sh", "-c", value}
			}
			break
		}
	}
	required, _ := t.schema["required"].([]any)
	for _, r := range required {
		name := fmt.Sprint(r)
		if _, set := args[name]; set {
			continue
		}
		property, _ := known[name].(map[string]any)
		args[name] = valid(name, property, t)
	}
	return args
}

// valid returns a value for a required argument of a tool.
func valid(name string, property map[string]any, t tool) any {
	if choices, ok := property["enum"].([]any); ok && len(choices) > 0 {
		return choices[0]
	}
	switch fmt.Sprint(property["type"]) {
	case "boolean":
		return false
	case "integer", "number":
		return 60
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	if strings.HasSuffix(name, "_type") || strings.HasSuffix(name, "_name") {
		return t.subagent()
	}
	return "step"
}

// subagent returns the name of a general subagent.
func (t tool) subagent() string {
	switch {
	case t.name == "invoke_agent": // gemini names its subagents in the system prompt only
		return "generalist"
	case strings.Contains(t.description, "general-purpose") || !strings.Contains(t.description, "general"):
		return "general-purpose"
	}
	return "general" // opencode
}
