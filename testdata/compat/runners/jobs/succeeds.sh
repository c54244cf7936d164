# A job that succeeds has nothing to resume, and nothing is saved.
project ./work.sh
job succeed
worked new
! hasCheckpoint || fail 'a checkpoint was saved'
