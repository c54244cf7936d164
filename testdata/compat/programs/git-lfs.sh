# git-lfs: pointers are saved, and prune and migrate leave checkpoints usable.
installed git lfs version
echo "program: $(git lfs version | cut -d' ' -f1)"
repository repo
git lfs install --local
git lfs track '*.bin'
head -c 100000 /dev/urandom >big.bin
git add .gitattributes big.bin
git commit -qm large
hub
git lfs push origin main || true
head -c 100000 /dev/urandom >big.bin
git add big.bin
sum=$(cksum <big.bin)
before=$(refs)
cp save 42
saved 42
git reset -q --hard
git lfs prune
cp restore 42
same "$(cksum <big.bin)" "$sum"
cp undo 42
before=$(checkpointRefs)
git lfs migrate info >/dev/null
same "$(checkpointRefs)" "$before"
echo text >large.dat
git add large.dat
git commit -qm data
git lfs migrate import --yes --include='*.dat' --include-ref=refs/heads/main
same "$(checkpointRefs)" "$before"
sound 42
echo 'note: prune keeps what checkpoints need; migrate import with --include-ref moves no ref of checkpoints'
git lfs migrate import --yes --everything --include='*.txt'
[ "$(checkpointRefs)" = "$before" ] || echo 'note: migrate import --everything rewrites checkpoints'
code=0
cp verify 42 >../verify.txt 2>&1 || code=$?
echo "note: verify exits with $code after --everything"
