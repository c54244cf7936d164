# Files of another case are not overwritten, and a file whose name has another case on disk
# is restored under its own name.
repository repo
echo saved >new.txt
git add new.txt
echo two >a.txt
git add a.txt
cp save 42
git reset -q --hard
rm -f new.txt
echo mine >NEW.txt
if folds; then
	code 8 cp restore 42
	same "$(cat new.txt)" mine
	same "$(ls | grep -xi new.txt)" NEW.txt
	cp undo 42
else
	cp restore 42
	same "$(cat new.txt)" saved
	cp undo 42
fi
same "$(cat NEW.txt)" mine
rm NEW.txt

# The user has renamed a file without git: with core.ignorecase, git sees no change.
if folds; then
	mv a.txt tmp
	mv tmp A.TXT
	[ -z "$(git status --porcelain)" ]
	cp restore 42
	same "$(cat a.txt)" two
	same "$(ls | grep -ci a.txt)" 1
	[ -z "$(git diff-files --name-only)" ]
	cp undo 42
	[ -z "$(git status --porcelain)" ]
fi
sound 42
