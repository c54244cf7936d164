# git-branchless beside checkpoints: the refs stay.
installed git branchless --version
echo "program: $(git branchless --version)"
chain
before=$(checkpointRefs)
git branchless init
git commit -qam two
git branchless move --insert -s HEAD -d main || true
git branchless undo -y || true
git branchless gc
same "$(checkpointRefs)" "$before"
cp save 42 --no-prune
sound 42
