# All processes of the runner get SIGTERM. `git checkpoint run` saves and pushes.
project 'git checkpoint run --push -- ./work.sh'
hanging
signalAll TERM
ended
job succeed
worked half
