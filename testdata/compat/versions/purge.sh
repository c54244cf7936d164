# The content of a purged checkpoint is gone here and on the server.
repository repo
hub
cp save 42
echo secret-content >s.txt
git add s.txt
blob=$(git rev-parse :s.txt)
cp save 42
secret=$(ids 42 | head -n 1)
cp sync 42 --yes
"$SERVER" -C ../hub cat-file -e "$blob"
git rm -q --cached s.txt
rm s.txt
cp drop 42 "$secret" --purge --yes
cp sync 42 --yes
git gc -q --prune=now
git cat-file -e "$blob" && fail 'the content is still here'
"$SERVER" -C ../hub gc -q --prune=now
"$SERVER" -C ../hub cat-file -e "$blob" && fail 'the content is still on the server'
sound 42
