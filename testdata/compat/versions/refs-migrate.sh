# The refs move to the other format and back.
needs 48 # before, git migrates no repository with reflogs
other=files
[ "$REFS" = files ] && other=reftable
repository repo
cp save 42
git refs migrate --ref-format=$other
cp save 42 --no-prune
saved 42
git refs migrate --ref-format=$REFS
cp save 42 --no-prune
saved 42
same "$(ids 42 | wc -l | tr -d ' ')" 3
