# A partial clone fetches what it needs.
repository repo
hub
echo two >a.txt
git add a.txt
cp save 42 --push
git commit -qm two
git push -q origin main
clone partial --filter=blob:none --no-checkout
git checkout -q main
cp fetch 42
cp list 42 | grep CP-
cp show 42
echo three >dir/b.txt
git add dir/b.txt
cp save 42 --no-prune
same "$(git rev-parse refs/checkpoints/42:staged)" "$(git write-tree)"
cp sync 42 --yes
cp verify 42
cd ../repo
cp sync 42 --yes
git reset -q --hard
cp restore 42
grep three dir/b.txt
sound 42
