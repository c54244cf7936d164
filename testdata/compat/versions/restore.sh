# A restore brings files and index back, and undo reverts it.
repository repo
echo two >a.txt
git add a.txt
git rm -q other/d.txt
want=$(git write-tree)
cp save 42
git reset -q --hard
cp restore 42
same "$(git write-tree)" "$want"
grep two a.txt
[ ! -e other/d.txt ]
cp undo 42
[ -z "$(git status --porcelain)" ]
cp resume 42 --yes
same "$(git write-tree)" "$want"
sound 42
