# Each kind of maintenance, with a save after it.
repository repo
n=0
step() {
	echo $n >a.txt
	git add a.txt
	cp save 42 -m "save $n" --no-prune
	"$@"
	cp verify 42
	cp list 42 | grep "save $n"
	n=$((n + 1))
}
step git pack-refs --all
step git gc -q
step git repack -q -ad
step git repack -q -Adf
step git prune-packed
step git commit-graph write --reachable
step git repack -q -adb
step git multi-pack-index write
step git gc -q --aggressive --prune=now
if [ "$MINOR" -ge 30 ]; then
	step git maintenance run --task=loose-objects
	step git maintenance run --task=loose-objects
	step git maintenance run --task=incremental-repack
	step git maintenance run --task=commit-graph
fi
if [ "$MINOR" -ge 32 ]; then
	step git repack -q -d --geometric=2
	step git repack -q -d --geometric=2 --write-midx
	step git multi-pack-index write --bitmap
fi
if [ "$MINOR" -ge 37 ]; then
	step git gc -q --cruft --prune=2.weeks.ago
	step git repack -q -d --cruft
fi
if [ "$MINOR" -ge 52 ]; then step git maintenance run --task=geometric-repack; fi
step git repack -q -ad
saved 42
same "$(ids 42 | wc -l | tr -d ' ')" $n
