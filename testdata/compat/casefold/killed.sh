# Saves and restores that are killed at any time leave no lock that blocks git or the program.
repository repo
echo two >a.txt
git rm -q other/d.txt
git add a.txt
staged=$(git write-tree)
cp save 42
restored() {
	cp restore 42 --force
	same "$(git write-tree)" "$staged"
	same "$(cat a.txt)" two
}

# The restore is killed while git prepares the files, so the index is locked.
git reset -q --hard
echo 'a.txt filter=slow' >.git/info/attributes
git config filter.slow.smudge "touch '$PWD/../started'; sleep 3; cat"
git-checkpoint restore 42 --force &
pid=$!
until [ -e ../started ]; do sleep 0.1; done
kill -9 $pid
wait $pid || true
[ -e .git/index.lock ]
sleep 4
git config --unset filter.slow.smudge
restored
[ ! -e .git/index.lock ]

for wait in 0.1 0.2 0.3 0.4 0.5 0.6 0.8 1.0 1.2; do
	git-checkpoint save 42 -m "$wait" --no-prune >/dev/null 2>&1 &
	pid=$!
	sleep $wait
	kill -9 $pid 2>/dev/null || true
	wait $pid || true
	cp save 42 -m after --no-prune
	git reset -q --hard
	git-checkpoint restore 42 --force >/dev/null 2>&1 &
	pid=$!
	sleep $wait
	kill -9 $pid 2>/dev/null || true
	wait $pid || true
	sleep 1 # a git process of the killed restore ends
	restored
done
sound 42
