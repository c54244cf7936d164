package trees

import (
	"fmt"
	"strings"
)

// CheckPath returns an error if git checkout rejects a path, or if git fsck rejects such
// a path in a push. A single invalid path would prevent pushes of its chain to a forge.
//
// CheckPath implements the rules of git's verify_path and fsck_tree. Components that are
// empty, ".", ".." or equivalent to ".git" on any file system are errors. A symlink
// equivalent to ".gitmodules" and a directory equivalent to ".gitmodules" or
// ".gitattributes" are also errors.
func CheckPath(path string, mode uint32) error {
	for rest, deeper := path, true; deeper; {
		var name string
		name, rest, deeper = strings.Cut(rest, "/")
		directory := deeper || mode == ModeTree
		switch {
		case name == "" || name == "." || name == "..":
			return fmt.Errorf("path %q: it has the component %q", path, name)
		case strings.ContainsRune(name, 0):
			return fmt.Errorf("path %q: it has a NUL", path)
		case !strings.ContainsAny(name, ".~"):
		case dotGit.is(name):
			return fmt.Errorf("path %q: %q means .git on some file systems", path, name)
		case directory && (dotModules.is(name) || dotAttributes.is(name)), mode == ModeSymlink && dotModules.is(name):
			return fmt.Errorf("path %q: %q can only be a file", path, name)
		}
	}
	return nil
}

// A special describes a reserved name. hashed is the prefix of its NTFS short name if the
// first four short names are in use. "~" and a number follow the prefix.
type special struct{ name, hashed string }

var (
	dotGit        = special{name: ".git"}
	dotModules    = special{".gitmodules", "gi7eba"}
	dotAttributes = special{".gitattributes", "gi7d29"}
)

// IsChecked reports whether git fsck checks the content of files with a name.
func IsChecked(name string) bool { return dotModules.is(name) || dotAttributes.is(name) }

// is reports whether NTFS or HFS+ treat name as s. NTFS drops trailing dots, spaces and
// streams, has short names, and treats a backslash as a separator. HFS+ ignores certain
// code points. Both ignore case.
func (s special) is(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), `\`) {
		stem, _, _ := strings.Cut(part, ":")
		stem = strings.TrimRight(stem, ". ")
		if stem == s.name || strings.Map(dropIgnored, part) == s.name || s.isShort(stem) {
			return true
		}
	}
	return false
}

// isShort reports whether stem is an NTFS short name of s: GITMOD~1 to GITMOD~4, then
// GI7EBA~1, GI7EB~10 and so on.
func (s special) isShort(stem string) bool {
	head, number, ok := strings.Cut(stem, "~")
	if !ok || number == "" || number[0] < '1' || strings.Trim(number, "0123456789") != "" {
		return false
	}
	if s.hashed == "" {
		return head == s.name[1:] && number == "1"
	}
	return len(stem) == 8 && (head == s.name[1:7] && number <= "4" || strings.HasPrefix(s.hashed, head))
}

// dropIgnored removes code points that HFS+ ignores in names.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
