# A job finishes the work, and the next job does not run it.
project 'sh -c "./work.sh && git checkpoint save --push && git checkpoint finish --push"'
job succeed
worked new
job succeed
! grep 'work: ' log || fail 'the work ran again'
