# An index of version 4.
repository repo
git update-index --index-version 4
echo two >dir/sub/c.txt
git add dir
cp save 42
saved 42
git reset -q --hard
cp restore 42
grep two dir/sub/c.txt
same "$(git rev-parse refs/checkpoints/42:staged)" "$(git write-tree)"
sound 42
