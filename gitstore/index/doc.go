// Package index reads git's staging area and builds the tree that
// `git write-tree` would build from it. It never writes an index.
//
// The file, all numbers big-endian:
//
//	index     = "DIRC" version:4 count:4 *entry *extension checksum:20
//	entry     = ctime:8 mtime:8 dev:4 ino:4 mode:4 uid:4 gid:4 size:4
//	            hash:20 flags:2 [more:2] name
//	flags     = assume-valid:1 extended:1 stage:2 length:12
//	more      = reserved:1 skip-worktree:1 intent-to-add:1 unused:13
//	name      = path 1*8 NUL            ; versions 2 and 3: the entry is a multiple of 8
//	          / strip:varint suffix NUL ; version 4: what to cut off the path before, what to add
//	extension = signature:4 size:4 data ; not understood: optional if it begins with A to Z
//	TREE      = node ; in pre-order, the children behind their parent
//	node      = path-component NUL entries SP children LF [hash:20]
//
// Length is 0xfff for names that long or longer; those end at their NUL. A
// node whose entries are -1 has no hash: the directory changed since git
// last wrote its tree.
//
// An index of 100,000 entries has 9 MB. It is mapped where the system can,
// its entries are walked once by their lengths, and only the paths that a
// caller asks for are looked at. The checksum is not verified (git does not
// do so either, and writes zeros with index.skipHash); instead every offset
// is checked where it is used, so that a damaged file is an error. That also
// holds for a file that somebody changes in place while it is mapped.
//
// Three kinds of index are left to git: a split one (its entries are in a
// second file), a sparse one (it has directories as entries), and those with
// an extension from the future. Open says ErrUnsupported, and Plain asks git
// for a copy in the full form.
package index
