# run returns the exit code of the command. At its time limit, it saves, and ends the
# command with all its children.
repository repo
code 3 cp run 42 -- sh -c 'exit 3'
echo two >a.txt
git add a.txt
child='while true; do echo alive >>../alive; done'
cp run 42 --timeout 5s -- sh -c "sh -c '$child'; echo ended" && fail 'the command ended by itself'
before=$(wc -c <../alive)
sleep 2
same "$(wc -c <../alive)" "$before"
cp list 42 | grep CP-
saved 42
