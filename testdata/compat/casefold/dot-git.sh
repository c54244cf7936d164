# A checkpoint with a path that means .git on this file system is refused, and the
# repository is unchanged.
n=0
for name in .GIT .Git GIT~1 git~1 .git. '.git '; do
	n=$((n + 1))
	(
		repository "repo$n"
		cp save 42
		cat .git/config >../config
		blob=$(printf '[core]\n\tfsmonitor = touch /tmp/hacked\n' | git hash-object -w --stdin)
		below=$(printf '100644 blob %s\tconfig\n' "$blob" | git mktree)
		staged=$(printf '040000 tree %s\t%s\n' "$below" "$name" | git mktree)
		tree=$(git ls-tree refs/checkpoints/42 | sed "s/[0-9a-f]*\tstaged$/$staged\tstaged/" | git mktree)
		commit=$(git cat-file commit refs/checkpoints/42 | sed "s/^tree .*/tree $tree/" | git hash-object -t commit -w --stdin)
		git update-ref refs/checkpoints/42 "$commit"
		git update-ref -d refs/git-checkpoint/own/42
		cp restore 42 --force && fail "$name was restored"
		cmp .git/config ../config
		[ ! -e "$name/config" ] || cmp "$name/config" ../config
		cp verify 42 && fail "$name is valid"
		git status
	)
done
[ ! -e /tmp/hacked ]
