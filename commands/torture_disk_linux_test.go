package commands

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// A tracedDisk models the effect of system calls on files below a directory. It derives
// the possible disk contents after a loss of power. File content is durable if the file
// was synced after the write. A name change is durable if the parent directory was synced
// afterwards. All other changes may be lost or present.
//
// With an ordered journal, as in ext4, a sync of any file also covers other changes:
// names and written data up to that file's last change. Later changes may be in a part of
// the journal for which the sync does not wait.
type tracedDisk struct {
	v       *victim
	ordered bool
	root    string // the directory
	base    string // an earlier copy of the directory
	names   map[string]*tracedFile
	ops     []diskOp
	syncs   []diskSync
	written []diskSync
	print   []printed
	locks   []int // times of lock files
}

// A tracedFile is a file or directory, independent of its name.
type tracedFile struct {
	dir     bool
	size    int
	base    []byte // earlier content
	changed int    // last change of content, names or directory entries
	dirty   bool   // data is not written out yet
}

// A diskOp changes several names atomically, or the content of a file.
type diskOp struct {
	begin, end int
	names      map[string]*tracedFile // nil removes the name
	file       *tracedFile
	at         int
	data       []byte
	cut        bool // truncate to the length at
}

type diskSync struct {
	begin, end int
	file       *tracedFile
	dir        string
	reach      int // with an ordered journal: includes all changes until then
}

// printed is an id that a save has printed.
type printed struct {
	end int
	id  string
}

func newTracedDisk(v *victim, base string, calls []syscallLine) *tracedDisk {
	d := &tracedDisk{v: v, root: v.path(".git"), base: base, names: map[string]*tracedFile{}}
	for i := range calls {
		d.take(&calls[i])
	}
	return d
}

func (d *tracedDisk) inside(path string) bool { return strings.HasPrefix(path, d.root+"/") }

// at returns the current file of a name.
func (d *tracedDisk) at(path string) *tracedFile {
	if f, ok := d.names[path]; ok {
		return f
	}
	info, err := os.Stat(d.base + strings.TrimPrefix(path, d.root))
	if err != nil {
		return nil
	}
	f := &tracedFile{dir: info.IsDir()}
	if !f.dir {
		data, err := os.ReadFile(d.base + strings.TrimPrefix(path, d.root))
		require.NoError(d.v.t, err)
		f.base, f.size = data, len(data)
	}
	d.names[path] = f
	return f
}

func (d *tracedDisk) name(c *syscallLine, names map[string]*tracedFile) {
	for path, f := range names {
		if !d.inside(path) {
			delete(names, path)
			continue
		}
		if old := d.at(path); old != nil {
			old.changed = c.end
		}
		d.names[path] = f
		for _, touched := range []*tracedFile{f, d.at(filepath.Dir(path))} {
			if touched != nil {
				touched.changed = c.end
			}
		}
	}
	if len(names) > 0 {
		d.ops = append(d.ops, diskOp{begin: c.begin, end: c.end, names: names})
	}
}

func (d *tracedDisk) take(c *syscallLine) {
	if c.ret < 0 {
		return
	}
	switch c.name {
	case "open", "openat", "creat":
		d.open(c)
	case "mkdir", "mkdirat":
		d.name(c, map[string]*tracedFile{c.paths(d.v.dir)[0]: {dir: true}})
	case "unlink", "unlinkat", "rmdir":
		d.name(c, map[string]*tracedFile{c.paths(d.v.dir)[0]: nil})
	case "rename", "renameat", "renameat2":
		require.NotContains(d.v.t, c.args, "RENAME_EXCHANGE")
		p := c.paths(d.v.dir)
		d.name(c, map[string]*tracedFile{p[1]: d.at(p[0]), p[0]: nil})
	case "link", "linkat":
		p := c.paths(d.v.dir)
		d.name(c, map[string]*tracedFile{p[1]: d.at(p[0])})
	case "fsync", "fdatasync":
		d.sync(c)
	case "sync_file_range":
		if f := d.at(c.file()); strings.Contains(c.args, "WAIT_AFTER") && f != nil {
			d.written = append(d.written, diskSync{begin: c.begin, end: c.end, file: f})
			if f.dirty {
				f.dirty, f.changed = false, c.end // its blocks are allocated on the disk
			}
		}
	case "utimensat":
		if p := c.paths(d.v.dir); len(p) > 0 && d.inside(p[0]) && d.at(p[0]) != nil {
			d.at(p[0]).changed = c.end
		}
	case "write", "pwrite64", "ftruncate":
		d.write(c)
	default:
		require.False(d.v.t, d.inside(c.file()) || len(c.paths(d.v.dir)) > 0 && d.inside(c.paths(d.v.dir)[0]), "%s(%s) is not understood", c.name, c.args)
	}
}

func (d *tracedDisk) sync(c *syscallLine) {
	s := diskSync{begin: c.begin, end: c.end, file: d.at(c.file()), dir: c.file()}
	if s.file != nil {
		if s.file.dirty {
			s.file.dirty, s.file.changed = false, c.begin
		}
		s.reach = s.file.changed
	}
	d.syncs = append(d.syncs, s)
}

func (d *tracedDisk) open(c *syscallLine) {
	path := c.paths(d.v.dir)[0]
	if !d.inside(path) || !strings.Contains(c.args, "O_CREAT") && c.name != "creat" && !strings.Contains(c.args, "O_TRUNC") {
		return
	}
	f := d.at(path)
	if f == nil {
		if strings.HasPrefix(path, d.root+"/refs/") && strings.HasSuffix(path, ".lock") {
			d.locks = append(d.locks, c.end)
		}
		d.name(c, map[string]*tracedFile{path: {}})
	} else if strings.Contains(c.args, "O_TRUNC") || c.name == "creat" {
		f.size = 0
		d.ops = append(d.ops, diskOp{begin: c.begin, end: c.end, file: f, cut: true})
	}
}

