//go:build sha256

package objectformat

// Name is git's name of the format, the value of extensions.objectFormat.
const Name = "sha256"

// Other is the name of the other format.
const Other = "sha1"

// EmptyTree is the id of the empty tree.
const EmptyTree = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
