# A CI job in a shallow, detached clone resumes, saves and pushes.
repository repo
git commit -q --allow-empty -m 'history that is cut'
hub
echo two >a.txt
git add a.txt
cp save 42 --phase implementing --push
clone job --depth 1
git checkout -q --detach
cp resume 42 --ci --files | grep CHECKPOINT_ACTION=resume
grep two a.txt
echo three >dir/b.txt
git add dir/b.txt
cp save 42 --phase validation --push
saved 42
cd ../repo
cp fetch 42
git reset -q --hard
cp restore 42
grep three dir/b.txt
sound 42
