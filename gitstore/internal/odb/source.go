package odb

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// racy is the minimum age of a directory's timestamp to detect changes reliably. Two
// changes within a clock tick have the same timestamp, and FAT has a resolution of two
// seconds.
const racy = 3 * time.Second

// A source is an objects directory: the repository's own or an alternate.
type source struct {
	dir string

	mu      sync.Mutex // held during scans
	packs   atomic.Pointer[[]*pack]
	stamp   time.Time // timestamp of the pack directory, zero if unreliable
	retired []*pack   // packs removed from the list that readers may still use
}

// list returns the packs, most recently found first.
func (s *source) list() []*pack {
	if packs := s.packs.Load(); packs != nil {
		return *packs
	}
	s.rescan(false)
	return *s.packs.Load()
}

// rescan lists the packs again and reports whether the list changed. If force is false
// and the timestamp of the directory is unchanged, rescan keeps the list.
func (s *source) rescan(force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, stamp := time.Now(), time.Time{}
	if info, err := os.Stat(s.packDir()); err == nil {
		stamp = info.ModTime()
	}
	if !force && !s.stamp.IsZero() && stamp.Equal(s.stamp) {
		return false
	}
	s.stamp = stamp
	if now.Sub(stamp) < racy {
		s.stamp = time.Time{}
	}
	return s.replace(s.scan())
}

func (s *source) packDir() string { return filepath.Join(s.dir, "pack") }

// scan returns the packs that have both files, with any name: git names packs pack-*, and
// git maintenance also loose-*. Like git, scan treats an unreadable directory as empty.
func (s *source) scan() []string {
	names, err := readNames(s.packDir())
	if err != nil {
		return nil
	}
	have := make(map[string]bool, len(names))
	for _, name := range names {
		have[name] = true
	}
	var packs []string
	for _, name := range names {
		if base, ok := strings.CutSuffix(name, ".idx"); ok && have[base+".pack"] {
			packs = append(packs, s.packDir()+string(filepath.Separator)+base)
		}
	}
	return packs
}

// unfinished returns 1 for a temporary pack of a running git repack, else 0.
func (p *pack) unfinished() int {
	if strings.HasPrefix(filepath.Base(p.path), ".tmp-") {
		return 1
	}
	return 0
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// replace installs a new list of packs and keeps known pack objects. New packs come
// first, because the object that caused the scan is likely there. Temporary packs of git
// repack come last, because a failed repack deletes them.
func (s *source) replace(paths []string) bool {
	known := make(map[string]*pack)
	var before []*pack
	if old := s.packs.Load(); old != nil {
		before = *old
	}
	for _, p := range before {
		known[p.path] = p
	}
	var fresh, kept []*pack
	for _, path := range paths {
		if p := known[path]; p != nil {
			kept = append(kept, p)
			delete(known, path)
		} else {
			fresh = append(fresh, &pack{path: path})
		}
	}
	for _, p := range known {
		s.retired = append(s.retired, p)
	}
	all := append(fresh, kept...)
	slices.SortStableFunc(all, func(a, b *pack) int { return cmp.Compare(a.unfinished(), b.unfinished()) })
	s.packs.Store(&all)
	return len(fresh) > 0 || len(known) > 0
}

// Refresh lists the packs of all sources again.
func (s *Database) Refresh() {
	s.life.RLock()
	defer s.life.RUnlock()
	for _, src := range s.all() {
		src.rescan(true)
	}
	s.recent.Store(nil)
}

func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.retired
	if packs := s.packs.Load(); packs != nil {
		all = append(all, *packs...)
	}
	for _, p := range all {
		p.close()
	}
	s.retired = nil
	s.packs.Store(&[]*pack{})
}

// gone reports whether err means that a file does not exist.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// maxAlternates is the maximum depth of nested alternates. Git ignores alternates that
// are nested deeper.
const maxAlternates = 6

// all returns the objects directories, the repository's own directory first.
func (s *Database) all() []*source {
	s.open.Do(func() {
		for _, dir := range Directories(s.cfg.Dir, s.cfg.Alternates) {
			s.sources = append(s.sources, &source{dir: dir})
		}
	})
	return s.sources
}

// Directories returns an object directory and all its alternates, also nested ones.
// alternates are the directories of GIT_ALTERNATE_OBJECT_DIRECTORIES. Like git, it ignores
// missing alternates.
func Directories(dir string, alternates []string) []string {
	seen := make(map[string]bool)
	list := addDirectory(nil, seen, dir, 0)
	for _, alt := range alternates {
		list = addDirectory(list, seen, alt, 1)
	}
	return list
}

// addDirectory appends dir and its alternates to list, each directory once.
func addDirectory(list []string, seen map[string]bool, dir string, depth int) []string {
	key := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		key = real
	} else if depth > 0 {
		return list // git ignores missing alternates
	}
	if depth > maxAlternates || seen[key] {
		return list
	}
	seen[key] = true
	list = append(list, dir)
	data, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return list
	}
	for _, alt := range parseAlternates(string(data), "\n") {
		if !filepath.IsAbs(alt) {
			alt = filepath.Join(key, alt)
		}
		list = addDirectory(list, seen, alt, depth+1)
	}
	return list
}

// SplitAlternates splits the value of GIT_ALTERNATE_OBJECT_DIRECTORIES. Entries may have
// C-style quotes.
func SplitAlternates(value string) []string {
	return parseAlternates(value, string(os.PathListSeparator))
}

// JoinAlternates returns the value of GIT_ALTERNATE_OBJECT_DIRECTORIES for directories.
func JoinAlternates(dirs []string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	words := make([]string, len(dirs))
	for i, dir := range dirs {
		words[i] = dir
		if strings.Contains(dir, string(os.PathListSeparator)) || strings.HasPrefix(dir, `"`) || strings.HasPrefix(dir, "#") {
			words[i] = `"` + quote.Replace(dir) + `"`
		}
	}
	return strings.Join(words, string(os.PathListSeparator))
}

// parseAlternates returns the directories in s, which are separated by sep. Lines that
// begin with # are comments. A quoted entry is unquoted; if its quoting is invalid,
// parseAlternates returns it unchanged.
func parseAlternates(s, sep string) []string {
	var dirs []string
	for s != "" {
		var dir string
		if unquoted, rest, ok := unquote(s); ok && (rest == "" || strings.HasPrefix(rest, sep)) {
			dir, s = unquoted, strings.TrimPrefix(rest, sep)
		} else {
			dir, s, _ = strings.Cut(s, sep)
			if strings.HasPrefix(dir, "#") {
				continue
			}
		}
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

var escapes = map[byte]byte{
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '"': '"',
}

// unquote decodes a C-style quoted string at the start of s and returns the remaining
// text in rest.
func unquote(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c != '\\':
			b.WriteByte(c)
		case i+1 < len(s) && escapes[s[i+1]] != 0:
			i++
			b.WriteByte(escapes[s[i]])
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && strings.Trim(s[i+2:i+4], "01234567") == "":
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
		default:
			return "", s, false
		}
	}
	return "", s, false
}
