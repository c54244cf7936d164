# Keys and files whose names are equal for the file system, but not for git: other letters
# and other code points.
repository repo
nfc=$(printf '\343\201\214')         # one code point
nfd=$(printf '\343\201\213\343\202\231') # two code points
cp save "$nfc" -m first
tip=$(git rev-parse "refs/checkpoints/$nfc")
if [ "$FILES" = casefold ]; then
	code 3 cp list "$nfd"
	code 8 cp save "$nfd"
else
	cp list "$nfd" && fail 'another chain was read'
fi

# A packed ref has no file.
git pack-refs --all --prune
code 3 cp list "$nfd"
if [ "$FILES" = casefold ]; then
	code 8 cp save "$nfd"
	cp save groß
	git pack-refs --all --prune
	code 8 cp save gross
fi
cp save "$nfc" -m second --no-prune
tip=$(git rev-parse "refs/checkpoints/$nfc")

# The file system of casefold ignores invisible characters.
soft=$(printf '43\302\255')
cp save "$soft"
if [ "$FILES" = casefold ]; then
	code 8 cp save 43
fi
code 3 cp list 44
cp save É
code 8 cp save é
code 3 cp list é
same "$(git rev-parse "refs/checkpoints/$nfc")" "$tip"
echo saved >Ä.txt
git add Ä.txt
cp save 42
git reset -q --hard
echo mine >ä.txt
if [ "$FILES" = ext4 ]; then
	cp restore 42
	same "$(cat Ä.txt)" saved
elif [ "$(cat Ä.txt)" = mine ]; then
	code 8 cp restore 42
fi
same "$(cat ä.txt)" mine
sound 42
