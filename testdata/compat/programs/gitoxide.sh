# gitoxide checks the objects of the repository, lists a chain and reads a record.
installed gix --version
echo "program: $(gix --version)"
chain
same "$(gix revision list refs/checkpoints/42 | wc -l | tr -d ' ')" "$COMMITS"
gix cat "$RECORD:checkpoint.yaml" >../read.yaml
cmp ../read.yaml ../record.yaml
gix verify
