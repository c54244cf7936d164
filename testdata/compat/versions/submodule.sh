# A submodule; its git directory has an encoded name if git knows that.
[ -z "$SYSTEM" ] || exit 77 # windows-git builds no git submodule
repository lib
cd ..
repository repo
git config init.defaultSubmodulePathConfig true
if [ "$MINOR" -ge 54 ]; then
	git config core.repositoryFormatVersion 1
	git config extensions.submodulePathConfig true
fi
git -c protocol.file.allow=always submodule --quiet add ../lib dir/lib
cp save 42
saved 42
git commit -qm submodule
git -C dir/lib -c user.name=a -c user.email=a@b commit -q --allow-empty -m two
git add dir/lib
cp save 42
saved 42
want=$(git write-tree)
git reset -q --hard
cp restore 42
same "$(git write-tree)" "$want"
cd dir/lib
configure
cp save 7
saved 7
