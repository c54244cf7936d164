// The post step of action.yml: saves the work of a job that failed or was cancelled. It
// saves nothing if `git checkpoint run` has saved the same files already, or if the work is
// complete. The files of a job that was not resumed replace no checkpoint.
'use strict'

const { spawnSync } = require('node:child_process')
const { failed, print, run, summary, variable } = require('./runner.js')

const saveArgs = ['checkpoint', 'save', '--if-changed', '--trigger', 'session_end']
const isComplete = (vars) => variable(vars, 'CHECKPOINT_COMPLETE') === 'true'

// fetchedState fetches the checkpoints, and returns the variables of the work. A failed
// connection is tried again.
function fetchedState() {
  const resume = () => run('git', ['checkpoint', 'resume', '--ci', '--dry-run'])
  try {
    return resume()
  } catch {
    return resume()
  }
}

// save saves and pushes the work unless it is complete. If the fetches fail, another job may
// have completed the work: it is saved in this clone only, and the step fails.
function save() {
  let vars
  try {
    vars = fetchedState()
  } catch (error) {
    const here = spawnSync('git', ['checkpoint', 'resume', '--dry-run', '--print', 'env'], { encoding: 'utf8' })
    if (!isComplete(here.stdout || '')) print(run('git', saveArgs))
    throw error
  }
  if (!isComplete(vars)) print(run('git', [...saveArgs, '--push=required']))
}

try {
  if (process.env.STATE_resumed === 'true') {
    save()
    summary()
  }
} catch (error) {
  failed(error)
}
