// The post step of action.yml: saves the work of a job that failed or was cancelled. It
// saves nothing if `git checkpoint run` has saved the same files already, or if the work is
// complete. The files of a job that was not resumed replace no checkpoint.
'use strict'

const { spawnSync } = require('node:child_process')
const { failed, print, run, summary, variable } = require('./runner.js')

// isComplete reports whether the work is complete. If the fetch fails, the checkpoints of
// this clone decide: the work of the job is saved in spite of it.
function isComplete() {
  const resume = ['checkpoint', 'resume', '--dry-run']
  let vars
  try {
    vars = run('git', [...resume, '--ci'])
  } catch {
    vars = spawnSync('git', [...resume, '--print', 'env'], { encoding: 'utf8' }).stdout || ''
  }
  return variable(vars, 'CHECKPOINT_COMPLETE') === 'true'
}

function save() {
  if (isComplete()) return
  print(run('git', ['checkpoint', 'save', '--all', '--if-changed', '--trigger', 'session_end', '--push']))
}

try {
  if (process.env.STATE_resumed === 'true') {
    save()
    summary()
  }
} catch (error) {
  failed(error)
}
