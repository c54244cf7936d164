package hook

import "strings"

// InstallPlugin returns the text of the agent's plugin file.
func (a *Agent) InstallPlugin(turns bool) string {
	text := a.Plugin
	if !turns {
		text = strings.Replace(text, "const turns = true", "const turns = false", 1)
	}
	return PluginMark.Sign(text)
}

// PluginMark marks a plugin file.
var PluginMark = Mark{"\n// written by git checkpoint hooks install; checksum ", "\n"}

// opencodePlugin gives opencode the state of the work in its system prompt, and saves when
// a session becomes idle and before a compaction.
const opencodePlugin = `// git-checkpoint: saves the work of each turn, and tells a new session where it stands.
import { spawnSync } from "node:child_process"

const turns = true

export const GitCheckpoint = async ({ directory }) => {
  const hook = (name, session, more) =>
    spawnSync("git-checkpoint", ["hook", name, "opencode"], {
      cwd: directory,
      input: JSON.stringify({ session_id: session, cwd: directory, ...more }),
      encoding: "utf8",
      timeout: 30000,
    }).stdout || ""
  const state = new Map()
  // the messages of each session since its last request: their tokens and texts
  const messages = new Map()
  const note = (type, { info, part }) => {
    const id = info?.sessionID ?? part?.sessionID
    if (type === "message.updated") {
      if (!messages.has(id) || (info.role === "user" && !messages.get(id).has(info.id))) messages.set(id, new Map())
      const { role, modelID, tokens } = info
      messages.get(id).set(info.id, { parts: new Map(), ...messages.get(id).get(info.id), id: info.id, role, modelID, tokens })
    }
    if (type === "message.part.updated" && part.type === "text" && !part.synthetic)
      messages.get(id)?.get(part.messageID)?.parts.set(part.id, part.text)
  }
  const lastTurn = (id) => {
    const list = [...(messages.get(id)?.values() ?? [])]
    return { turn: list[0]?.id, messages: list.map(({ parts, ...m }) => ({ ...m, content: [...parts.values()].join("\n") })) }
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID || ""
      if (!state.has(session)) state.set(session, hook("session-start", session))
      if (state.get(session)) output.system.push(state.get(session))
    },
    "experimental.session.compacting": async (input) => {
      hook("pre-compact", input.sessionID)
    },
    event: async ({ event }) => {
      note(event.type, event.properties)
      if (turns && event.type === "session.idle") hook("turn", event.properties.sessionID, lastTurn(event.properties.sessionID))
    },
  }
}
`

// piPlugin gives pi the state of the work in its system prompt, and saves at the end of a
// turn and of the session, and before a compaction.
const piPlugin = `// git-checkpoint: saves the work of each turn, and tells a new session where it stands.
import { spawnSync } from "node:child_process"

const turns = true

export default function (pi: any) {
  const hook = (name: string, ctx: any) =>
    spawnSync("git-checkpoint", ["hook", name, "pi"], {
      cwd: ctx.cwd,
      input: JSON.stringify({ session_id: ctx.sessionManager?.getSessionId?.() || "", cwd: ctx.cwd }),
      encoding: "utf8",
      timeout: 30000,
    }).stdout || ""
  let state: string | undefined
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    state ??= hook("session-start", ctx)
    if (state) return { systemPrompt: event.systemPrompt + "\n\n" + state }
  })
  pi.on("agent_end", async (_: any, ctx: any) => {
    if (turns) hook("turn", ctx)
  })
  pi.on("session_before_compact", async (_: any, ctx: any) => {
    hook("pre-compact", ctx)
  })
  pi.on("session_shutdown", async (_: any, ctx: any) => {
    hook("session-end", ctx)
  })
}
`
