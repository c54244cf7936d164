# Changes within the resolution of the file system's times are saved and restored.
repository repo
n=10
while [ $n -lt 20 ]; do
	echo $n >a.txt
	git add a.txt
	echo $((n + 50)) >a.txt
	echo $((n + 60)) >dir/b.txt
	cp save 42 --no-prune
	same "$(git cat-file blob refs/checkpoints/42:staged/a.txt)" $n
	same "$(git cat-file blob refs/checkpoints/42:worktree/a.txt)" $((n + 50))
	same "$(git cat-file blob refs/checkpoints/42:worktree/dir/b.txt)" $((n + 60))
	git reset -q --hard
	cp restore 42
	same "$(cat a.txt)" $((n + 50))
	same "$(git cat-file blob :a.txt)" $n
	same "$(cat dir/b.txt)" $((n + 60))
	same "$(git diff-files --name-only | wc -l | tr -d ' ')" 2
	cp undo 42
	[ -z "$(git status --porcelain)" ]
	same "$(cat a.txt)" one
	n=$((n + 1))
done
sound 42
