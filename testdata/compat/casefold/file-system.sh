# The file system has the properties that the other scripts rely on.
repository repo
config() { git config --bool --default "$2" "core.$1"; }
if folds; then
	same "$(cat A.TXT)" one
	same "$(config ignorecase false)" true
else
	[ ! -e A.TXT ]
	same "$(config ignorecase false)" false
fi
if [ "$FILES" = vfat ]; then
	same "$(config symlinks true)" false
	same "$(config filemode true)" false
	ln a.txt link && fail 'vfat has hard links'
else
	ln a.txt link
	same "$(config filemode true)" true
fi
git fsck --strict
