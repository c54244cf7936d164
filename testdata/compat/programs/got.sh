# Game of Trees lists a chain and reads a record.
installed got -V
echo "program: $(got -V)"
chain
same "$(got log -b -r . -c refs/checkpoints/42 | grep -c '^commit ')" "$COMMITS"
got cat -r . -c "$RECORD" checkpoint.yaml >../read.yaml
cmp ../read.yaml ../record.yaml
