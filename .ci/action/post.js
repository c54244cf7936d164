// The post step of action.yml: saves the work of a job that failed or was cancelled. It
// saves nothing if `git checkpoint run` has saved the same files already, or if the work is
// complete.
'use strict'

const { failed, run, summary } = require('./runner.js')

try {
  const state = run('git', ['checkpoint', 'resume', '--ci', '--dry-run'])
  if (!/^CHECKPOINT_COMPLETE=true$/m.test(state)) {
    const save = ['checkpoint', 'save', '--all', '--if-changed', '--trigger', 'session_end', '--push']
    process.stdout.write(run('git', save))
  }
  summary()
} catch (error) {
  failed(error)
}
