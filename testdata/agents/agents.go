package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// An agent is a program from npm, and how to run it with the server as its model. prepare
// writes the user's settings and sets variables; the other functions return command lines,
// without the program.
type agent struct {
	name, pkg string
	needsNode string // smallest major version of Node.js, "" if any is enough
	global    bool   // its hooks run in subdirectories and worktrees only from the user's settings
	prepare   func(*world) error
	once      func(prompt string) []string     // run one prompt without a terminal
	again     func(id, prompt string) []string // the same in a former session
	screen    func(prompt string) []string     // run in a terminal with a first prompt
	compact   func(w *world) ([]string, error) // run a prompt that ends in a compaction
	late      time.Duration                    // between a closed terminal and the last hook
}

var agents = []agent{
	{
		name: "claude", pkg: "@anthropic-ai/claude-code", needsNode: "22", global: true, prepare: prepareClaude,
		once: func(p string) []string { return []string{"-p", p, "--allowedTools", "Bash,Agent,Task"} },
		again: func(id, p string) []string {
			return []string{"--resume", id, "-p", p, "--allowedTools", "Bash,Agent,Task"}
		},
		screen: func(p string) []string { return []string{p, "--allowedTools", "Bash,Agent,Task"} },
		compact: func(w *world) ([]string, error) {
			_, err := w.run(w.agent.once("%run{echo before >before.txt} first step")...)
			return []string{"-c", "-p", "/compact"}, err
		},
	},
	{
		name: "codex", pkg: "@openai/codex", global: true, prepare: prepareCodex, late: 90 * time.Second, // its daemon goes on
		once:  func(p string) []string { return append(codexExec, p) },
		again: func(id, p string) []string { return append(codexExec, "resume", id, p) },
		screen: func(p string) []string {
			return []string{"--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", p}
		},
	},
	{
		name: "gemini", pkg: "@google/gemini-cli", global: true, prepare: prepareGemini,
		once:   func(p string) []string { return []string{"--approval-mode", "yolo", "-p", p} },
		again:  func(id, p string) []string { return []string{"--approval-mode", "yolo", "--resume", id, "-p", p} },
		screen: func(p string) []string { return []string{"--approval-mode", "yolo", "-i", p} },
	},
	{
		name: "opencode", global: true, pkg: "opencode-ai", prepare: prepareOpencode,
		once:   func(p string) []string { return []string{"run", "-m", "test/" + modelName, p} },
		again:  func(id, p string) []string { return []string{"run", "-m", "test/" + modelName, "--session", id, p} },
		screen: func(p string) []string { return []string{"-m", "test/" + modelName, "--prompt", p} },
	},
	{
		name: "copilot", global: true, pkg: "@github/copilot", prepare: prepareCopilot,
		once: func(p string) []string { return []string{"-p", p, "--allow-all-tools", "--trust-folder"} },
		again: func(id, p string) []string {
			return []string{"--resume", id, "-p", p, "--allow-all-tools"}
		},
		screen: func(p string) []string { return []string{"-i", p, "--allow-all-tools"} },
	},
	{
		name: "qwen", pkg: "@qwen-code/qwen-code", needsNode: "22", global: true, prepare: prepareQwen,
		once: func(p string) []string { return []string{"--auth-type", "openai", "--yolo", "-p", p} },
		again: func(id, p string) []string {
			return []string{"--auth-type", "openai", "--yolo", "--resume", id, "-p", p}
		},
		screen: func(p string) []string { return []string{"--auth-type", "openai", "--yolo", "-i", p} },
	},
	{
		name: "droid", global: true, pkg: "droid", prepare: prepareDroid,
		once: func(p string) []string { return []string{"exec", "--auto", "high", "-m", droidModel, p} },
		again: func(id, p string) []string {
			return []string{"exec", "--auto", "high", "-m", droidModel, "--session-id", id, p}
		},
		screen: func(p string) []string { return []string{p} },
	},
	{
		name: "pi", global: true, pkg: "@mariozechner/pi-coding-agent", prepare: preparePi,
		once: func(p string) []string { return []string{"--provider", "test", "--model", modelName, "-p", p} },
		again: func(id, p string) []string {
			return []string{"--provider", "test", "--model", modelName, "--session", id, "-p", p}
		},
		screen: func(p string) []string { return []string{"--provider", "test", "--model", modelName, p} },
	},
}

