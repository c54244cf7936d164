# The hooks push checkpoints with the branch, and do not disturb git.
[ -z "$SYSTEM" ] || exit 77 # the shell of windows-git starts no script by its first line
repository repo
hub
git checkout -q -b 42-fix
cp hooks install
git config checkpoint.hooks.pre-push push
echo two >a.txt
git add a.txt
cp save 42
git commit -qm two
git push -q origin 42-fix
same "$(git rev-parse refs/checkpoints/42)" "$("$SERVER" -C ../hub rev-parse refs/checkpoints/42)"
git checkout -q main
git checkout -q 42-fix
cp hooks uninstall
git push -q origin 42-fix:again
sound 42
