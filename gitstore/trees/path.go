package trees

import (
	"fmt"
	"strings"
)

// CheckPath refuses a path that git would not check out, or that git fsck
// refuses in a push: one such path would block its chain on a forge. The rules
// are those of verify_path and fsck_tree in git: no empty, "." or ".."
// component, none that some file system takes for ".git", no symlink that one
// takes for ".gitmodules", and no directory that one takes for it or for
// ".gitattributes".
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
			return fmt.Errorf("path %q: %q stands for .git on some file system", path, name)
		case directory && (dotModules.is(name) || dotAttributes.is(name)), mode == ModeSymlink && dotModules.is(name):
			return fmt.Errorf("path %q: %q can only be a file", path, name)
		}
	}
	return nil
}

// A special name, and what NTFS makes of it where the first four short names
// are taken: the beginning of that is followed by "~" and a number.
type special struct{ name, hashed string }

var (
	dotGit        = special{name: ".git"}
	dotModules    = special{".gitmodules", "gi7eba"}
	dotAttributes = special{".gitattributes", "gi7d29"}
)

// IsModules reports whether some file system takes a name for ".gitmodules".
func IsModules(name string) bool { return dotModules.is(name) }

// IsAttributes reports whether one takes it for ".gitattributes".
func IsAttributes(name string) bool { return dotAttributes.is(name) }

// is reports whether NTFS or HFS+ take a name for s: NTFS drops trailing dots,
// spaces and streams, knows short names, and takes a backslash for a
// separator; HFS+ ignores some code points; both ignore case.
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

// isShort knows NTFS's names of eight letters: GITMOD~1 to GITMOD~4, then
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

// dropIgnored removes the code points that HFS+ ignores in names.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
