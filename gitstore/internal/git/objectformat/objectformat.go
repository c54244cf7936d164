// Package objectformat describes the format of the repositories that this program reads.
//
// A repository names its objects with SHA-1 or with SHA-256, and a program with one of
// them: the build tag sha256 selects SHA-256, here and in go-git. A plumbing.Hash has
// Size bytes. These checksums have the same hash: packs, their indexes and the index.
package objectformat

import (
	"crypto/sha1"
	"crypto/sha256"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/hash"
)

const (
	// Size is the number of bytes of an object id.
	Size = hash.Size
	// HexSize is the number of hexadecimal digits of an object id.
	HexSize = hash.HexSize
	// OtherSize is the number of bytes of an object id of the other format.
	OtherSize = sha1.Size + sha256.Size - Size
)

// Title returns the name of a format in texts, such as SHA-256 for sha256.
func Title(name string) string {
	return strings.ToUpper(strings.Replace(name, "sha", "sha-", 1))
}
