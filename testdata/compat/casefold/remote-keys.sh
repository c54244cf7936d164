# A chain of the remote whose key differs only in case is refused, and both chains stay. The
# server has a file system of its own kind.
repository repo
hub
clone other
cp save Proj-1 -m other
tip=$(git rev-parse refs/checkpoints/Proj-1)
cp sync Proj-1 --yes
cd ../repo
cp save PROJ-1 -m repo
own=$(git rev-parse refs/checkpoints/PROJ-1)
cp fetch Proj-1 && fail 'the other chain was fetched'
cp fetch --all && fail 'the other chain was fetched with all'
cp sync --all --yes && fail 'both chains were joined'
same "$(git rev-parse refs/checkpoints/PROJ-1)" "$own"
same "$(git for-each-ref --format='%(refname)' refs/checkpoints)" refs/checkpoints/PROJ-1
cp sync PROJ-1 --yes || true
same "$("$SERVER" -C ../hub rev-parse refs/checkpoints/Proj-1)" "$tip"
cd ../other
cp sync Proj-1 --yes
sound Proj-1
cd ../repo
sound PROJ-1
