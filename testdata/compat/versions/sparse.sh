# A sparse checkout, with a sparse index if git knows it.
repository repo
git config core.sparseCheckout true
git sparse-checkout init --cone
git sparse-checkout set dir
[ ! -e other/d.txt ]
echo two >dir/b.txt
git add dir/b.txt
cp save 42
saved 42
if [ "$MINOR" -ge 32 ]; then
	git sparse-checkout init --cone --sparse-index
	echo three >dir/b.txt
	git add dir/b.txt
	cp save 42
	saved 42
fi
git reset -q --hard
cp restore 42
[ ! -e other/d.txt ]
git diff --cached --quiet && fail 'nothing restored'
sound 42
