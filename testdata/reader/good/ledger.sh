# Ledgers: pins, drops, the archive, retention, a restoration; forks.
. "$GOOD/begin.sh"
new
for i in 1 2 3 4 5 6 7 8 9; do
	change "$i"
	checkpoint save 42 -m "number $i"
done
checkpoint pin 42 latest~3
checkpoint drop 42 latest~5 --yes
checkpoint archive 42 latest~1
checkpoint archive 42 latest~2
checkpoint prune 42 --keep manual=4
change ten
checkpoint save 42
checkpoint restore 42 latest~2 --force
checkpoint save 43 -m 'other issue'
checkpoint drop 43 --everything --yes
checkpoint save 44 -m 'to be finished'
checkpoint finish 44
checkpoint fork 42 a b
change fork
checkpoint save 42+a -m 'in a fork'
checkpoint save 45 -m one
checkpoint save 45 -m two
checkpoint archive 45
checkpoint save 45 -m three
