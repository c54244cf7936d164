# Six processes save at once, and no lock file remains.
repository repo
for n in 1 2 3 4 5 6; do
	cp save 42 -m "save $n" --no-prune >"../log$n" 2>&1 &
	eval "pid$n=$!"
done
for n in 1 2 3 4 5 6; do
	eval "wait \$pid$n" || { cat "../log$n"; fail "save $n"; }
done
same "$(ids 42 | sort -u | wc -l | tr -d ' ')" 6
[ -z "$(find .git -name '*.lock' -size +0)" ]
[ -z "$(find .git/refs -name '*.lock')" ]
sound 42
