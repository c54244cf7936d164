# A save during a merge with conflicts, and a restore that merges.
repository repo
git checkout -q -b side
echo side >a.txt
git commit -qam side
git checkout -q main
echo main >a.txt
git commit -qam main
code 1 git merge -q side
cp save 42
sound 42
git merge --abort
echo staged >a.txt
git add a.txt
cp save 43
git reset -q --hard
git worktree add -q -b other ../other # which has not seen the checkpoint
cd ../other
echo mine >a.txt
code 1 cp restore 43 --changed merge --yes
same "$(git ls-files -u | wc -l | tr -d ' ')" 3
cp undo 43
grep mine a.txt
sound 43
