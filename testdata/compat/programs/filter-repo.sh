# git-filter-repo rewrites the commits of checkpoints too.
installed git filter-repo --version
echo "program: git-filter-repo $(git filter-repo --version)"
chain
cp sync 42 --yes
git commit -qam two
git push -q origin main
before=$(checkpointRefs)
git filter-repo --force --path a.txt --invert-paths
[ "$(checkpointRefs)" = "$before" ] || echo 'note: moves refs/checkpoints/'
git ls-tree -r --name-only "$(git log --format=%H --grep='^checkpoint 42' refs/checkpoints/42 | head -n 1)" | grep -q staged/a.txt && echo 'note: --path a.txt leaves staged/a.txt in the checkpoints'
code=0
cp verify 42 >../verify.txt 2>&1 || code=$?
echo "note: verify exits with $code"
cat ../verify.txt

# --refs leaves checkpoints alone
clone other
cp fetch 42
before=$(checkpointRefs)
git filter-repo --force --path a.txt --invert-paths --refs refs/heads/main
same "$(checkpointRefs)" "$before"
sound 42
cp save 42 --no-prune
sound 42
echo 'note: with --refs refs/heads/main checkpoints stay, and verify finds no error'
