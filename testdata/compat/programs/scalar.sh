# scalar clone and register, and its maintenance, beside checkpoints.
installed scalar version
echo "program: scalar of $(git version)"
chain
cp sync 42 --yes
before=$(checkpointRefs)
# true stands for crontab: the schedule of this user stays
export GIT_TEST_MAINT_SCHEDULER=crontab:true
scalar register
scalar run all
scalar run all
same "$(checkpointRefs)" "$before"
cp save 42 --no-prune
saved 42
scalar reconfigure -a
cp verify 42
scalar unregister
scalar clone "file://$(cd .. && pwd)/hub" ../enlisted
cd ../enlisted/src
configure
cp fetch 42
cp list 42 | grep CP-
echo three >a.txt
git add a.txt
cp save 42 --no-prune
same "$(git rev-parse refs/checkpoints/42:staged)" "$(git write-tree)"
cp verify 42
echo "note: refs of other tools after it: $(git -C ../../repo for-each-ref --format='%(refname)' | grep -v checkpoint | grep -v refs/heads | tr '\n' ' ')"
