# Clones that save at once, and their joins; a shallow clone.
. "$GOOD/begin.sh"
new
git init -q --bare ../hub
git remote add origin ../hub
git push -q origin issue-42
change one
checkpoint save 42 -m 'in the first clone'
checkpoint sync 42
git clone -q -b issue-42 ../hub ../second
cd ../second
settings
checkpoint fetch 42
checkpoint save 42 -m 'in the second clone'
checkpoint sync 42
cd ../repo
change two
checkpoint save 42 -m 'in both clones'
checkpoint pin 42 latest
checkpoint sync 42
cd ../second
change three
checkpoint save 42 -m 'in both clones'
checkpoint drop 42 latest~1 --yes
checkpoint sync 42
cd ../repo
checkpoint archive 42 latest~2
checkpoint sync 42 --archived
checkpoint save 42 -m 'after the join'
checkpoint sync 42 --archived
git clone -q -b issue-42 --depth 1 "file://$top/hub" ../shallow
cd ../shallow
settings
checkpoint fetch 42
checkpoint save 42 -m 'in a shallow clone'
checkpoint archive 42 latest~1
