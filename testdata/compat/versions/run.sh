# run saves before it passes SIGTERM to the command.
[ -z "$SYSTEM" ] || exit 77 # Windows has no SIGTERM
repository repo
echo two >a.txt
git add a.txt
git checkpoint run 42 -- sleep 60 &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
	git rev-parse -q --verify refs/checkpoints/42 && break
	sleep 1
done
sleep 1
kill -TERM $pid
wait $pid && fail 'the exit code of the command is lost'
cp list 42 | grep interrupt
saved 42
code 3 git checkpoint run 42 -- sh -c 'exit 3'
sound 42
