#!/usr/bin/env node
// Starts the program, which is in the npm package for this system.
'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')
const { isatty } = require('node:tty')

const name = `git-checkpoint-${process.platform}-${process.arch}`
let dir
try {
  dir = path.dirname(require.resolve(`${name}/package.json`))
} catch {
  console.error(`git-checkpoint: the npm package ${name} is not installed; npm omits it with --omit=optional`)
  process.exit(1)
}

const child = spawn(path.join(dir, 'bin', 'git-checkpoint'), process.argv.slice(2), { stdio: 'inherit' })
// A terminal signals the program too, and another sender may signal git, this process and the
// program: the program takes an early copy for the same signal, but not two.
const passed = {}
const pass = (signal) => {
  const now = Date.now()
  if (signal !== 'SIGTERM' && (isatty(0) || process.platform === 'win32')) return
  if (now - (passed[signal] ?? 0) >= 200) child.kill(signal)
  passed[signal] = now
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass)
child.on('error', (error) => {
  console.error(`git-checkpoint: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
