package chain

import (
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Trailer keys, in the order in which they are written.
const (
	trailerID        = "Checkpoint-Id"
	trailerIssue     = "Checkpoint-Issue"
	trailerTrigger   = "Checkpoint-Trigger"
	trailerPhase     = "Checkpoint-Phase"
	trailerBranch    = "Checkpoint-Branch"
	trailerResumable = "Checkpoint-Resumable"
	trailerClock     = "Checkpoint-Clock"
	trailerLeftOut   = "Checkpoint-Left-Out"
	trailerVersion   = "Checkpoint-Version"
)

// MaxMessage is half of the commit size that readers accept. The message of a merged
// checkpoint may be longer than the messages of both sides.
const MaxMessage = 4 << 20

// EncodeMessage returns the commit message of a checkpoint.
func EncodeMessage(issue checkpoint.Issue, r *checkpoint.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint %s: %s", plainLine(string(issue)), r.Trigger())
	if phase := r.Phase(); phase != "" {
		fmt.Fprintf(&b, " in %s", plainLine(phase))
	}
	b.WriteString("\n\n")
	if note := EncodeNote(r.Note()); note != "" {
		fmt.Fprintf(&b, "%s\n\n", note)
	}
	leftOut := ""
	if n := len(r.Snapshot().LeftOut()); n > 0 {
		leftOut = strconv.Itoa(n)
	}
	for _, t := range [][2]string{
		{trailerID, string(r.ID())},
		{trailerIssue, issue.RefName()},
		{trailerTrigger, string(r.Trigger())},
		{trailerPhase, quoteTrailer(r.Phase())},
		{trailerBranch, quoteTrailer(r.Branch())},
		{trailerResumable, strconv.FormatBool(r.CanResume())},
		{trailerClock, strconv.FormatInt(int64(r.Clock()), 10)},
		{trailerLeftOut, leftOut},
		{trailerVersion, r.Version()},
	} {
		if t[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", t[0], t[1])
		}
	}
	return b.String()
}

// plainLine replaces control characters, so that the text fits in a subject line.
func plainLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// EncodeNote encodes a note as message paragraph. Git reads trailers only from the last
// paragraph, written by this program. A note with a line that looks like a trailer is
// indented, so that a search for "^Checkpoint-Id: " finds only real trailers. A line
// "---" is indented as well, because git interpret-trailers treats it as the end of the
// message. A commit message cannot contain NUL.
func EncodeNote(note string) string {
	note = strings.Trim(strings.ReplaceAll(note, "\x00", "\ufffd"), "\n")
	if !needsIndent(note) {
		return note
	}
	return "    " + strings.ReplaceAll(note, "\n", "\n    ")
}

func needsIndent(note string) bool {
	for line := range strings.Lines(note) {
		lower := strings.ToLower(line)
		if strings.HasPrefix(lower, "checkpoint-") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "---") {
			return true
		}
	}
	return false
}

// decodeNote is the inverse of EncodeNote.
func decodeNote(text string) string {
	text = strings.Trim(text, "\n")
	if !strings.HasPrefix(text, "    ") {
		return text
	}
	return strings.ReplaceAll(strings.TrimPrefix(text, "    "), "\n    ", "\n")
}

// quoteTrailer encodes a trailer value in one line. Plain text stays unchanged, other
// text is quoted like a C string.
func quoteTrailer(s string) string {
	if strings.TrimSpace(s) == s && plainLine(s) == s && !strings.HasPrefix(s, `"`) {
		return s
	}
	return strconv.QuoteToASCII(s)
}

func unquoteTrailer(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	return strconv.Unquote(s)
}

// splitMessage separates the note from the trailers, which are the last paragraph.
func splitMessage(message string) (note string, trailers string) {
	message = strings.TrimRight(message, "\n")
	at := lastBlank(message)
	if at < 0 {
		return "", ""
	}
	trailers = message[at+2:]
	if _, rest, ok := strings.Cut(message[:at], "\n\n"); ok {
		note = decodeNote(rest)
	}
	return note, trailers
}

// lastBlank returns a message's last index of "\n\n", or -1. It equals strings.LastIndex,
// but searches by line instead of by byte.
func lastBlank(message string) int {
	for end := len(message); ; {
		at := strings.LastIndexByte(message[:end], '\n')
		if at <= 0 {
			return -1
		}
		if message[at-1] == '\n' {
			return at - 1
		}
		end = at
	}
}
