package scan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// A Result is the result of Read.
type Result struct {
	Findings []Finding
	Skipped  string // reason for skipping the file, "" if scanned
}

// piece is the read buffer size in bytes.
const piece = 256 << 10

// searchers contains searchers with buffers for the next calls of Read. Most files are much smaller
// than the buffers.
var searchers = sync.Pool{New: func() any { return &searcher{buf: make([]byte, 0, piece)} }}

// Read searches a file of any size for secrets, in bounded memory. Text may be UTF-8 or a
// similar encoding, UTF-16 or UTF-32. If a file is binary, only rules with a distinctive
// format apply. If it is compressed, Read skips it.
func Read(r io.Reader) (Result, error) {
	in := bufio.NewReaderSize(r, 16<<10)
	head, err := in.Peek(8000)
	if err != nil && !errors.Is(err, io.EOF) {
		return Result{}, err
	}
	s := searchers.Get().(*searcher)
	defer searchers.Put(s)
	*s = searcher{buf: s.buf, lower: s.lower, hits: s.hits}
	var text io.Reader = in
	switch {
	case slices.ContainsFunc(compressed, func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }):
		return Result{Skipped: "compressed"}, nil
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), isWide(head):
		text = transform.NewReader(in, transform.Chain(unicode.BOMOverride(transform.Nop), withoutNUL))
	case bytes.IndexByte(head, 0) >= 0:
		s.binary = true
	}
	err = s.read(text)
	return Result{Findings: s.found}, err
}

// compressed has the first bytes of compressed files.
var compressed = []string{"\x1f\x8b", "PK\x03\x04", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "BZh", "7z\xbc\xaf\x27\x1c"}

// padding is more NULs than a text in UTF-16 or UTF-32 has in a row. Archives and records of a fixed size
// have it between texts that belong to different files or fields.
const padding = "\x00\x00\x00\x00\x00\x00"

// isWide reports whether the first bytes of a file are a text in UTF-16 or UTF-32: many NULs, but no
// padding, and hardly any other control characters, which binary files have.
func isWide(head []byte) bool {
	zeros, controls := 0, 0
	for _, c := range head {
		switch {
		case c == 0:
			zeros++
		case c < '\t', c > '\r' && c < ' ' && c != '\x1b':
			controls++
		}
	}
	return zeros > len(head)/4 && controls < len(head)/16 && !bytes.Contains(head, []byte(padding))
}

// withoutNUL removes NULs. What is left of the ASCII characters of UTF-32, and of UTF-16 without a byte
// order mark, is ASCII.
var withoutNUL = runes.Remove(runes.Predicate(func(r rune) bool { return r == 0 }))

// read scans a text in pieces.
func (s *searcher) read(r io.Reader) error {
	buf := s.buf[:0]
	for len(s.found) < maxFindings {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				s.lines(buf)
				return nil
			}
			return err
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		keep := buf[end:]
		if end == 0 {
			end, keep = len(buf), buf[len(buf)-overlap:]
		}
		s.lines(buf[:end])
		buf = buf[:copy(buf[:cap(buf)], keep)]
	}
	return nil
}

// A format describes the secrets of a vendor: literal text, and pieces in braces. A piece is a class
// and the number of its characters, as in a regular expression: {h:32}, {a:20,40} or {w:16,}. A
// secret begins after textBefore or "_", and ends before a character that is not in the class of the
// last piece.
//
// The classes are d for digits, h for hexadecimal digits, u for upper-case letters and
// digits, l for lower-case letters and digits, a for letters and digits, w for a, "_" and
// "-", b for a, "+" and "/", and x for w, "+", "/", ".", "=" and "~".
type format string

const (
	digits  = "0123456789"
	lower   = digits + "abcdefghijklmnopqrstuvwxyz"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// classes contains the characters of each class, with "-" last, as in a bracket expression.
var classes = map[string]string{
	"d": digits, "h": "0123456789abcdefABCDEF", "u": strings.ToUpper(lower), "l": lower, "a": letters,
	"w": letters + "_-", "x": letters + "_.=~+/-", "b": letters + "+/",
}

// expression returns the format as a regular expression without boundaries.
func (f format) expression() string {
	pairs := []string{".", `\.`}
	for class, chars := range classes {
		pairs = append(pairs, "{"+class+":", "["+chars+"]{")
	}
	return strings.NewReplacer(pairs...).Replace(string(f))
}

// end returns the regular expression for the end of the format.
func (f format) end() string {
	last := string(f[strings.LastIndexByte(string(f), '{')+1:])
	switch class := last[:1]; {
	case !strings.HasSuffix(last, "}") || strings.HasSuffix(last, ",}"):
		return ""
	case strings.Contains("wxb", class):
		return `(?:[^` + classes[class] + `]|$)`
	}
	return `\b`
}

// word returns the keyword of the format: its longest literal, and the piece after this literal.
func (f format) word() (found word) {
	parts := strings.Split("}"+string(f), "{") // a piece and a literal each
	for i, part := range parts {
		_, literal, _ := strings.Cut(part, "}")
		if len(literal) <= len(found.text) {
			continue
		}
		found = word{text: []byte(strings.ToLower(literal))}
		if i+1 < len(parts) {
			piece, _, _ := strings.Cut(parts[i+1], "}")
			class, times, _ := strings.Cut(piece, ":")
			times, _, _ = strings.Cut(times, ",")
			least, _ := strconv.Atoi(times)
			found.after, found.least = strings.ToLower(classes[class]), min(least, maxFollowing)
		}
	}
	return found
}

// maxFollowing limits the number of characters compared after a keyword.
const maxFollowing = 24

// textBefore is the regular expression for the text before a secret: a boundary of words, or
// the last letter of an escape, as in JSON ("\n"), in a URL ("%3D") and for a terminal's
// colour ("\x1b[31m").
const textBefore = `(?:\b|\\[nrt]|%[0-9A-Fa-f]{2}|\[[\d;]*m)`

// formatRule returns the rule for a vendor's formats. Only keywords are built at once, because
// few texts contain a keyword.
func formatRule(name string, formats ...format) rule {
	r := rule{name: name}
	for _, f := range formats {
		r.keywords = append(r.keywords, f.word())
	}
	r.pattern = sync.OnceValue(func() *regexp.Regexp {
		var each []string
		for _, f := range formats {
			each = append(each, "("+f.expression()+")"+f.end())
		}
		return regexp.MustCompile(`(?:` + textBefore + `|_)(?:` + strings.Join(each, "|") + `)`)
	})
	return r
}
