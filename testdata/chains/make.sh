#!/bin/sh
# make.sh PROGRAM writes the chains of this directory, as a user of PROGRAM made them. PROGRAM
# is a git-checkpoint of the version before every checkpoint had the whole state.
set -eu
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$program" "$work/git-checkpoint"
export PATH="$work:$PATH" HOME="$work" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 TZ=UTC LC_ALL=C
export GIT_AUTHOR_NAME='Ann Author' GIT_AUTHOR_EMAIL=ann@example.com GIT_COMMITTER_NAME='Ann Author' GIT_COMMITTER_EMAIL=ann@example.com
unset CI GIT_DIR GIT_CHECKPOINT_SKIP || true
minute=10

# now moves the clock on by a minute.
now() {
	minute=$((minute + 1))
	export GIT_CHECKPOINT_NOW="2026-02-14T14:$minute:00Z"
	export GIT_AUTHOR_DATE="$GIT_CHECKPOINT_NOW" GIT_COMMITTER_DATE="$GIT_CHECKPOINT_NOW"
}

checkpoint() {
	now
	git checkpoint "$@" >"$work/said" 2>&1 || {
		cat "$work/said"
		exit 1
	}
}

# turn is the end of an agent's turn.
turn() {
	echo '{"session_id":"0d5a0e0e-3d0c-4f86-8f6c-0d3f5a9b7c11","cwd":"/x","hook_event_name":"Stop"}' | checkpoint hook turn claude
}

# begin creates a repository in which files are staged, modified, deleted and new.
begin() {
	rm -rf "$work/repo"
	now
	git init -q -b issue-42 "$work/repo"
	cd "$work/repo"
	git config checkpoint.issue-source none
	git config checkpoint.min-interval 0
	for f in staged.txt both.txt modified.txt deleted.txt; do
		echo base >$f
	done
	git add -A
	git commit -qm first
	checkpoint start 42 --phases design,build
	checkpoint phase start design
	echo staged >staged.txt
	echo staged >both.txt
	git add staged.txt both.txt
	echo work >both.txt
	echo work >modified.txt
	rm deleted.txt
	mkdir dir
	echo work >dir/new.txt
}

# store writes the branch and all refs of the program to a file.
store() {
	git fast-export --all >"$here/$1.stream"
}

begin
checkpoint save -a -m 'all files'
checkpoint phase done design
store all-then-phase-done

begin
checkpoint save --untracked -m 'new files'
git add modified.txt
checkpoint save -m 'staged files'
store untracked-then-staged

begin
checkpoint save -a -m 'all files'
echo later >modified.txt
checkpoint save --worktree -m 'tracked files'
store all-then-worktree

begin
turn
checkpoint task add t1
store turn-then-task

begin
checkpoint save -a -m 'all files'
checkpoint pin 42 latest
store all-then-pin

begin
checkpoint save -a -m 'all files'
git add -A
checkpoint save -m 'staged files'
checkpoint pin 42 latest
turn
store pin-of-staged

begin
checkpoint save -a -m 'all files'
checkpoint finish 42
store finish
