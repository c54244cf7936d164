//go:build sha256

package objectformat

import (
	"crypto/sha256"
	"hash"
)

// Name is git's name of the format, the value of extensions.objectFormat.
const Name = "sha256"

// Other is the name of the other format.
const Other = "sha1"

// New returns a hash for object contents and checksums of packs.
func New() hash.Hash { return sha256.New() }
