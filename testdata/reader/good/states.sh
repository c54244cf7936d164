# States of index and worktree: a merge with conflicts, a detached and an unborn HEAD, a
# submodule, files that are left out, paths with any bytes.
. "$GOOD/begin.sh"
new
checkpoint save 42 -m 'nothing changed'
git checkout -q --detach
checkpoint save 42 -m detached
git checkout -q issue-42
git checkout -qb other
echo other >both.txt
git rm -q deleted.txt
git commit -qam other
git checkout -q issue-42
echo mine >both.txt
echo mine >deleted.txt
git commit -qam mine
git merge other >/dev/null 2>&1 || true
checkpoint save 42 -m 'merge with conflicts'
git reset -q --hard
git init -q ../sub
git -C ../sub commit -q --allow-empty -m sub
git -c protocol.file.allow=always submodule --quiet add ../sub sub
checkpoint save 42 -m 'a submodule'
git rm -q --cached modified.txt
echo intended >intended.txt
git add -N intended.txt
checkpoint save 42 -m 'kept and intended files'
git init -q inner
git -C inner commit -q --allow-empty -m inner
checkpoint save 42 -m 'a repository inside'
head -c 2000000 /dev/urandom >large.bin
git -c checkpoint.limits.file-kb=100 checkpoint save 42 -m 'a large file' >/dev/null 2>&1
git add large.bin
git -c checkpoint.limits.checkpoint-mb=1 checkpoint save 42 -m 'a large staged file' >/dev/null 2>&1
git rm -q --cached large.bin
rm large.bin
mkdir many
for i in 1 2 3 4 5 6 7 8; do echo $i >many/$i; done
git -c checkpoint.limits.untracked-files=3 checkpoint save 42 -m 'too many files' >/dev/null 2>&1
echo x >"$(printf 'caf\351.txt')"
echo x >'"quoted".txt'
echo x >"$(printf 'new\nline.txt')"
echo x >-dash
git add -- -dash
git update-index --skip-worktree 'a name.txt'
git update-index --assume-unchanged both.txt
checkpoint save 42 -m 'strange names'
cd "$top"
git init -q -b main unborn
cd unborn
settings
echo one >one.txt
git add one.txt
checkpoint save 42 -m 'no commit yet'
