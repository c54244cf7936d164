# jj, which reads with gitoxide, beside checkpoints: the refs stay.
installed jj --version
echo "program: $(jj --version), with gitoxide"
export JJ_USER=ann JJ_EMAIL=ann@example.com
chain
before=$(checkpointRefs)

# a branch makes the chain visible to jj, which reads refs/heads only
git branch probe refs/checkpoints/42
git commit -qam two
jj git init --colocate
same "$(jj log --no-graph -r '::probe' -T '"c\n"' | grep -c c)" $((COMMITS + 1))
jj file show -r "$RECORD" root:checkpoint.yaml >../read.yaml
cmp ../read.yaml ../record.yaml
git branch -D probe
jj git import

jj new -m work
echo three >a.txt
jj status
[ -z "$(git diff --cached --name-only)" ] && echo 'note: jj stages nothing, so a checkpoint has no staged files'
[ -n "$(git symbolic-ref -q HEAD)" ] || echo 'note: HEAD is detached'
cp save 42 --no-prune
jj describe -m described
jj commit -m next
jj undo
jj util gc
sound 42
git for-each-ref refs/jj | grep -q . && echo 'note: jj keeps its commits in refs/jj/keep/'
for ref in $(printf '%s\n' "$before" | grep -v refs/checkpoints/42 | grep -v refs/git-checkpoint/own | cut -d' ' -f1); do
	git rev-parse -q --verify "$ref"
done
same "$(git rev-parse refs/checkpoints/42)" "$(git rev-parse refs/git-checkpoint/own/42)"
cp restore 42 --dry-run --branch "$(git branch --show-current)" || true
git show 'refs/checkpoints/42:checkpoint.yaml' >/dev/null
git ls-tree -r --name-only refs/checkpoints/42 | grep a.txt
