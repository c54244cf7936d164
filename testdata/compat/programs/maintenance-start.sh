# git maintenance start: the tasks of each schedule run beside checkpoints.
needs 30
echo "program: git maintenance of $(git version)"
chain
cp sync 42 --yes
export GIT_TEST_MAINT_SCHEDULER=crontab:true
git maintenance start
before=$(checkpointRefs)
for schedule in hourly daily weekly hourly daily weekly; do
	git maintenance run --schedule=$schedule
	same "$(checkpointRefs)" "$before"
	cp verify 42
	cp save 42 --no-prune
	before=$(checkpointRefs)
done
saved 42
git for-each-ref refs/prefetch | grep -q . && echo 'note: prefetch writes refs/prefetch/remotes/'
git for-each-ref refs/prefetch | grep -q checkpoint && echo 'note: prefetch fetches checkpoints'
git maintenance stop
git maintenance unregister || true
