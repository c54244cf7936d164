# A job with the checksum of another archive fails before its work, and names both checksums.
right=$SHA256
SHA256=$(printf %s "$right" | tr 0-9a-f 1-9a-f0)
project ./work.sh
code 1 job succeed
! grep 'work: ' log || fail 'the work ran'
grep "its checksum is $right, and not $SHA256" log