var codexExec = []string{"exec", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"}

// droidModel is the id that droid gives to the only model in the user's settings.
const droidModel = "custom:Test-0"

func prepareClaude(w *world) error {
	w.set("ANTHROPIC_BASE_URL", w.server.url())
	w.set("ANTHROPIC_API_KEY", "test-key-of-the-model-server")
	w.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
	w.set("DISABLE_AUTOUPDATER", "1")
	trusted := object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}
	return w.file(".claude.json", encode(object{
		"hasCompletedOnboarding": true, "theme": "dark", "projects": object{w.repo: trusted, w.place(): trusted},
		"customApiKeyResponses": object{"approved": []string{"-of-the-model-server"[:20]}},
	}))
}

func prepareCodex(w *world) error {
	w.set("TEST_API_KEY", "test")
	return w.file(".codex/config.toml", fmt.Sprintf(`model = %q
model_provider = "test"
check_for_update_on_startup = false
model_auto_compact_token_limit = 100000
model_context_window = 200000
[model_providers.test]
name = "test"
base_url = "%s/v1"
wire_api = "responses"
env_key = "TEST_API_KEY"
[projects.%q]
trust_level = "trusted"
[projects.%q]
trust_level = "trusted"
`, modelName, w.server.url(), w.repo, w.place()))
}

func prepareGemini(w *world) error {
	w.set("GOOGLE_GEMINI_BASE_URL", w.server.url())
	w.set("GEMINI_API_KEY", "test")
	w.set("GEMINI_CLI_TRUST_WORKSPACE", "true")
	w.set("GEMINI_CLI_NO_RELAUNCH", "true")
	return w.file(".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false}}`)
}

func prepareOpencode(w *world) error {
	w.set("OPENCODE_DISABLE_AUTOUPDATE", "1")
	w.set("OPENCODE_DISABLE_MODELS_FETCH", "1")
	return w.file(".config/opencode/opencode.json", encode(object{
		"model": "test/" + modelName, "small_model": "test/" + modelName, "autoupdate": false, "share": "disabled", "permission": "allow",
		"provider": object{"test": object{
			"npm": "@ai-sdk/openai-compatible", "name": "test", "options": object{"baseURL": w.server.url() + "/v1", "apiKey": "test"},
			"models": object{modelName: object{"name": modelName, "tool_call": true, "limit": object{"context": 100000, "output": 1000}}},
		}},
	}))
}

func prepareCopilot(w *world) error {
	w.set("COPILOT_OFFLINE", "true")
	w.set("COPILOT_PROVIDER_BASE_URL", w.server.url()+"/v1")
	w.set("COPILOT_PROVIDER_API_KEY", "test")
	w.set("COPILOT_MODEL", modelName)
	w.set("COPILOT_AUTO_UPDATE", "false")
	return w.file(".copilot/config.json", encode(object{"trusted_folders": []string{w.repo, w.place()}, "trustedFolders": []string{w.repo, w.place()}}))
}

func prepareQwen(w *world) error {
	w.set("OPENAI_BASE_URL", w.server.url()+"/v1")
	w.set("OPENAI_API_KEY", "test")
	w.set("OPENAI_MODEL", modelName)
	return w.file(".qwen/settings.json", `{"security":{"auth":{"selectedType":"openai"}},"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false}}`)
}

func prepareDroid(w *world) error {
	w.set("FACTORY_API_KEY", "fk-test")
	w.set("FACTORY_API_BASE_URL", w.server.url())
	return w.file(".factory/settings.json", encode(object{
		"autoUpdate": false, "model": droidModel,
		"customModels": []object{{
			"model": modelName, "displayName": "Test", "id": droidModel, "index": 0, "baseUrl": w.server.url() + "/v1", "apiKey": "test",
			"provider": "generic-chat-completion-api", "maxOutputTokens": 1000,
		}},
	}))
}

func preparePi(w *world) error {
	w.set("PI_OFFLINE", "1")
	w.set("PI_SKIP_VERSION_CHECK", "1")
	return w.file(".pi/agent/models.json", encode(object{"providers": object{"test": object{
		"baseUrl": w.server.url() + "/v1", "apiKey": "test", "api": "openai-completions",
		"models": []object{{"id": modelName, "name": modelName, "contextWindow": 100000, "maxTokens": 1000, "input": []string{"text"}, "reasoning": false}},
	}}}))
}

// file writes a file of the user's home directory.
func (w *world) file(name, text string) error {
	path := filepath.Join(w.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// agentNamed returns the agent with a name, or nil.
func agentNamed(name string) *agent {
	for i := range agents {
		if agents[i].name == name {
			return &agents[i]
		}
	}
	return nil
}

func agentNames() string {
	var names []string
	for _, a := range agents {
		names = append(names, a.name)
	}
	return strings.Join(names, ",")
}
