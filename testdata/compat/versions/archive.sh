# The end of a workflow archives its checkpoints in each clone.
repository repo
hub
cp start 42 --phases 2
cp phase done 1 --issue 42
cp sync 42 --yes
clone other
cp fetch 42
cp phase done 2 --issue 42
cp finish 42 --push
code 3 cp list 42
cd ../repo
cp sync 42 --yes
code 3 cp list 42
cp list 42 --archived | grep CP-
cp undo 42 || true
cp save 43
cp archive 43
cp list 43 --archived | grep CP-
cp undo 43
cp list 43 | grep CP-
git fsck --strict --no-dangling
