# Staged, changed and untracked files are saved.
repository repo
echo two >a.txt
git add a.txt
cp save 42
saved 42
echo three >dir/b.txt
cp save 42
saved 42
echo new >new.txt
printf 'umlaut' >"ä b.txt"
cp save 42
saved 42
git rm -q --cached other/d.txt
cp save 42
saved 42
git reset -q --hard
git clean -qfd
cp restore 42
grep three dir/b.txt
grep new new.txt
grep umlaut "ä b.txt"
