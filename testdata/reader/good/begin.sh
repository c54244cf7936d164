# Functions of the scripts in this directory. Each script makes the chains of a few issues
# with the program, in ./repo and the repositories beside it.
set -eu
minute=0

# now sets the clock of git and of the program, one minute after the last time.
now() {
	minute=$((minute + 1))
	GIT_CHECKPOINT_NOW=$(printf '2026-02-14T%02d:%02d:00Z' $((8 + minute / 60)) $((minute % 60)))
	export GIT_CHECKPOINT_NOW GIT_AUTHOR_DATE="$GIT_CHECKPOINT_NOW" GIT_COMMITTER_DATE="$GIT_CHECKPOINT_NOW"
}

# checkpoint runs a command that has to succeed.
checkpoint() {
	now
	git checkpoint "$@" >"$top/said" 2>&1 || { cat "$top/said"; exit 1; }
}

# turn is the end of an agent's turn with a request.
turn() {
	now
	echo "{\"session_id\":\"0d5a0e0e-3d0c-4f86-8f6c-0d3f5a9b7c11\",\"cwd\":\"$PWD\",\"prompt\":\"$1\",\"hook_event_name\":\"Stop\"}" >"$top/event"
	git checkpoint hook prompt claude <"$top/event" >/dev/null
	git checkpoint hook turn claude <"$top/event" >/dev/null
}

# new creates a repository with a commit, and enters it.
new() {
	cd "$top"
	now
	git init -q -b issue-42 "$@" repo
	cd repo
	settings
	printf 'base\n' | tee staged.txt both.txt modified.txt deleted.txt 'a name.txt' >/dev/null
	printf '*.out\n' >.gitignore
	git add -A
	git commit -qm first
}

settings() {
	git config checkpoint.issue-source none
	git config checkpoint.min-interval 0
	git config core.hooksPath /dev/null
}

# change stages, modifies, deletes and creates files.
change() {
	echo "$1" >staged.txt
	echo "$1" >both.txt
	git add staged.txt both.txt
	echo "$1 later" >both.txt
	echo "$1" >modified.txt
	rm -f deleted.txt
	mkdir -p dir/sub
	echo "$1" >dir/sub/new.txt
}

# newest prints the id of the Nth newest checkpoint of issue 42, from 1.
newest() { git checkpoint list 42 -n 30 --json | grep -o '"checkpoint_id":"[^"]*"' | sed -n "$1p" | cut -d'"' -f4; }

top=$PWD
