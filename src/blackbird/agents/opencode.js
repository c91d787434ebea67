// Tells the recorder what each tool of opencode did. `blackbird run` names this plugin to opencode for one run.

import { spawn } from "node:child_process"

const command = JSON.parse(process.env.BLACKBIRD_HOOK ?? "[]")
// A hook takes some milliseconds; one that does not end is nobody's reason to wait.
const PATIENCE_MS = 1000

function tell(told) {
  if (command.length === 0) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    try {
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "ignore", "ignore"] })
      child.on("error", done)
      child.on("close", done)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(told))
    } catch {
      done()
    }
  })
}

export const Blackbird = async ({ directory }) => {
  const began = new Map()
  const about = (input) => ({
    session_id: input.sessionID,
    tool_name: input.tool,
    tool_use_id: input.callID,
    cwd: directory,
  })
  return {
    "tool.execute.before": async (input, output) => {
      began.set(input.callID, Date.now())
      await tell({ hook_event_name: "PreToolUse", ...about(input), tool_input: output.args })
    },
    "tool.execute.after": async (input, output) => {
      const start = began.get(input.callID)
      began.delete(input.callID)
      await tell({
        hook_event_name: "PostToolUse",
        ...about(input),
        tool_input: input.args,
        tool_response: { output: output.output, metadata: output.metadata },
        duration_ms: start === undefined ? undefined : Date.now() - start,
      })
    },
  }
}
