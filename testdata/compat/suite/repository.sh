# Compares git-checkpoint with git in a copy of REPOSITORY, a folder below TRASH. A test of
# git left TRASH behind.
top=$(cd "$TRASH/$REPOSITORY" && pwd -P)
inside=$(cd "$top" && git rev-parse --is-inside-work-tree 2>/dev/null) || exit 77
[ "$inside" = true ] && [ "$(cd "$top" && cd "$(git rev-parse --show-toplevel)" && pwd -P)" = "$top" ] || exit 77
# No file system has longer paths.
(cd "$top" && git ls-files | awk 'length > 4096 { exit 1 }') || exit 77
here=$(pwd -P)
command cp -a "$TRASH" copy # worktrees, alternates and submodules refer to neighbours
cd "copy/$REPOSITORY"
case $(cd "$(git rev-parse --absolute-git-dir)" && pwd -P) in
"$here"/copy/*) ;;
*) exit 77 ;;
esac
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.com
export GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.com

# differs TEXT: fails, unless git fsck found faults before, or git cannot write a tree or read HEAD.
differs() {
	if [ "$sound" = no ]; then
		echo 'note: refused'
		exit
	fi
	fail "$*"
}

# state: what a save may not change.
state() {
	git rev-parse HEAD
	git symbolic-ref -q HEAD
	git ls-files -s -v
	git stash list
	git status --porcelain=v2 --ignored
	git for-each-ref | grep -v checkpoint
}

sound=yes
{ git rev-parse -q --verify HEAD || git symbolic-ref -q HEAD; } >/dev/null 2>&1 || sound=no # no commit is possible
{ git fsck --no-dangling && git write-tree; } >/dev/null 2>&1 || sound=no
state >"$here/before" 2>/dev/null || :
saved=yes
cp save X-1 || saved=no
state >"$here/after" 2>/dev/null || :
cmp "$here/before" "$here/after" || fail 'the save changed the repository'
[ "$saved" = yes ] || differs 'save failed'
tree=$(git rev-parse refs/checkpoints/X-1:staged)
if [ "$tree" != "$(git write-tree)" ]; then
	# The cached tree in the index can be wrong, by a defect of git. Entries have no cache.
	git ls-files -s -z | GIT_INDEX_FILE=$here/index git update-index -z --index-info
	[ "$tree" = "$(GIT_INDEX_FILE=$here/index git write-tree)" ] || differs "git write-tree differs from $tree"
fi
for command in list show verify 'status --offline'; do
	cp ${command%% *} X-1 $(expr "$command" : '[a-z]* \(.*\)') || differs "$command failed"
done
git fsck --connectivity-only --no-dangling || differs 'git fsck fails after the save'

# A restore brings back a staged change.
for name in rebase-merge rebase-apply MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD; do
	[ ! -e "$(git rev-parse --git-path $name)" ] || exit 0 # restore refuses
done
[ "$sound" = yes ] && git diff --quiet HEAD || exit 0
file=$(git -c core.quotePath=false ls-files -s | sed -n 's/^100644 [0-9a-f]* 0	//p' |
	while read -r name; do
		if [ -f "$name" ] && [ ! -L "$name" ]; then
			echo "$name"
			break
		fi
	done)
[ -n "$file" ] || exit 0
echo 'one more line' >>"$file"
git add -- "$file" || exit 0
! git diff --cached --quiet || exit 0
tree=$(git write-tree)
cp save X-2 || differs 'save of a staged change failed'
git reset -q --hard
cp restore X-2 || differs 'restore failed'
[ "$(git write-tree)" = "$tree" ] || differs 'restore staged another tree'
echo 'note: restored'
