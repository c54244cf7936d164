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

// A tracedDisk knows what system calls did to the files below a directory,
// and so what may be on the disk when the power fails: what was written to a
// file is there for sure once the file was synced after that, and what became
// of a name once its directory was. Of the rest, anything.
//
// Where the journal is ordered, as that of ext4, a sync of any file takes all
// names that were changed before it, and what was written out before it.
type tracedDisk struct {
	v       *victim
	ordered bool
	root    string // the directory
	base    string // a copy of it from before
	names   map[string]*tracedFile
	ops     []diskOp
	syncs   []diskSync
	written []diskSync
	print   []printed
}

// A tracedFile is a file or directory, whatever its name.
type tracedFile struct {
	dir  bool
	size int
	base []byte // what was in it before
}

// A diskOp changes names together, or what is in a file.
type diskOp struct {
	begin, end int
	names      map[string]*tracedFile // nil removes
	file       *tracedFile
	at         int
	data       []byte
	cut        bool // to the length at
}

type diskSync struct {
	begin, end int
	file       *tracedFile
	dir        string
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

// at is the file that has a name now.
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
		d.at(path)
		d.names[path] = f
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
		d.syncs = append(d.syncs, diskSync{c.begin, c.end, d.at(c.file()), c.file()})
	case "sync_file_range":
		if strings.Contains(c.args, "WAIT_AFTER") {
			d.written = append(d.written, diskSync{c.begin, c.end, d.at(c.file()), c.file()})
		}
	case "write", "pwrite64", "ftruncate":
		d.write(c)
	default:
		require.False(d.v.t, d.inside(c.file()) || len(c.paths(d.v.dir)) > 0 && d.inside(c.paths(d.v.dir)[0]), "%s(%s) is not understood", c.name, c.args)
	}
}

func (d *tracedDisk) open(c *syscallLine) {
	path := c.paths(d.v.dir)[0]
	if !d.inside(path) || !strings.Contains(c.args, "O_CREAT") && c.name != "creat" && !strings.Contains(c.args, "O_TRUNC") {
		return
	}
	f := d.at(path)
	if f == nil {
		d.name(c, map[string]*tracedFile{path: {}})
	} else if strings.Contains(c.args, "O_TRUNC") || c.name == "creat" {
		f.size = 0
		d.ops = append(d.ops, diskOp{begin: c.begin, end: c.end, file: f, cut: true})
	}
}

// write takes a plain write to be at the end of the file: so git writes new
// files and reflogs, and this program its new files.
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
	d.ops = append(d.ops, op)
}

// durable reports whether an operation survives a loss of power at a time.
func (d *tracedDisk) durable(op *diskOp, now int) bool {
	for _, s := range d.syncs {
		if s.begin <= op.end || s.end > now {
			continue
		}
		if op.file != nil && s.file == op.file || d.ordered && (op.file == nil || d.out(op, s.begin)) {
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

// out reports whether what was written has been written out at a time.
func (d *tracedDisk) out(op *diskOp, now int) bool {
	return slices.ContainsFunc(d.written, func(w diskSync) bool { return w.file == op.file && w.begin > op.end && w.end < now })
}

// Ways in which what is not durable may be lost.
const (
	loseAll = iota
	loseNone
	loseLate // all after some time
	loseSome // at random, the last bytes of a write too
	loseData // names are there, what was in the files is not
	loseNames
	lossKinds
)

// crash makes a directory of what is on the disk after a loss of power.
func (d *tracedDisk) crash(to string, now, kind int) {
	t := d.v.t
	t.Helper()
	require.NoError(t, copyTree(d.base, to))
	late := rand.IntN(now + 1)
	names := map[string]*tracedFile{}
	data := map[*tracedFile][]byte{}
	for i := range d.ops {
		op := &d.ops[i]
		if op.begin > now {
			continue
		}
		written := op.data
		if !d.durable(op, now) {
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

// lay changes a copy of the base to hold these files.
func (d *tracedDisk) lay(to string, names map[string]*tracedFile, data map[*tracedFile][]byte) {
	t := d.v.t
	t.Helper()
	paths := make([]string, 0, len(names))
	for path := range names {
		paths = append(paths, path)
	}
	slices.Sort(paths) // a directory comes before what is in it
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
		default:
			content, ok := data[f]
			if !ok {
				content = f.base
			}
			require.NoError(t, os.WriteFile(target, content, 0o666))
		}
	}
	for f, content := range data { // files that have the name that they had
		for path, g := range d.names {
			if _, moved := names[path]; g == f && !moved && f.base != nil {
				require.NoError(t, os.WriteFile(to+strings.TrimPrefix(path, d.root), content, 0o666), fmt.Sprint(path))
			}
		}
	}
}