// write treats a write call as an append: git writes new files and reflogs so, and this
// program its new files.
func (d *tracedDisk) write(c *syscallLine) {
	text := ""
	if s := c.strings(); len(s) > 0 && c.name != "ftruncate" {
		text = s[0][:min(int(c.ret), len(s[0]))]
	}
	if fdNumber.FindString(c.args) == "1" && strings.HasPrefix(text, "CP-") {
		d.print = append(d.print, printed{c.end, strings.TrimSpace(text)})
	}
	f := d.at(c.file())
	if !d.inside(c.file()) || f == nil || f.dir {
		return
	}
	op := diskOp{begin: c.begin, end: c.end, file: f, at: f.size, data: []byte(text)}
	switch c.name {
	case "pwrite64":
		op.at = c.number()
	case "ftruncate":
		op.at, op.cut, f.size = c.number(), true, c.number()
	}
	f.size = max(f.size, op.at+len(op.data))
	f.dirty, f.changed = true, c.end
	d.ops = append(d.ops, op)
}

// durable reports whether an operation survives a loss of power at a time.
func (d *tracedDisk) durable(op *diskOp, now int) bool {
	for _, s := range d.syncs {
		if s.begin <= op.end || s.end > now {
			continue
		}
		if op.file != nil && s.file == op.file || d.ordered && s.reach >= op.end && (op.file == nil || d.out(op, s.reach)) {
			return true
		}
		for path := range op.names {
			if s.dir == filepath.Dir(path) {
				return true
			}
		}
	}
	return false
}

// out reports whether the data of an operation was written out at a time.
func (d *tracedDisk) out(op *diskOp, now int) bool {
	return slices.ContainsFunc(d.written, func(w diskSync) bool { return w.file == op.file && w.begin > op.end && w.end <= now })
}

// Kinds of losses. Each kind loses other parts of the data that is not durable.
const (
	loseAll = iota
	loseNone
	loseLate // all changes after some time
	loseSome // random changes, including the last bytes of a write
	loseData // names are present, file contents are lost
	loseNames
	lossKinds
)

// crash creates a directory with the content of the disk after a loss of power.
func (d *tracedDisk) crash(to string, now, kind int) {
	t := d.v.t
	t.Helper()
	require.NoError(t, copyTree(d.base, to))
	late, journal := rand.IntN(now+1), d.journal(now, kind)
	names := map[string]*tracedFile{}
	data := map[*tracedFile][]byte{}
	for i := range d.ops {
		op := &d.ops[i]
		if op.begin > now {
			continue
		}
		written := op.data
		switch {
		case d.durable(op, now):
		case d.ordered && op.file == nil:
			if op.end > journal {
				continue
			}
		case d.ordered && d.out(op, journal):
		default:
			switch {
			case kind == loseAll, kind == loseLate && op.begin > late, kind == loseSome && rand.IntN(2) == 0,
				kind == loseData && op.file != nil, kind == loseNames && op.file == nil:
				continue
			case kind == loseSome && len(written) > 0:
				written = written[:rand.IntN(len(written)+1)]
			}
		}
		for path, f := range op.names {
			names[path] = f
		}
		if op.file != nil {
			data[op.file] = op.apply(data[op.file], written)
		}
	}
	d.lay(to, names, data)
}

// journal returns the time until which an ordered journal is on the disk. All earlier
// changes are durable.
func (d *tracedDisk) journal(now, kind int) int {
	reach := 0
	for _, s := range d.syncs {
		if s.end <= now {
			reach = max(reach, s.reach)
		}
	}
	switch kind {
	case loseAll, loseNames:
		return reach
	case loseNone, loseData:
		return now
	}
	return reach + rand.IntN(max(now-reach, 0)+1)
}

func (op *diskOp) apply(have, written []byte) []byte {
	if have == nil {
		have = slices.Clone(op.file.base)
	}
	end := op.at + len(written)
	if grow := end - len(have); grow > 0 {
		have = append(have, make([]byte, grow)...)
	}
	if op.cut {
		return have[:op.at]
	}
	copy(have[op.at:], written)
	return have
}

// lay writes these files to a copy of the base.
func (d *tracedDisk) lay(to string, names map[string]*tracedFile, data map[*tracedFile][]byte) {
	t := d.v.t
	t.Helper()
	paths := make([]string, 0, len(names))
	for path := range names {
		paths = append(paths, path)
	}
	slices.Sort(paths) // directories before their entries
	made := map[*tracedFile]string{}
	for _, path := range paths {
		f, target := names[path], to+strings.TrimPrefix(path, d.root)
		if info, err := os.Stat(filepath.Dir(target)); err != nil || !info.IsDir() {
			continue // its directory was lost
		}
		require.NoError(t, os.RemoveAll(target))
		switch {
		case f == nil:
		case f.dir:
			require.NoError(t, os.Mkdir(target, 0o777))
		case made[f] != "":
			require.NoError(t, os.Link(made[f], target))
		default:
			made[f] = target
			content, ok := data[f]
			if !ok {
				content = f.base
			}
			require.NoError(t, os.WriteFile(target, content, 0o666))
		}
	}
	for f, content := range data { // files without a new name
		for path, g := range d.names {
			if _, moved := names[path]; g == f && !moved && f.base != nil {
				require.NoError(t, os.WriteFile(to+strings.TrimPrefix(path, d.root), content, 0o666), fmt.Sprint(path))
			}
		}
	}
}
