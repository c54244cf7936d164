# A drop and a pin of two clones are joined.
repository repo
hub
for m in one two three; do cp save 42 -m $m --no-prune; done
cp sync 42 --yes
first=$(ids 42 | tail -n 1)
clone other
cp fetch 42
cp drop 42 "$first" --yes
cp save 42 -m four --no-prune
cp sync 42 --yes
cd ../repo
cp pin 42 latest
cp sync 42 --yes
cp list 42 | grep "$first" && fail 'a dropped checkpoint came back'
cd ../other
cp sync 42 --yes
same "$(git rev-parse refs/checkpoints/42)" "$(git -C ../repo rev-parse refs/checkpoints/42)"
cp list 42 --json | grep '"pinned":true'
sound 42
