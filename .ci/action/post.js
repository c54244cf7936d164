// The post step of action.yml: saves the work of a job that failed or was cancelled. It
// saves nothing if `git checkpoint run` has saved the same files already, or if the work is
// complete. The files of a job that was not resumed replace no checkpoint.
'use strict'

const { failed, print, run, summary, variable } = require('./runner.js')

function save() {
  const state = run('git', ['checkpoint', 'resume', '--ci', '--dry-run'])
  if (variable(state, 'CHECKPOINT_COMPLETE') === 'true') return
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
