# A checkpoint with two files whose names differ only in case, from another system: the
# content of a file never replaces that of the other one.
repository repo
upper=$(echo upper | git hash-object -w --stdin)
lower=$(echo lower | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$upper,README" --cacheinfo "100644,$lower,readme"
git update-index --add --cacheinfo "100644,$upper,Doc/x" --cacheinfo "100644,$lower,doc/x"
both=$(git write-tree)
cp save 42
same "$(git rev-parse refs/checkpoints/42:staged)" "$both"
git reset -q --hard
if folds; then
	code 8 cp restore 42
	for file in README Doc/x; do
		same "$(cat $file)" "$(git cat-file blob ":$file" 2>/dev/null || git cat-file blob ":$(echo $file | tr RDEAM rdeam)")"
	done
	same "$(git ls-files | grep -ci '^readme$')" 1
	same "$(git ls-files | grep -ci '^doc/x$')" 1
	[ -z "$(git diff-files --name-only)" ]
else
	cp restore 42
	same "$(git write-tree)" "$both"
	same "$(cat README)" upper
	same "$(cat readme)" lower
fi
cp undo 42
[ -z "$(git status --porcelain)" ]

# Both files are tracked, and one of them exists. A save and a restore change no entry.
git read-tree "$both"
git commit -qm both
git checkout -q -f HEAD .
echo two >a.txt
git add a.txt
staged=$(git write-tree)
cp save 43
same "$(git rev-parse refs/checkpoints/43:staged)" "$staged"
before=$(cat README)
git reset -q HEAD
git checkout -q -- a.txt
cp restore 43
same "$(git write-tree)" "$staged"
same "$(cat README)" "$before"
sound 42
sound 43
