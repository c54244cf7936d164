# A branch's name has characters of the shell, and the checkpoint names this branch.
branch='it'\''s"$(>evil)"`>evil`;é&|<b>'
project ./work.sh "$branch"
code 1 job fail
[ -z "$(find "$TOP" -name evil)" ] || fail 'the name was run'
git -C hub show "$(checkpoints):checkpoint.yaml" >record.yaml
grep -F "branch: $branch" record.yaml
grep 'detached: true' record.yaml
job succeed
worked half
[ -z "$(find "$TOP" -name evil)" ] || fail 'the name was run'
