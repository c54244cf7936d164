# A checkpoint in which files and a folder have names in another case: a restore and its undo
# leave the files of the index.
repository repo
git mv a.txt tmp
git mv tmp A.txt
git mv dir tmp
git mv tmp Dir
echo two >A.txt
git add A.txt
staged=$(git write-tree)
cp save 42
git reset -q --hard
[ -z "$(git status --porcelain)" ]
cp restore 42
same "$(git write-tree)" "$staged"
same "$(cat A.txt)" two
same "$(cat Dir/sub/c.txt)" one
[ -z "$(git diff-files --name-only)" ]
ls | grep -x A.txt
ls | grep -x Dir
same "$(git ls-files --others --exclude-standard)$(cp restore 42 --dry-run | grep -c Dir || true)" 0
cp undo 42
[ -z "$(git status --porcelain)" ]
same "$(cat a.txt)" one
same "$(cat dir/sub/c.txt)" one
ls | grep -x a.txt
ls | grep -x dir
sound 42
