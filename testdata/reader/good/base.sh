# The chain that the test damages: five checkpoints with files of each kind above a ledger
# commit, an archive of three, and a branch other that no checkpoint knows.
. "$GOOD/begin.sh"
new
git branch other
git commit -q --allow-empty -m second
checkpoint start 42 --phases design,build
checkpoint phase start design
checkpoint save -m 'to be archived'
change one
echo output >result.out
ln -s staged.txt link
checkpoint save --artifact result.out -m 'first note'
checkpoint archive 42 latest~1 latest~2 latest~3
checkpoint pin 42 latest
change two
turn 'a request'
change three
checkpoint save -m 'a middle note'
blob=$(git rev-parse :both.txt)
printf '0 %s\tboth.txt\n100644 %s 1\tboth.txt\n100644 %s 2\tboth.txt\n' "$(echo $blob | tr '0-9a-f' 0)" $blob $blob |
	git update-index --index-info
checkpoint save -m 'a conflict note'
git add both.txt
checkpoint save --staged -m 'staged note'
head -c 70000 /dev/zero >large.bin
echo later >dir/later.txt
git -c checkpoint.limits.file-kb=50 checkpoint save -q -m 'newest note' >/dev/null 2>&1
