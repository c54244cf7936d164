# With core.autocrlf, a restore writes the line endings of Windows.
repository repo
git config core.autocrlf true
printf 'one\r\ntwo\r\n' >a.txt
git add a.txt
cp save 42
saved 42
same "$(git cat-file -s :a.txt)" 8
git reset -q --hard
cp restore 42
same "$(wc -c <a.txt | tr -d ' ')" 10
[ -z "$(git diff-files --name-only)" ]
sound 42
