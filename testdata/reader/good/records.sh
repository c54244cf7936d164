# Records: keys of issues, texts of all kinds, unknown keys, documents of other systems.
. "$GOOD/begin.sh"
new
for key in PROJ-7 'two words' 'a/b' 'ä-ö' '..' 'x.lock' '50%' '-dash' '@{1}' 'a:b~c^d?e*f[g\h'; do
	git checkpoint save --issue "$key" -m "issue $key" >/dev/null 2>&1 || echo "refused: $key"
done
checkpoint save 42 --state "$RECORD/scalars.yaml" -m 'all scalars'
checkpoint save 43 --state "$RECORD/full.yaml" --trigger manual
checkpoint save 44 --state "$RECORD/by-hand.yaml" --issue 44 || true
checkpoint save 42 -m "$(printf 'controls \033[2J \342\200\256 and \302\205')"
checkpoint save 42 --set 'deep.a.b.c=[[1,[2,[]]],{"x":{}}]' --set "long=$(head -c 5000 /dev/zero | tr '\0' x)"
now
git -c user.name='Ünï' checkpoint save 42 -m 'no newline' >/dev/null
