# libgit2 reads all commits and the record of a chain.
python=$(python pygit2)
echo "program: libgit2 $("$python" -c 'import pygit2; print(pygit2.LIBGIT2_VERSION)')"
chain
cat >../read.py <<'END'
import pygit2, sys
repo = pygit2.Repository(".")
tip = repo.references["refs/checkpoints/42"].peel(pygit2.Commit)
print(sum(1 for _ in repo.walk(tip.id, pygit2.GIT_SORT_TOPOLOGICAL)))
open("../read.yaml", "wb").write(repo[repo[sys.argv[1]].tree["checkpoint.yaml"].id].data)
END
same "$("$python" ../read.py "$RECORD")" "$COMMITS"
cmp ../read.yaml ../record.yaml
cp save 42 --no-prune
sound 42
