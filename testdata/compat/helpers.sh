# Functions of all scenarios. A scenario begins in an empty folder. SERVER is the git of
# the server, MINOR the second number of the client's version, and SYSTEM is "windows"
# under wine.

fail() { echo "FAILED: $*"; exit 1; }

# skip REASON: the scenario cannot run here.
skip() {
	echo "skipped: $*"
	exit 77
}

# needs 41: the scenario needs git 2.41.
needs() { [ "$MINOR" -ge "$1" ] || skip "it needs git 2.$1"; }

# same A B: two values are equal and not empty.
same() { [ -n "$1" ] && [ "$1" = "$2" ] || fail "'$1' is not '$2'"; }

# code N COMMAND...: the command exits with N.
code() {
	want=$1
	shift
	got=0
	"$@" || got=$?
	[ "$got" = "$want" ] || fail "exit code $got, not $want: $*"
}

cp() { git checkpoint "$@"; }

configure() {
	git config user.name 'Ann Author'
	git config user.email ann@example.com
	git config gc.auto 0
	git config checkpoint.issue-source none
}

# repository DIR: creates a repository with a commit, and enters it.
repository() {
	git init -q "$1"
	cd "$1"
	git symbolic-ref HEAD refs/heads/main
	configure
	mkdir -p dir/sub other
	echo one >a.txt
	echo one >dir/b.txt
	echo one >dir/sub/c.txt
	echo one >other/d.txt
	git add .
	git commit -qm first
}

# served: makes the server's git answer the current repository.
served() {
	git config remote.origin.uploadpack "'$SERVER' upload-pack"
	git config remote.origin.receivepack "'$SERVER' receive-pack"
}

# hub: creates the bare repository ../hub by the server's git, as the remote of the
# current repository, and pushes main.
hub() {
	"$SERVER" init -q --bare ../hub
	"$SERVER" -C ../hub symbolic-ref HEAD refs/heads/main
	"$SERVER" -C ../hub config receive.fsckObjects true
	"$SERVER" -C ../hub config uploadpack.allowFilter true
	"$SERVER" -C ../hub config uploadpack.allowAnySHA1InWant true
	git remote add origin "file://$(cd .. && pwd)/hub"
	served
	git push -q origin main
}

# clone DIR [OPTION...]: clones ../hub to ../DIR, and enters the clone.
clone() {
	dir=$1
	shift
	git clone -q -u "'$SERVER' upload-pack" "$@" "file://$(cd .. && pwd)/hub" "../$dir"
	cd "../$dir"
	configure
	served
}

# saved ISSUE: the newest checkpoint has the staged files, and the repository is intact.
saved() {
	same "$(git rev-parse "refs/checkpoints/$1:staged")" "$(git write-tree)"
	sound "$1"
}

sound() {
	cp verify "$1"
	git fsck --strict --no-dangling
}

# ids ISSUE: the ids of its checkpoints, newest first.
ids() { git log --first-parent --format='%(trailers:key=Checkpoint-Id,valueonly)' "refs/checkpoints/$1" | grep 'CP-'; }

# chain: creates the repository repo with a hub, and checkpoints of issue 42 with a pin, a
# drop, worktree and untracked files. RECORD is the commit of a checkpoint, COMMITS the
# number of all commits of the chain.
chain() {
	repository repo
	hub
	echo two >a.txt
	git add a.txt
	cp save 42 -m one --no-prune
	git gc -q
	echo new >new.txt
	cp save 42 -m two --no-prune
	cp pin 42 latest
	cp save 42 -m three --no-prune
	cp save 42 -m four --no-prune
	cp drop 42 latest --yes
	RECORD=$(git log --format=%H --grep='^checkpoint 42' refs/checkpoints/42 | head -n 1)
	COMMITS=$(git rev-list --count refs/checkpoints/42)
	git show "$RECORD:checkpoint.yaml" >../record.yaml
}

# refs: all refs of the repository with their values.
refs() { git for-each-ref --format='%(refname) %(objectname)'; }

# checkpointRefs: the refs of checkpoints.
checkpointRefs() { refs | grep checkpoint; }

# python MODULE: prints a Python that has the module, or skips the script.
python() {
	for p in python3 /usr/bin/python3; do
		if "$p" -c "import $1" 2>/dev/null; then
			echo "$p"
			return
		fi
	done
	exit 77
}

# installed PROGRAM...: skips the script if the command fails.
installed() { "$@" >/dev/null 2>&1 || exit 77; }

# folds: the file system ignores case. FILES is its name in the virtual machine.
folds() { [ "${FILES:-ext4}" != ext4 ]; }
