# A symlink stays a symlink in the checkpoint, also if the file system has none.
repository repo
target=$(printf a.txt | git hash-object -w --stdin)
git update-index --add --cacheinfo "120000,$target,link"
git checkout -q -- link
git commit -qm link
rm link
if [ "$FILES" = vfat ]; then printf dir/b.txt >link; else ln -s dir/b.txt link; fi
cp save 42
same "$(git ls-tree refs/checkpoints/42:worktree link | cut -c1-6)" 120000
git checkout -q -- link
cp restore 42
if [ "$FILES" = vfat ]; then same "$(cat link)" dir/b.txt; else same "$(readlink link)" dir/b.txt; fi
same "$(git diff-files --raw | cut -c1-14)" ':120000 120000'
cp undo 42
[ -z "$(git status --porcelain)" ]
sound 42
