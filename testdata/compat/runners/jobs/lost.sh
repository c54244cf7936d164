# The runner and its job are killed. The next job resumes at the last push.
project 'git checkpoint run --every 1s --push -- ./work.sh'
hanging
await hasCheckpoint
signalAll KILL
ended
job succeed
worked half
