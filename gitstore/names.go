package gitstore

import (
	"fmt"
	"strings"
)

// checkPath refuses a path that git would not check out, or that git fsck
// refuses in a push: one such path would block its chain on a forge. The rules
// are those of verify_path and fsck_tree in git: no empty, "." or ".."
// component, none that some file system takes for ".git", and no symlink that
// one takes for ".gitmodules".
func checkPath(path string, mode uint32) error {
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case name == "" || name == "." || name == "..":
			return fmt.Errorf("path %q: it has the component %q", path, name)
		case strings.ContainsRune(name, 0):
			return fmt.Errorf("path %q: it has a NUL", path)
		case isDotName(name, "git", "git~1"):
			return fmt.Errorf("path %q: %q stands for .git on some file system", path, name)
		case mode == modeSymlink && isDotName(name, "gitmodules", "gitmod~1", "gi7eba~1"):
			return fmt.Errorf("path %q: .gitmodules cannot be a symlink", path)
		}
	}
	return nil
}

// isDotName reports whether NTFS or HFS+ take a name for "."+word: NTFS drops
// trailing dots, spaces and streams, knows short names, and takes a backslash
// for a separator; HFS+ ignores some code points; both ignore case.
func isDotName(name, word string, short ...string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		stem, _, _ := strings.Cut(part, ":")
		stem = strings.ToLower(strings.TrimRight(stem, ". "))
		if stem == "."+word || strings.ToLower(strings.Map(dropIgnored, part)) == "."+word {
			return true
		}
		for _, s := range short {
			if stem == s {
				return true
			}
		}
	}
	return false
}

// dropIgnored removes the code points that HFS+ ignores in names.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
