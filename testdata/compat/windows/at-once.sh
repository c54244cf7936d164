# Four processes save at once.
repository repo
for n in 1 2 3 4; do
	cp save 42 -m "save $n" --no-prune >"../log$n" 2>&1 &
	eval "pid$n=$!"
done
for n in 1 2 3 4; do
	eval "wait \$pid$n" || { cat "../log$n"; fail "save $n"; }
done
same "$(ids 42 | sort -u | wc -l | tr -d ' ')" 4
sound 42
