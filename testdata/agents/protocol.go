package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

type object = map[string]any

// list returns the objects in an array.
func list(v any) []object {
	var all []object
	items, _ := v.([]any)
	for _, item := range items {
		if o, ok := item.(object); ok {
			all = append(all, o)
		}
	}
	return all
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// textOf returns the text of a message: a string, or parts with a member text.
func textOf(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var all []string
	for _, part := range list(content) {
		if s := text(part["text"]); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

func schemaOf(v any) object {
	o, _ := v.(object)
	return o
}

var calls atomic.Int64

// newID returns an id that no other answer has.
func newID(prefix string) string {
	return fmt.Sprintf("%s_%d_%d", prefix, time.Now().UnixNano(), calls.Add(1))
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers, maps and slices only
	}
	return string(data)
}

// event writes a server-sent event, with a name unless it is "".
func event(w io.Writer, name string, v any) {
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", encode(v))
}

// anthropic is the protocol of the Messages API.
type anthropic struct{}

func (anthropic) conversation(root object) (c conversation) {
	for _, t := range list(root["tools"]) {
		c.tools = append(c.tools, tool{name: text(t["name"]), description: text(t["description"]), schema: schemaOf(t["input_schema"])})
	}
	for _, m := range list(root["messages"]) {
		if m["role"] != "user" {
			continue
		}
		result := false
		for _, part := range list(m["content"]) {
			result = result || part["type"] == "tool_result"
		}
		if s := textOf(m["content"]); s != "" && !result {
			c.prompt = s
		}
		c.done = result
	}
	return c
}

func (anthropic) write(w io.Writer, root object, a answer, stream bool) {
	block, delta, stop := object{"type": "text", "text": a.text}, object{"type": "text_delta", "text": a.text}, "end_turn"
	empty := object{"type": "text", "text": ""}
	if a.call.name != "" {
		id := newID("toolu")
		block = object{"type": "tool_use", "id": id, "name": a.call.name, "input": a.args}
		empty = object{"type": "tool_use", "id": id, "name": a.call.name, "input": object{}}
		delta, stop = object{"type": "input_json_delta", "partial_json": encode(a.args)}, "tool_use"
	}
	message := object{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": root["model"], "content": []object{block}, "stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": a.tokens - cachedTokens, "output_tokens": outputTokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cachedTokens},
	}
	if !stream {
		fmt.Fprint(w, encode(message))
		return
	}
	message["content"], message["stop_reason"] = []object{}, nil
	event(w, "message_start", object{"type": "message_start", "message": message})
	event(w, "content_block_start", object{"type": "content_block_start", "index": 0, "content_block": empty})
	event(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, "content_block_stop", object{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": outputTokens}})
	event(w, "message_stop", object{"type": "message_stop"})
}

// responses is the protocol of OpenAI's Responses API.
type responses struct{}

func (responses) conversation(root object) (c conversation) {
	for _, t := range list(root["tools"]) {
		c.tools = append(c.tools, tool{name: text(t["name"]), description: text(t["description"]), schema: schemaOf(t["parameters"])})
		for _, inner := range list(t["tools"]) { // a namespace of tools
			c.tools = append(c.tools, tool{text(inner["name"]), text(t["name"]), text(inner["description"]), schemaOf(inner["parameters"])})
		}
	}
	c.prompt = text(root["input"])
	for _, item := range list(root["input"]) {
		switch kind := text(item["type"]); {
		case strings.HasSuffix(kind, "_output"):
			c.done = true
		case item["role"] == "user":
			c.prompt, c.done = textOf(item["content"]), false
		}
	}
	return c
}

func (responses) write(w io.Writer, root object, a answer, stream bool) {
	item := object{
		"type": "message", "id": newID("msg"), "role": "assistant", "status": "completed",
		"content": []object{{"type": "output_text", "text": a.text, "annotations": []any{}}},
	}
	if a.call.name != "" {
		item = object{"type": "function_call", "id": newID("fc"), "call_id": newID("call"), "name": a.call.name, "arguments": encode(a.args), "status": "completed"}
		if a.call.namespace != "" {
			item["namespace"] = a.call.namespace
		}
	}
	response := object{
		"id": newID("resp"), "object": "response", "created_at": time.Now().Unix(), "model": root["model"], "status": "completed", "output": []object{item},
		"usage": object{
			"input_tokens": a.tokens, "input_tokens_details": object{"cached_tokens": cachedTokens}, "output_tokens": outputTokens,
			"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": a.tokens + outputTokens,
		},
	}
	if !stream {
		fmt.Fprint(w, encode(response))
		return
	}
	event(w, "response.created", object{"type": "response.created", "response": object{"id": response["id"], "object": "response", "status": "in_progress", "output": []any{}}})
	event(w, "response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item})
	event(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, "response.completed", object{"type": "response.completed", "response": response})
}

// chat is the protocol of OpenAI's Chat Completions API.
type chat struct{}

func (chat) conversation(root object) (c conversation) {
	for _, t := range list(root["tools"]) {
		f := schemaOf(t["function"])
		c.tools = append(c.tools, tool{name: text(f["name"]), description: text(f["description"]), schema: schemaOf(f["parameters"])})
	}
	for _, m := range list(root["messages"]) {
		switch m["role"] {
		case "user":
			c.prompt, c.done = textOf(m["content"]), false
		case "tool":
			c.done = true
		}
	}
	return c
}

func (chat) write(w io.Writer, root object, a answer, stream bool) {
	message, reason := object{"role": "assistant", "content": a.text}, "stop"
	if a.call.name != "" {
		call := object{"index": 0, "id": newID("call"), "type": "function", "function": object{"name": a.call.name, "arguments": encode(a.args)}}
		message, reason = object{"role": "assistant", "content": nil, "tool_calls": []object{call}}, "tool_calls"
	}
	usage := object{
		"prompt_tokens": a.tokens, "completion_tokens": outputTokens, "total_tokens": a.tokens + outputTokens,
		"prompt_tokens_details": object{"cached_tokens": cachedTokens},
	}
	head := func(kind string, choice object) object {
		choice["index"] = 0
		return object{"id": "chatcmpl-1", "object": kind, "created": time.Now().Unix(), "model": root["model"], "choices": []object{choice}, "usage": usage}
	}
	if !stream {
		fmt.Fprint(w, encode(head("chat.completion", object{"message": message, "finish_reason": reason})))
		return
	}
	first := head("chat.completion.chunk", object{"delta": message, "finish_reason": nil})
	delete(first, "usage")
	event(w, "", first)
	event(w, "", head("chat.completion.chunk", object{"delta": object{}, "finish_reason": reason}))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// gemini is the protocol of generateContent and streamGenerateContent.
type gemini struct{}

func (gemini) conversation(root object) (c conversation) {
	for _, t := range list(root["tools"]) {
		for _, f := range list(t["functionDeclarations"]) {
			schema := f["parametersJsonSchema"]
			if schema == nil {
				schema = f["parameters"]
			}
			c.tools = append(c.tools, tool{name: text(f["name"]), description: text(f["description"]), schema: schemaOf(schema)})
		}
	}
	for _, m := range list(root["contents"]) {
		if m["role"] != "user" {
			continue
		}
		result := false
		for _, part := range list(m["parts"]) {
			result = result || part["functionResponse"] != nil
		}
		if s := textOf(m["parts"]); s != "" && !result {
			c.prompt = s
		}
		c.done = result
	}
	return c
}

func (gemini) write(w io.Writer, root object, a answer, stream bool) {
	part := object{"text": a.text}
	if a.call.name != "" {
		part = object{"functionCall": object{"name": a.call.name, "args": a.args}}
	}
	if config, ok := root["generationConfig"].(object); ok && config["responseMimeType"] == "application/json" {
		part = object{"text": `{"next_speaker":"user","reasoning":"","model_choice":"flash"}`}
	}
	response := object{
		"candidates":    []object{{"content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": a.tokens, "candidatesTokenCount": outputTokens, "totalTokenCount": a.tokens + outputTokens, "cachedContentTokenCount": cachedTokens},
	}
	if stream {
		event(w, "", response)
		return
	}
	fmt.Fprint(w, encode(response))
}
