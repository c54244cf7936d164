# Keys of issues that differ only in case are refused, with loose and with packed refs. A
# command that reads finds no checkpoints of another key.
repository repo
cp save Proj-1 -m first
tip=$(git rev-parse refs/checkpoints/Proj-1)
for step in loose packed both; do
	code 8 cp save PROJ-1
	code 8 cp start proj-1 --phases 2
	for key in PROJ-1 proj-1; do
		code 3 cp list $key
		code 3 cp show $key
		code 3 cp restore $key
		code 3 cp verify $key
		code 3 cp pin $key latest
		code 3 cp drop $key latest --yes
		code 3 cp archive $key
	done
	same "$(git rev-parse refs/checkpoints/Proj-1)" "$tip"
	[ "$(cp list Proj-1 | grep -c CP-)" -ge 1 ]
	git pack-refs --all --prune
	if [ $step = packed ]; then
		cp save Proj-1 -m second --no-prune
		tip=$(git rev-parse refs/checkpoints/Proj-1)
	fi
done
cp save Proj-2
sound Proj-1
cp verify
same "$(git for-each-ref --format='%(refname)' refs/checkpoints | wc -l | tr -d ' ')" 2
