//go:build !sha256

package objectformat

import (
	"crypto/sha1"
	"hash"
)

// Name is git's name of the format, the value of extensions.objectFormat.
const Name = "sha1"

// Other is the name of the other format.
const Other = "sha256"

// New returns a hash for contents that this program has composed. It detects no
// collisions.
func New() hash.Hash { return sha1.New() }
