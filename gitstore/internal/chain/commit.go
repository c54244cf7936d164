package chain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Checkpoint is the description of a checkpoint in its commit. It does not contain the
// record.
type Checkpoint struct {
	ID           checkpoint.ID
	Issue        checkpoint.Issue
	Trigger      checkpoint.Trigger
	Phase        string
	Branch       string
	Resumable    bool
	Clock        checkpoint.Clock // the clock that counts: Clock.Saved of Stated
	Stated       checkpoint.Clock // the trailer
	Scope        string           // whole, staged or cut
	Omitted      int              // number of files that a limit of time or size excluded
	Turn         int              // number of the agent's turn, or 0
	Agent        string
	RestoredFrom string // ids, or ""
	Content      string // see ContentOf; as stated, unless a reader had to compute it
	Version      string
	Created      time.Time // created_at of the record: the author date, in whole seconds
	Saved        time.Time // save or import by this program: the committer date
	Author       string    // name of the author of the commit, "" if it is missing
	After        string    // value of the trailer Checkpoint-After, "" if it is missing; see CameAfter
	Note         string

	Commit   plumbing.Hash
	Tree     plumbing.Hash
	Pinned   bool
	Archived bool
	Filed    ledger.Archival
	Problem  string   // why the commit is not a valid checkpoint, "" if it is valid
	Double   bool     // the chain has another content under this id
	Unclear  bool     // and this clone does not know which of them the id means
	Twins    []string // commits of the other contents, as far as they were read
}

// Imported returns the time of the import of a checkpoint whose record is from another time,
// or the zero time.
func (c *Checkpoint) Imported() time.Time {
	if c.Saved.Equal(c.Created) {
		return time.Time{}
	}
	return c.Saved
}

// Valid reports whether the commit follows the stored form. Verify checks the record.
func (c *Checkpoint) Valid() bool { return c.Problem == "" }

// Later reports whether a later major version, with an unknown format, made the
// checkpoint.
func (c *Checkpoint) Later() bool {
	major, _, _ := strings.Cut(c.Version, ".")
	ours, _, _ := strings.Cut(checkpoint.Version, ".")
	return major != "" && major != ours
}

// CheckpointOf parses the checkpoint's description in a commit. If the commit violates the
// stored form, the result contains the valid parts and a Problem.
func CheckpointOf(c repo.RawCommit, issue checkpoint.Issue) Checkpoint {
	cp := Checkpoint{Issue: issue, Commit: c.Hash, Tree: c.Tree, Created: c.Authored(), Saved: c.Committed(), Author: c.Author(), Resumable: true}
	note, trailers := splitMessage(c.Message)
	cp.Note = note
	seen := uint(0) // bits by the indexes of trailerKeys
	for line := range strings.Lines(trailers) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			cp.Problem = cmp.Or(cp.Problem, "a line among the trailers that is not a trailer")
			continue
		}
		err := cp.setTrailer(key, value)
		if at := slices.Index(trailerKeys, key); at >= 0 {
			if err == nil && seen>>at&1 == 1 {
				err = errors.New("it occurs twice")
			}
			seen |= 1 << at
		}
		if err != nil {
			cp.Problem = cmp.Or(cp.Problem, fmt.Sprintf("%s: %v", key, err))
		}
	}
	cp.Clock = cp.Stated.Saved(cp.Saved)
	for at, key := range trailerKeys {
		isOptional := slices.Contains(optionalTrailers, key) || key != trailerID && cp.Later()
		if cp.Problem == "" && seen>>at&1 == 0 && !isOptional {
			cp.Problem = "no " + key
		}
	}
	if cp.Problem == "" && (len(c.Parents) == 0 || len(c.Parents) > 2) {
		cp.Problem = fmt.Sprintf("%d parents", len(c.Parents))
	}
	return cp
}

