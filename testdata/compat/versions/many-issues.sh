# Many issues are pushed and fetched together.
repository repo
hub
cp save 1
tip=$(git rev-parse refs/checkpoints/1)
n=2
while [ $n -le 30 ]; do
	cp save $n -q
	n=$((n + 1))
done
cp push --all --yes
clone other
cp fetch --all
same "$(git for-each-ref refs/checkpoints | wc -l | tr -d ' ')" 30
same "$(git rev-parse refs/checkpoints/1)" "$tip"
cp sync --all --yes
cp verify
