# Each trigger and each kind of file.
. "$GOOD/begin.sh"
new
git config checkpoint.triggers.agent-complete true
checkpoint start 42 --phases design,build,test
checkpoint phase start design
change one
ln -s staged.txt link
printf '#!/bin/sh\n' >run.sh
chmod +x run.sh
git add run.sh
echo output >result.out
checkpoint save --artifact result.out -m 'with an artifact'
checkpoint save --staged -m 'staged files'
turn 'first request'
change two
turn 'second request'
checkpoint phase done design
checkpoint save --trigger batch_complete --batch 2
checkpoint save --trigger agent_complete --agent dev --action build
checkpoint save --trigger conflict_start --conflict CONF-1
checkpoint save --trigger conflict_resolved --conflict CONF-1
checkpoint save --trigger interval
git checkpoint run 42 -- sh -c 'exit 3' >/dev/null 2>&1 || true
git checkpoint run 42 -- sh -c 'kill -TERM $PPID; sleep 5' >/dev/null 2>&1 || true
checkpoint save --trigger user_interrupt
checkpoint save --trigger session_end
checkpoint save --trigger of_a_later_version
checkpoint task add t1
checkpoint task add t2 --after t1
checkpoint task start t1
checkpoint task done t1
checkpoint pin 42 latest
checkpoint save --no-resume 'broken' -m 'not resumable'
checkpoint save 42 -m "several

lines
Checkpoint-Id: CP-forged-20260101T000000Z-00000000
    indented"
checkpoint pin 42 latest~2
checkpoint unpin 42 latest~2
