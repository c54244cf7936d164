# Linked worktrees share the checkpoints.
repository repo
git worktree add -q -b issue-42 ../linked
cd ../linked
echo two >a.txt
git add a.txt
cp save
saved 42
cd ../repo
cp list 42 | grep CP-
cp save 42
cd ../linked
git reset -q --hard
cp restore 42 latest~1
grep two a.txt
cd ../repo
git worktree remove --force ../linked
cp save 42
sound 42
