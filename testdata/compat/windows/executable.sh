# The executable bit is only in the index.
repository repo
git update-index --chmod=+x a.txt
want=$(git write-tree)
cp save 42
saved 42
git reset -q --hard
cp restore 42
same "$(git write-tree)" "$want"
sound 42
