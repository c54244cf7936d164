# A name that the file system cannot store: the restore or the save fails and changes nothing,
# and other files and issues work.
repository repo
blob=$(echo colon | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$blob,a:b"
echo two >a.txt
git add a.txt
cp save 42
git reset -q --hard
if [ "$FILES" = vfat ]; then
	cp restore 42 && fail 'a:b was restored'
	cp save 'a|b' && fail 'a|b was saved'
	[ -z "$(git status --porcelain)" ]
	cp restore 42 -- a.txt
else
	cp save 'a|b'
	cp restore 42
	same "$(cat a:b)" colon
fi
same "$(cat a.txt)" two
[ -z "$(find .git -name '*.lock' -size +0)" ]
cp undo 42
[ -z "$(git status --porcelain)" ]
cp save 43
cp verify
