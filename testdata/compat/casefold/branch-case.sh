# A branch whose name is typed in another case: git reads the branch, so a save has its commit, and
# a resume keeps later commits.
repository repo
folds || skip 'the file system has case'
git checkout -q MAIN
echo two >a.txt
git add a.txt
cp save 42
same "$(git rev-parse 'refs/checkpoints/42^2^')" "$(git rev-parse HEAD)"
git commit -qm second
git rm -q other/d.txt
git commit -qm third
cp resume 42 --yes
[ -z "$(git status --porcelain)" ]
git checkout -q main
cp resume 42 --branch main --yes
[ -z "$(git status --porcelain)" ]
git checkout -q -b feature/issue-7
git checkout -q main
git checkout -q Feature/Issue-7
cp save --issue 7
same "$(git rev-parse 'refs/checkpoints/7^2^')" "$(git rev-parse main)"
sound 42
sound 7
