# Functions of the jobs of CI services. A file in the folder services defines RUNNER, the
# command that runs the job, and the functions describe and cancel. SOURCE is this project,
# RELEASE the URL of an archive of a release, and SHA256 its checksum.
TOP=$PWD
installed pgrep --version

# project COMMAND [BRANCH]: pushes a project to the repository hub. Its job resumes and runs
# COMMAND, such as ./work.sh.
project() {
	git init -q --bare hub
	git -C hub symbolic-ref HEAD "refs/heads/${2:-main}"
	git init -q source
	cd source
	git symbolic-ref HEAD "refs/heads/${2:-main}"
	configure
	sed "s|TOP|$TOP|" >work.sh <<'END'
#!/bin/sh
echo "work: $(cat half.txt || echo new)"
case $(cat 'TOP/how') in
fail)
	echo half >half.txt
	exit 3
	;;
hang)
	echo half >half.txt
	touch 'TOP/hangs'
	sleep 30
	;;
esac
END
	chmod +x work.sh
	describe "$1"
	git add .
	git commit -qm first
	git push -q ../hub HEAD
	cd ..
}

# enter HOW: enters a new shallow clone, in which work.sh ends as HOW says: succeed, fail or
# hang.
CLONES=0
enter() {
	echo "$1" >"$TOP/how"
	CLONES=$((CLONES + 1))
	git clone -q --depth 1 "file://$TOP/hub" "$TOP/job's clone $CLONES"
	cd "$TOP/job's clone $CLONES"
	git checkout -q --detach
}

# job HOW: runs a job in a new clone.
job() {
	enter "$1"
	result=0
	$RUNNER >"$TOP/log" 2>&1 || result=$?
	cat "$TOP/log"
	cd "$TOP"
	return $result
}

# hanging: starts a job, and waits until its work hangs. JOB is the process id of the runner,
# and PROCESSES has those of the job.
hanging() {
	enter hang
	$RUNNER >"$TOP/log" 2>&1 &
	JOB=$!
	cd "$TOP"
	await test -e hangs
	PROCESSES=$(descendants "$JOB")
}

# descendants PROCESS: the ids of all processes that this process started.
descendants() {
	for process in $(pgrep -P "$1"); do
		echo "$process"
		descendants "$process"
	done
}

# signalAll NAME: sends a signal to the runner and all processes of its job. Some of them can
# end before.
signalAll() { kill "-$1" "$JOB" $(descendants "$JOB") || true; }

# await COMMAND...: waits until a command succeeds.
await() {
	for _ in $(seq 600); do
		! "$@" || return 0
		sleep 0.1
	done
	fail "a minute has passed: $*"
}

# ended: waits for the end of the started job, which fails, and of its processes.
ended() {
	! wait "$JOB" || fail 'the job succeeded'
	await gone $PROCESSES
	cat log
}

# gone PROCESS...: the processes have ended.
gone() { ! ps -p "$(echo "$*" | tr ' ' ,)" >/dev/null; }

# worked TEXT: the last job ran work.sh, which found half.txt with this text, or new.
worked() { grep -q "work: $1" log || fail "the work did not begin with $1"; }

# checkpoints: the names of the refs of checkpoints on the server.
checkpoints() { git -C "$TOP/hub" for-each-ref --format='%(refname)' refs/checkpoints; }

# hasCheckpoint: a checkpoint is on the server.
hasCheckpoint() { [ -n "$(checkpoints)" ]; }
