package commands

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// tracedCalls are the system calls that change files, names or durability.
const tracedCalls = "open,openat,creat,write,pwrite64,writev,pwritev,ftruncate,truncate,fallocate,copy_file_range,sendfile,splice," +
	"rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,sync_file_range,utimensat"

// A syscallLine is a system call. begin and end are the lines of the trace at which it
// began and returned.
type syscallLine struct {
	name, args string
	begin, end int
	ret        int64
}

// trace runs a shell script in the repository under strace. It returns system calls
// ordered by return time.
func (v *victim) trace(script string) []syscallLine {
	v.t.Helper()
	needs(v.t, "strace")
	log := filepath.Join(v.t.TempDir(), "trace")
	v.must("strace", "-f", "-y", "-xx", "-s", "10000000", "-e", "signal=none", "-e", "trace="+tracedCalls, "-o", log, "sh", "-ec", script)
	f, err := os.Open(log)
	require.NoError(v.t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<28)
	var calls []syscallLine
	waiting := map[string]syscallLine{}
	for n := 0; lines.Scan(); n++ {
		pid, text, _ := strings.Cut(lines.Text(), " ")
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"):
		case strings.HasPrefix(text, "<... "):
			c := waiting[pid]
			_, rest, _ := strings.Cut(text, " resumed>")
			c.args, c.end = c.args+rest, n
			calls = append(calls, c)
		default:
			name, args, ok := strings.Cut(text, "(")
			require.True(v.t, ok, text)
			c := syscallLine{name: name, args: args, begin: n, end: n}
			if begun, ok := strings.CutSuffix(args, " <unfinished ...>"); ok {
				c.args = begun
				waiting[pid] = c
				continue
			}
			calls = append(calls, c)
		}
	}
	require.NoError(v.t, lines.Err())
	require.NotEmpty(v.t, calls)
	for i := range calls {
		calls[i].finish()
	}
	return calls
}

var callEnd = regexp.MustCompile(`\)\s+= (-?\d+|\?).*$`)

// finish separates the result from the arguments.
func (c *syscallLine) finish() {
	m := callEnd.FindStringSubmatchIndex(c.args)
	if m == nil {
		c.ret = -1
		return
	}
	c.ret, _ = strconv.ParseInt(c.args[m[2]:m[3]], 10, 64)
	c.args = c.args[:m[0]]
}

var (
	quoted   = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	ofFD     = regexp.MustCompile(`^\d+<((?:\\x[0-9a-f]{2})*)>`)
	dirFD    = regexp.MustCompile(`(?:AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)>, "((?:\\x[0-9a-f]{2})*)"`)
	lastArg  = regexp.MustCompile(`, (\d+)$`)
	fdNumber = regexp.MustCompile(`^\d+`)
)

func unhex(s string) string {
	text, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		panic(err)
	}
	return text
}

// strings returns the quoted arguments.
func (c *syscallLine) strings() []string {
	var all []string
	for _, m := range quoted.FindAllStringSubmatch(c.args, -1) {
		all = append(all, unhex(m[1]))
	}
	return all
}

// file returns the path of the call's file descriptor.
func (c *syscallLine) file() string {
	if m := ofFD.FindStringSubmatch(c.args); m != nil {
		return strings.TrimSuffix(unhex(m[1]), " (deleted)")
	}
	return ""
}

// paths returns the paths of the call. Paths without a directory descriptor are relative
// to dir.
func (c *syscallLine) paths(dir string) []string {
	var all []string
	if ms := dirFD.FindAllStringSubmatch(c.args, -1); ms != nil {
		for _, m := range ms {
			all = append(all, joinPath(unhex(m[1]), unhex(m[2])))
		}
		return all
	}
	for _, s := range c.strings() {
		all = append(all, joinPath(dir, s))
	}
	return all
}

func joinPath(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// number returns the last argument.
func (c *syscallLine) number() int {
	m := lastArg.FindStringSubmatch(c.args)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
