# dulwich reads all commits and the record of a chain, and finds no fault in its objects.
python=$(python dulwich)
echo "program: dulwich $("$python" -c 'import dulwich; print(".".join(map(str, dulwich.__version__)))')"
chain
cat >../read.py <<'END'
import sys
from dulwich.repo import Repo
repo = Repo(".")
tip = repo.refs[b"refs/checkpoints/42"]
print(sum(1 for _ in repo.get_walker([tip])))
for name in repo.object_store:
    repo[name].check()
commit = repo[sys.argv[1].encode()]
_, blob = repo[commit.tree][b"checkpoint.yaml"]
open("../read.yaml", "wb").write(repo[blob].data)
END
same "$("$python" ../read.py "$RECORD")" "$COMMITS"
cmp ../read.yaml ../record.yaml
