# Keys of issues that differ only in case would be the same file. Names that Windows
# reserves are no keys.
repository repo
cp save Proj-1
code 8 cp save PROJ-1
cp list Proj-1 | grep CP-
for key in aux con nul com1.x; do
	code 2 cp save $key
done
cp verify
git fsck --strict --no-dangling
