# JGit lists a chain, reads a record, and collects garbage beside checkpoints.
if ! jgit version >/dev/null 2>&1; then
	# Debian's package leaves jgit.lfs out of the class path.
	jgit() { java -cp '/usr/share/java/*' org.eclipse.jgit.pgm.Main "$@" 2>../jgit.err; }
fi
jgit version >version.txt 2>/dev/null || exit 77
echo "program: JGit $(grep -o '[0-9][0-9.]*' version.txt | head -n 1)"
export PAGER=cat
chain
same "$(jgit log refs/checkpoints/42 | grep -c '^commit ')" "$COMMITS"
jgit archive --format tar "$RECORD" | tar -xO checkpoint.yaml >../read.yaml
cmp ../read.yaml ../record.yaml
before=$(refs)
jgit gc
same "$(refs)" "$before"
cp save 42 --no-prune
saved 42
jgit clone "file://$(cd .. && pwd)/repo" ../cloned >/dev/null
cd ../cloned
echo "note: jgit clone fetches $(refs | grep -c checkpoint || true) refs of checkpoints"
