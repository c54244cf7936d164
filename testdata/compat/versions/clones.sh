# Three clones create the chain of an issue at once, and go on.
repository repo
hub
for n in 1 2 3; do (clone "clone$n"); done
for n in 1 2 3; do
	(
		cd "../clone$n"
		for m in 1 2 3; do
			cp save 42 -m "$n-$m" --no-prune
			cp sync 42 --yes
		done
	) >"../log$n" 2>&1 &
	eval "pid$n=$!"
done
for n in 1 2 3; do
	eval "wait \$pid$n" || { cat "../log$n"; fail "clone $n"; }
done
for n in 1 2 3; do (cd "../clone$n" && cp sync 42 --yes); done
tip=$("$SERVER" -C ../hub rev-parse refs/checkpoints/42)
for n in 1 2 3; do
	cd "../clone$n"
	same "$(git rev-parse refs/checkpoints/42)" "$tip"
	same "$(ids 42 | sort -u | wc -l | tr -d ' ')" 9
	sound 42
done
