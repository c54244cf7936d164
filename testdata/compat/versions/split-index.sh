# A split index.
repository repo
git update-index --split-index
echo two >a.txt
git add a.txt
cp save 42
saved 42
echo three >dir/b.txt
git add dir/b.txt
cp save 42
saved 42
git reset -q --hard
cp restore 42
grep three dir/b.txt
sound 42
