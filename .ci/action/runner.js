// What both steps of action.yml need of GitHub's runner.
'use strict'

const { appendFileSync } = require('node:fs')
const { spawnSync } = require('node:child_process')

// input returns an input of action.yml, without the white space around it.
function input(name) {
  const value = (process.env['INPUT_' + name.toUpperCase()] || '').trim()
  if (/[\r\n]/.test(value)) throw new Error(`input ${name}: it has more than one line`)
  return value
}

// run returns the standard output of a program, or fails with its exit code.
function run(program, args) {
  const { error, status, signal, stdout } = spawnSync(program, args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${signal || 'exit code ' + status}`)
  return stdout
}

// summary adds the state of the work to the summary of the job. An issue without a
// checkpoint (exit code 3) has none.
function summary() {
  const { status, stdout } = spawnSync('git', ['checkpoint', 'status', '--markdown'], { encoding: 'utf8' })
  if (status === 0 && process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, stdout + '\n')
}

// failed ends the step with an error that the log marks.
function failed(error) {
  const text = error.message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  console.log('::error::git-checkpoint: ' + text)
  process.exitCode = 1
}

module.exports = { failed, input, run, summary }