func (c *Checkpoint) setTrailer(key, value string) (err error) {
	switch key {
	case trailerID:
		c.ID, err = checkpoint.ParseID(value)
	case trailerIssue:
		var i checkpoint.Issue
		if i, err = checkpoint.IssueFromRef(value); err == nil && i != c.Issue {
			err = fmt.Errorf("it belongs to issue %s", i)
		}
	case trailerTrigger:
		c.Trigger, err = checkpoint.ParseTrigger(value)
	case trailerPhase:
		c.Phase, err = unquoteTrailer(value)
	case trailerBranch:
		c.Branch, err = unquoteTrailer(value)
	case trailerResumable:
		if c.Resumable = value == "true"; !c.Resumable && value != "false" {
			err = fmt.Errorf("%q is neither true nor false", value)
		}
	case trailerClock:
		var ok bool
		if c.Stated, ok = checkpoint.ParseClock(value); !ok {
			err = fmt.Errorf("%q is not a valid clock", value)
		}
	case trailerAfter:
		c.After = value
		_, err = parseIDs(value)
	case trailerScope:
		c.Scope = value
		if !slices.Contains(scopes, value) {
			err = fmt.Errorf("%q is not a scope", value)
		}
	case trailerLeftOut:
		c.Omitted, err = parseCount(value)
	case trailerTurn:
		c.Turn, err = parseCount(value)
	case trailerAgent:
		c.Agent, err = unquoteTrailer(value)
	case trailerRestoredFrom:
		c.RestoredFrom = value
		_, err = parseIDs(value)
	case trailerContent:
		if c.Content = value; len(value) != 64 || strings.Trim(value, "0123456789abcdef") != "" {
			err = fmt.Errorf("%.80q is not a content", value)
		}
	case trailerVersion:
		c.Version = value
		major, minor, _ := strings.Cut(value, ".")
		if !isNumber(major) || !isNumber(minor) {
			err = fmt.Errorf("%.80q is not a version", value)
		}
	}
	return err
}

// parseCount parses a number above 0.
func parseCount(value string) (int, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n <= 0 || !isNumber(value) {
		return 0, fmt.Errorf("%.80q is not a number above 0 and below 2^31", value)
	}
	return int(n), nil
}

// isNumber reports whether a text is a decimal number without leading zeros.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}

// IsLedger reports whether the commit contains only a ledger.
func IsLedger(c repo.RawCommit) bool {
	return strings.HasPrefix(c.Message, LedgerSubject) && len(c.Parents) == 1
}

// Trailer keys, in the order in which they are written.
const (
	trailerID           = "Checkpoint-Id"
	trailerIssue        = "Checkpoint-Issue"
	trailerTrigger      = "Checkpoint-Trigger"
	trailerPhase        = "Checkpoint-Phase"
	trailerBranch       = "Checkpoint-Branch"
	trailerResumable    = "Checkpoint-Resumable"
	trailerClock        = "Checkpoint-Clock"
	trailerAfter        = "Checkpoint-After"
	trailerScope        = "Checkpoint-Scope"
	trailerLeftOut      = "Checkpoint-Left-Out"
	trailerTurn         = "Checkpoint-Turn"
	trailerAgent        = "Checkpoint-Agent"
	trailerRestoredFrom = "Checkpoint-Restored-From"
	trailerContent      = "Checkpoint-Content"
	trailerVersion      = "Checkpoint-Version"
)

// trailerKeys are the keys that occur once at most. Others that begin with "Checkpoint-" are kept
// by rewrites, which keep messages.
var trailerKeys = []string{
	trailerID, trailerIssue, trailerTrigger, trailerPhase, trailerBranch, trailerResumable, trailerClock, trailerAfter,
	trailerScope, trailerLeftOut, trailerTurn, trailerAgent, trailerRestoredFrom, trailerContent, trailerVersion,
}

var optionalTrailers = []string{trailerPhase, trailerBranch, trailerLeftOut, trailerTurn, trailerAgent, trailerRestoredFrom}

var scopes = []string{wholeScope, "staged", "cut"}

const wholeScope = "whole"

