// Package index reads git's index (staging area) and builds the same tree as `git
// write-tree`. It never writes an index.
//
// File format, with big-endian numbers:
//
//	index     = "DIRC" version:4 count:4 *entry *extension checksum:20
//	entry     = ctime:8 mtime:8 dev:4 ino:4 mode:4 uid:4 gid:4 size:4
//	            hash:20 flags:2 [more:2] name
//	flags     = assume-valid:1 extended:1 stage:2 length:12
//	more      = reserved:1 skip-worktree:1 intent-to-add:1 unused:13
//	name      = path 1*8 NUL            ; versions 2 and 3: entry size is a multiple of 8
//	          / strip:varint suffix NUL ; version 4: bytes to remove from previous path, suffix
//	extension = signature:4 size:4 data ; unknown: optional if it begins with A to Z
//	TREE      = node ; in pre-order, children follow their parent
//	node      = path-component NUL entries SP children LF [hash:20]
//
// Length is 0xfff for names of at least that length, which end at their NUL. A node with
// -1 entries has no hash: the directory has changed since git last wrote its tree.
//
// An index of 100,000 entries has 9 MB. This package maps the file if the system supports
// that, walks all entry lengths once, and reads only requested paths. Like git, it does
// not verify the checksum, which is zero with index.skipHash. Instead, each offset is
// checked before use, so that a damaged file causes an error. Changes of a mapped file by
// another program cause an error too.
//
// Three forms of index are left to git: a split index, whose entries are in a second
// file; a sparse index, with directories as entries; and an index with unknown mandatory
// extensions. For these, Open returns ErrUnsupported, and Plain runs git to make a copy
// in full form.
package index
