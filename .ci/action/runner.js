// What both steps of action.yml need of GitHub's runner.
'use strict'

const { appendFileSync, writeSync } = require('node:fs')
const { spawnSync } = require('node:child_process')

// input returns an input of action.yml, without the white space around it.
function input(name) {
  const value = (process.env['INPUT_' + name.toUpperCase()] || '').trim()
  if (/[\r\n]/.test(value)) throw new Error(`input ${name}: it has more than one line`)
  return value
}

// print writes output of git-checkpoint to the log. On a runner, none of its lines is a
// command such as ::add-mask::.
function print(text) {
  writeSync(1, text)
}

// run returns the standard output of a program, or fails with its exit code.
function run(program, args) {
  const options = { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }
  const { error, status, signal, stdout } = spawnSync(program, args, options)
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${signal || 'exit code ' + status}`)
  return stdout
}

// variable returns the value of a variable in the output of `resume --ci`. The first line
// with the name counts, because later lines can be texts of the checkpoint.
function variable(vars, name) {
  return vars.match(new RegExp(`^${name}=(.*)$`, 'm'))?.[1]
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

module.exports = { failed, input, print, run, summary, variable }