// ScopeOf returns snapshot.scope of a record, by default whole.
func ScopeOf(r *checkpoint.Record) string {
	if v, _ := r.Doc().Lookup("snapshot.scope"); v != nil && slices.Contains(scopes, fmt.Sprint(v)) {
		return fmt.Sprint(v)
	}
	return wholeScope
}

// RestoredFrom returns the ids in restored_from of a record, separated by spaces.
func RestoredFrom(r *checkpoint.Record) string {
	var words []string
	for _, text := range r.Doc().Texts("restored_from") {
		if id, err := checkpoint.ParseID(text); err == nil { // another text is an error of Validate
			words = append(words, string(id))
		}
	}
	return strings.Join(words, " ")
}

// MaxMessage is half of the commit size that readers accept. The message of a merged
// checkpoint may be longer than the messages of both sides.
const MaxMessage = 4 << 20

// EncodeMessage returns the commit message of a checkpoint that came after others, without the
// content, which Seal adds.
func EncodeMessage(issue checkpoint.Issue, r *checkpoint.Record, after []checkpoint.ID) string {
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint %s: %s", plainLine(string(issue)), r.Trigger())
	if phase := r.Phase(); phase != "" {
		fmt.Fprintf(&b, " in %s", plainLine(phase))
	}
	b.WriteString("\n\n")
	if note := EncodeNote(r.Note()); note != "" {
		fmt.Fprintf(&b, "%s\n\n", note)
	}
	for _, t := range [][2]string{
		{trailerID, string(r.ID())},
		{trailerIssue, issue.RefName()},
		{trailerTrigger, string(r.Trigger())},
		{trailerPhase, quoteTrailer(r.Phase())},
		{trailerBranch, quoteTrailer(r.Branch())},
		{trailerResumable, strconv.FormatBool(r.CanResume())},
		{trailerClock, strconv.FormatInt(int64(r.Clock()), 10)},
		{trailerAfter, encodeAfter(after)},
		{trailerScope, ScopeOf(r)},
		{trailerLeftOut, encodeCount(len(r.Snapshot().LeftOut()))},
		{trailerTurn, encodeCount(r.AgentTurn().Number)},
		{trailerAgent, quoteTrailer(r.AgentTurn().Agent)},
		{trailerRestoredFrom, RestoredFrom(r)},
		{trailerVersion, r.Version()},
	} {
		if t[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", t[0], t[1])
		}
	}
	return b.String()
}

func encodeCount(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
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
	for line := range strings.Lines(note) {
		lower := strings.ToLower(line)
		if strings.HasPrefix(lower, "checkpoint-") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "---") {
			return "    " + strings.ReplaceAll(note, "\n", "\n    ")
		}
	}
	return note
}

// quoteTrailer encodes a trailer value in one line. Plain text stays unchanged, other
// text is quoted like a C string.
func quoteTrailer(s string) string {
	if strings.TrimSpace(s) == s && plainLine(s) == s && !strings.HasPrefix(s, `"`) {
		return s
	}
	return strconv.QuoteToASCII(s)
}

// unquoteTrailer fails if quoteTrailer does not write s.
func unquoteTrailer(s string) (text string, err error) {
	if text = s; strings.HasPrefix(s, `"`) {
		text, err = strconv.Unquote(s)
	}
	if err != nil || quoteTrailer(text) != s {
		err = fmt.Errorf("%.80q is not in the form of a trailer", s)
	}
	return text, err
}

// splitMessage separates the note from the trailers, which are the last paragraph.
func splitMessage(message string) (note string, trailers string) {
	message = strings.TrimRight(message, "\n")
	at := strings.LastIndex(message, "\n\n")
	if at < 0 {
		return "", ""
	}
	trailers = message[at+2:]
	if _, rest, ok := strings.Cut(message[:at], "\n\n"); ok {
		note = strings.Trim(rest, "\n")
		if text, indented := strings.CutPrefix(note, "    "); indented { // see EncodeNote
			note = strings.ReplaceAll(text, "\n    ", "\n")
		}
	}
	return note, trailers
}
