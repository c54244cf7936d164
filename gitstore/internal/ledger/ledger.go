// Package ledger stores facts about the checkpoints of an issue: what was deleted, archived,
// pinned, pruned, purged or reviewed, and from which checkpoint the work goes on.
//
// If a chain lacks a checkpoint, the ledger distinguishes a removal on purpose from a clone
// that never had the checkpoint. Without this record, another clone's copy would restore the
// checkpoint.
//
// A ledger is a UTF-8 text. Each line has one fact and ends in LF. The lines are sorted by their
// bytes, and no line occurs twice. Fields are separated by one space, and no field is empty:
//
//	set deleted <id> <content|*> [<after>...]
//	set pruned <id> <clock> [<after>...]
//	set purged <id> <path>
//	set purged-field <id> <field>
//	set <kind> <key> [<field>...]
//	last archived <id> 1|0 <clock>
//	last reason <id> <reason> <clock>
//	last pin <id> 1|0 <clock>
//	last ended <id> 1|0 <clock>
//	last reviewed <id> <who>=1|0 <clock>
//	last position <id> <who> <clock>
//	last <kind> <key> [<name>=]<value> <clock>
//
// In a field, a space, a percent sign and a control character (0x00 to 0x1f, 0x7f) are written
// as % and two upper-case hex digits. In <who> and <reason>, "=" is written in this way too. An
// unknown person is "-". A clock is a decimal number from 0 to 2^63-1 without leading zeros. A
// content has 64 lower-case hex digits. <after> are the ids of the checkpoint's trailer
// Checkpoint-After: at most 8, or "none". The fields <after> are missing if the ids are unknown.
//
// Ledgers are joined line by line. A set fact is its whole line: the join is the union. A last
// fact has a key: the kind, the third field, and the name before the last "=" of the fourth
// field, if there is one. A ledger has one line for each key. In a join the line with the newest
// clock wins, then the smaller value by its bytes, so that "off" wins. Facts of other kinds are
// kept and joined in the same way.
//
// Pruned is the exception: a pruned line ends if its clock is more than 30 days older than the
// newest clock of the join. That is the newest clock of its checkpoints and of its pruned lines.
//
// What the facts mean:
//
//	deleted       the checkpoint was dropped, with this content or (*) with every content; final
//	archived      the checkpoint moved to the archive (1), or came back (0)
//	reason        why it was archived; it has the clock of the archived line
//	pin           retention must keep it (1), or no more (0)
//	pruned        retention dropped it, and another clone may still have it; the clock is the
//	              newest clock of the chain at that time
//	purged        a path was removed from the checkpoint; purged-field: a text of the record
//	ended         what it came after shares its fate (1): a shallow clone, which could not name these
//	              checkpoints, archived or dropped all of a chain
//	reviewed      a person has reviewed it (1), or has taken this back (0)
//	position      a person went back to it: see Position
//
// Deleted takes precedence over archived, archived over pin, and pin over pruned. A fact never removes
// other facts: a join of two ledgers compares them as they are.
package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// MaxSize limits the bytes of a ledger that Parse accepts.
const MaxSize = 64 << 20

// PrunedFor is the lifetime of a pruned line, measured against the newest clock.
const PrunedFor = 30 * 24 * time.Hour

// AnyContent stands for every content of an id in a deleted line.
const AnyContent = "*"

// Kinds of facts.
const (
	Deleted     = "deleted"
	Pruned      = "pruned"
	purged      = "purged"
	purgedField = "purged-field"
	Archived    = "archived"
	Reason      = "reason"
	Pin         = "pin"
	ended       = "ended"
	reviewed    = "reviewed"
	position    = "position"
)

// A setKey identifies the set facts of one kind about one checkpoint.
type setKey struct{ kind, id string }

type lastKey struct{ kind, id, name string } // name: with the "="

// A stamp is the value of a last fact.
type stamp struct {
	value string
	clock checkpoint.Clock
}

// A Ledger is a set of facts about checkpoints. The zero value is empty and read-only; use New
// or Clone to get a writable ledger. Its maps have the fields in their encoded form.
type Ledger struct {
	sets map[setKey]map[string]bool // by the fields after the id
	last map[lastKey]stamp
}

// New returns an empty, writable ledger.
func New() *Ledger { return &Ledger{map[setKey]map[string]bool{}, map[lastKey]stamp{}} }

// Clone returns a deep, writable copy.
func (l *Ledger) Clone() *Ledger {
	c := New()
	c.Add(l)
	return c
}

// IsEmpty reports whether l has no facts. An empty ledger is not stored as a file.
func (l *Ledger) IsEmpty() bool { return len(l.sets)+len(l.last) == 0 }

// Add joins the facts of o into l. The result does not depend on the order of the ledgers.
func (l *Ledger) Add(o *Ledger) {
	for key, lines := range o.sets {
		for rest := range lines {
			l.set(key, rest)
		}
	}
	for key, s := range o.last {
		if had, ok := l.last[key]; !ok || s.clock > had.clock || s.clock == had.clock && s.value < had.value {
			l.last[key] = s
		}
	}
}

// about returns the set facts of a kind about a checkpoint, by the fields after the id.
func (l *Ledger) about(kind string, id checkpoint.ID) map[string]bool {
	if len(l.sets) == 0 { // most ledgers are empty, and lists ask for each checkpoint
		return nil
	}
	return l.sets[idKey(kind, id)]
}

func (l *Ledger) set(key setKey, rest string) {
	if l.sets[key] == nil {
		l.sets[key] = map[string]bool{}
	}
	l.sets[key][rest] = true
}

// Equal reports whether l and o hold the same facts.
func (l *Ledger) Equal(o *Ledger) bool {
	return maps.Equal(l.last, o.last) && maps.EqualFunc(l.sets, o.sets, func(a, b map[string]bool) bool { return maps.Equal(a, b) })
}

// Deletes reports whether a checkpoint with this content was dropped. AnyContent asks for a
// deletion of all contents.
func (l *Ledger) Deletes(id checkpoint.ID, content string) bool {
	for rest := range l.about(Deleted, id) {
		if of, _, _ := strings.Cut(rest, " "); of == AnyContent || of == content {
			return true
		}
	}
	return false
}

// DeletesContent reports whether a deleted line names one content of the id.
func (l *Ledger) DeletesContent(id checkpoint.ID) bool {
	for rest := range l.about(Deleted, id) {
		if !strings.HasPrefix(rest, AnyContent) {
			return true
		}
	}
	return false
}

// HasDeleted reports whether the id was dropped, with all its contents or with one of them.
func (l *Ledger) HasDeleted(id checkpoint.ID) bool { return len(l.about(Deleted, id)) > 0 }

// IDs returns the ids with a set fact of this kind, or with a last fact whose value is 1 and that
// no deletion overrides, sorted.
func (l *Ledger) IDs(kind string) (ids []checkpoint.ID) {
	for key := range l.sets {
		if key.kind == kind {
			ids = append(ids, checkpoint.ID(decode(key.id)))
		}
	}
	for key := range l.last {
		if id := checkpoint.ID(decode(key.id)); key.kind == kind && l.isOn(kind, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Pinned reports whether checkpoint id is pinned.
func (l *Ledger) Pinned(id checkpoint.ID) bool { return l.isOn(Pin, id) }

// IsArchived reports whether checkpoint id is in the archive.
func (l *Ledger) IsArchived(id checkpoint.ID) bool { return l.isOn(Archived, id) }

// Files reports whether a checkpoint with this content belongs into the archive: it is archived, and
// was not dropped.
func (l *Ledger) Files(id checkpoint.ID, content string) bool {
	return l.IsArchived(id) && !l.Deletes(id, content)
}

func (l *Ledger) isOn(kind string, id checkpoint.ID) bool {
	return len(l.last) > 0 && l.last[lastOf(kind, id)].value == "1" && !l.Deletes(id, AnyContent)
}

// IsPruned reports whether retention dropped checkpoint id.
func (l *Ledger) IsPruned(id checkpoint.ID) bool { return len(l.about(Pruned, id)) > 0 }

// Dead reports whether a checkpoint with this content must not be in a live chain.
func (l *Ledger) Dead(id checkpoint.ID, content string) bool {
	return l.Deletes(id, content) || l.IsArchived(id) || l.IsPruned(id) && !l.Pinned(id)
}

// Delete records that checkpoint id was dropped, with all its contents. after is the value of its
// trailer Checkpoint-After, "" if it is unknown.
func (l *Ledger) Delete(id checkpoint.ID, after string) { l.DeleteContent(id, AnyContent, after) }

// DeleteContent records that one content of checkpoint id was dropped.
func (l *Ledger) DeleteContent(id checkpoint.ID, content, after string) {
	l.set(idKey(Deleted, id), strings.TrimSuffix(content+" "+encodeAfter(after), " "))
}

// Prune records that retention dropped checkpoint id when the newest clock of the chain was at.
func (l *Ledger) Prune(id checkpoint.ID, at checkpoint.Clock, after string) {
	l.set(idKey(Pruned, id), strings.TrimSuffix(at.String()+" "+encodeAfter(after), " "))
}

// After returns the ids that a deleted or pruned checkpoint came after. ok is false if no fact
// tells them.
func (l *Ledger) After(id checkpoint.ID) (after []checkpoint.ID, ok bool) {
	for _, kind := range []string{Deleted, Pruned} {
		for rest := range l.about(kind, id) {
			_, words, known := strings.Cut(rest, " ")
			if ok = ok || known; !known || words == none {
				continue
			}
			for word := range strings.SplitSeq(words, " ") {
				after = append(after, checkpoint.ID(decode(word)))
			}
		}
	}
	slices.Sort(after)
	return slices.Compact(after), ok
}

// SetPin pins or unpins checkpoint id at time now.
func (l *Ledger) SetPin(id checkpoint.ID, on bool, now time.Time) {
	value := "0"
	if on {
		value = "1"
	}
	l.put(Pin, id, value, now)
}

// SetArchived records that checkpoint id moved to the archive at time now, for a reason.
func (l *Ledger) SetArchived(id checkpoint.ID, reason string, now time.Time) {
	at := l.put(Archived, id, "1", now)
	if reason != "" {
		l.last[lastOf(Reason, id)] = stamp{encodeName(reason), at}
	}
}

// File records an archival, unless a newer fact is known.
func (l *Ledger) File(id checkpoint.ID, a Archival) {
	o := New()
	at := checkpoint.Clock(a.At.UnixNano())
	o.last[lastOf(Archived, id)] = stamp{"1", at}
	if a.Why != "" {
		o.last[lastOf(Reason, id)] = stamp{encodeName(string(a.Why)), at}
	}
	l.Add(o)
}

// End records that what checkpoint id came after shares its fate. newest is the newest clock of the chain.
func (l *Ledger) End(id checkpoint.ID, newest checkpoint.Clock, now time.Time) {
	l.last[lastOf(ended, id)] = stamp{"1", newest.Next(now)}
}

// Ended returns the checkpoints with a fact ended that holds, sorted, and the newest clock of these facts.
func (l *Ledger) Ended() (ids []checkpoint.ID, newest checkpoint.Clock) {
	for key, s := range l.last {
		if id := checkpoint.ID(decode(key.id)); key.kind == ended && s.value == "1" && (l.IsArchived(id) || l.HasDeleted(id)) {
			ids, newest = append(ids, id), max(newest, s.clock)
		}
	}
	slices.Sort(ids)
	return ids, newest
}

// put sets a last fact. Its clock is later than that of the former fact, because the newest wins.
func (l *Ledger) put(kind string, id checkpoint.ID, value string, now time.Time) checkpoint.Clock {
	key := lastOf(kind, id)
	before := l.last[key].clock
	at := max(before.Next(now), before+min(1, math.MaxInt64-before))
	l.last[key] = stamp{value, at}
	return at
}

// Revert takes back the change from the ledger before to the ledger after, fact by fact: l gets the
// facts of after. Facts that have changed otherwise stay. End is the ledger after the last undo or
// redo of the change: there a fact can have its value of before with a newer clock. With shared,
// another clone may have the facts of before. Then a deletion stays, because it is final, a last fact
// gets its value of after with a newer clock, and a pin protects a checkpoint that was pruned.
func (l *Ledger) Revert(before, after, end *Ledger, shared bool, now time.Time) {
	for key, lines := range before.sets {
		for rest := range lines {
			if after.sets[key][rest] || !l.sets[key][rest] || shared && key.kind == Deleted {
				continue
			}
			delete(l.sets[key], rest)
			if shared && key.kind == Pruned {
				l.SetPin(checkpoint.ID(decode(key.id)), true, now)
			}
		}
		if len(l.sets[key]) == 0 {
			delete(l.sets, key)
		}
	}
	for key, lines := range after.sets {
		for rest := range lines {
			if before.sets[key][rest] {
				continue
			}
			l.set(key, rest)
			id := checkpoint.ID(decode(key.id))
			if pin := lastOf(Pin, id); shared && key.kind == Pruned && l.Pinned(id) && l.last[pin] == end.last[pin] && !before.Pinned(id) {
				l.SetPin(id, false, now) // the pin of the undo
			}
		}
	}
	changed := maps.Clone(before.last)
	maps.Copy(changed, after.last)
	for key := range changed {
		want, wanted := after.last[key]
		again := l.last[key] == end.last[key] && cmp.Or(end.last[key].value, "0") == cmp.Or(before.last[key].value, "0")
		switch {
		case before.last[key] == want || l.last[key] != before.last[key] && !again:
		case shared && slices.Contains([]string{Archived, Pin, ended}, key.kind):
			l.put(key.kind, checkpoint.ID(decode(key.id)), cmp.Or(want.value, "0"), now)
		case shared && key.kind != Reason:
		case wanted:
			l.last[key] = want
		default:
			delete(l.last, key)
		}
	}
}

// Expire deletes pruned lines that are more than PrunedFor older than newest.
func (l *Ledger) Expire(newest checkpoint.Clock) {
	limit := newest - checkpoint.Clock(PrunedFor)
	for key, lines := range l.sets {
		if key.kind != Pruned {
			continue
		}
		maps.DeleteFunc(lines, func(rest string, _ bool) bool { return prunedAt(rest) < limit })
		if len(lines) == 0 {
			delete(l.sets, key)
		}
	}
}

func prunedAt(rest string) checkpoint.Clock {
	text, _, _ := strings.Cut(rest, " ")
	at, _ := checkpoint.ParseClock(text)
	return at
}

// NewestPruned returns the newest clock of the pruned lines, 0 if l has no pruned line.
func (l *Ledger) NewestPruned() (newest checkpoint.Clock) {
	for key, lines := range l.sets {
		for rest := range lines {
			if key.kind == Pruned {
				newest = max(newest, prunedAt(rest))
			}
		}
	}
	return newest
}

// An Archival records the reason and the time of an archiving. The zero value means that
// both are unknown.
type Archival struct {
	Why retention.Reason // lower-case word, "" if unknown
	At  time.Time
}

// Archival returns the archival of a checkpoint, or zero if it is not archived.
func (l *Ledger) Archival(id checkpoint.ID) Archival {
	if !l.IsArchived(id) {
		return Archival{}
	}
	at := l.last[lastOf(Archived, id)].clock
	return Archival{retention.Reason(decode(l.last[lastOf(Reason, id)].value)), time.Unix(0, int64(at)).UTC()}
}

// LastArchival returns the newest archival of a checkpoint, or zero without archivals.
func (l *Ledger) LastArchival() (last Archival) {
	for _, id := range l.IDs(Archived) {
		if a := l.Archival(id); cmp.Or(a.At.Compare(last.At), cmp.Compare(a.Why, last.Why)) > 0 {
			last = a
		}
	}
	return last
}

// A Position is the restore of all files of a checkpoint that is not the newest one: the work
// goes on from this checkpoint until the next save. The newest position of all ids counts, unless
// a checkpoint has the same or a later clock. The zero value means that there was no restore.
type Position struct {
	ID    checkpoint.ID
	Clock checkpoint.Clock
	By    string // name of the person, "" if unknown
}

// Position returns the newest position with a clock of at most limit, or the zero value.
func (l *Ledger) Position(limit checkpoint.Clock) (newest Position) {
	for key, s := range l.last {
		p := Position{checkpoint.ID(decode(key.id)), s.clock, strings.TrimSuffix(decode(s.value), unknownPerson)}
		if key.kind == position && p.Clock <= limit &&
			cmp.Or(cmp.Compare(p.Clock, newest.Clock), cmp.Compare(p.ID, newest.ID)) > 0 {
			newest = p
		}
	}
	return newest
}

const unknownPerson = "-"

// SetPosition records that a person went back to a checkpoint. newest is the newest clock of the
// chain and of its position.
func (l *Ledger) SetPosition(id checkpoint.ID, by string, newest checkpoint.Clock, now time.Time) {
	l.last[lastOf(position, id)] = stamp{encodeName(cmp.Or(by, unknownPerson)), max(newest, l.last[lastOf(position, id)].clock).Next(now)}
}

// none is <after> of a first checkpoint.
const none = "none"

func idKey(kind string, id checkpoint.ID) setKey { return setKey{kind, encode(string(id))} }

func lastOf(kind string, id checkpoint.ID) lastKey { return lastKey{kind, encode(string(id)), ""} }

func encodeAfter(after string) string {
	words := strings.Split(after, " ")
	for i := range words {
		words[i] = encode(words[i])
	}
	return strings.Join(words, " ")
}

// mustEncode reports whether a byte is written as % and two hex digits.
func mustEncode(b byte) bool { return b <= ' ' || b == '%' || b == 0x7f }

func encode(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < utf8.RuneSelf && mustEncode(byte(r)) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if mustEncode(s[i]) {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// encodeName encodes a field that has no "=", because the last "=" ends a name.
func encodeName(s string) string { return strings.ReplaceAll(encode(s), "=", "%3D") }

// decode is the inverse of encode and encodeName. A field with an invalid escape stays as it is.
func decode(s string) string {
	if text, err := url.PathUnescape(s); err == nil {
		return text
	}
	return s
}

// Encode returns the text form of the ledger, or nil if it is empty. Ledgers with equal facts
// have equal bytes.
func (l *Ledger) Encode() []byte {
	var lines []string
	for key, rests := range l.sets {
		for rest := range rests {
			lines = append(lines, strings.TrimSuffix("set "+key.kind+" "+key.id+" "+rest, " "))
		}
	}
	for key, s := range l.last {
		lines = append(lines, fmt.Sprintf("last %s %s %s%s %d", key.kind, key.id, key.name, s.value, s.clock))
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "\n") + "\n")
}

// Parse parses a ledger in exactly the form that Encode writes. Each error names the line.
func Parse(data []byte) (*Ledger, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("ledger: %d bytes, more than %d", len(data), MaxSize)
	}
	l := New()
	n, before := 0, ""
	for line := range strings.Lines(string(data)) {
		n++
		text, whole := strings.CutSuffix(line, "\n")
		err := l.parseLine(text)
		switch {
		case err == nil && !whole:
			err = errors.New("cut short")
		case err == nil && text <= before:
			err = errors.New("not in order")
		}
		if err != nil {
			return nil, fmt.Errorf("ledger: line %d: %w", n, err)
		}
		before = text
	}
	return l, nil
}

func (l *Ledger) parseLine(line string) error {
	f := strings.Split(line, " ")
	if slices.ContainsFunc(f, isNoField) || !isFact(f) {
		return fmt.Errorf("%.80q is no fact", line)
	}
	if f[0] == "set" {
		l.set(setKey{f[1], f[2]}, strings.Join(f[3:], " "))
		return nil
	}
	key, value := lastKey{f[1], f[2], ""}, f[3]
	if at := strings.LastIndexByte(value, '='); at >= 0 {
		key.name, value = value[:at+1], value[at+1:]
	}
	if _, twice := l.last[key]; twice {
		return fmt.Errorf("a second %s of %s", key.kind, key.id)
	}
	clock, _ := checkpoint.ParseClock(f[4])
	l.last[key] = stamp{value, clock}
	return nil
}

// isNoField reports whether Encode does not write a field: it is empty, or not in its encoded form.
func isNoField(field string) bool {
	// A "=" is written in both forms, because the last one ends a name.
	plain := strings.ReplaceAll(field, "%3D", "=")
	return field == "" || !utf8.ValidString(field) || encode(decode(plain)) != plain
}

// isFact reports whether the fields of a line have the form of their kind.
func isFact(f []string) bool {
	isClock := func(field string) bool { _, ok := checkpoint.ParseClock(field); return ok }
	isSwitch := func(field string) bool { return field == "1" || field == "0" }
	isSet := len(f) >= 3 && f[0] == "set"
	if !isSet && (len(f) != 5 || f[0] != "last" || !isClock(f[4])) {
		return false
	}
	ids, rest, ok := f[2:3], f[3:], true
	switch f[0] + " " + f[1] {
	case "set " + Deleted, "set " + Pruned:
		if len(rest) == 0 || len(rest)-1 > checkpoint.MaxAfter {
			return false
		}
		isContent := rest[0] == AnyContent || len(rest[0]) == 64 && strings.Trim(rest[0], "0123456789abcdef") == ""
		ids, ok = slices.Concat(ids, rest[1:]), f[1] == Deleted && isContent || f[1] == Pruned && isClock(rest[0])
	case "set " + purged, "set " + purgedField:
		ok = len(rest) == 1
	case "last " + Archived, "last " + Pin:
		ok = isSwitch(rest[0])
	case "last " + reviewed:
		at := strings.LastIndexByte(rest[0], '=')
		ok = at > 0 && isSwitch(rest[0][at+1:])
	case "last " + position, "last " + Reason:
		ok = !strings.Contains(rest[0], "=")
	default:
		ids = nil
	}
	return ok && !slices.ContainsFunc(ids, func(field string) bool {
		_, err := checkpoint.ParseID(decode(field))
		return err != nil || encode(decode(field)) != field
	})
}

// A Count counts facts of a ledger by kind.
type Count struct{ Archived, Deleted, Pruned, Pins, Restored int }

// CountMissing counts the facts of l that at least one of the other ledgers lacks.
func (l *Ledger) CountMissing(others ...*Ledger) (n Count) {
	for key := range l.sets {
		switch isMissing := slices.ContainsFunc(others, func(o *Ledger) bool { return len(o.sets[key]) == 0 }); {
		case isMissing && key.kind == Deleted:
			n.Deleted++
		case isMissing && key.kind == Pruned:
			n.Pruned++
		}
	}
	for key, s := range l.last {
		isMissing := slices.ContainsFunc(others, func(o *Ledger) bool {
			return o.last[key] != s && (key.kind != Archived || o.last[key].value != s.value)
		})
		switch {
		case isMissing && key.kind == Archived && s.value == "1":
			n.Archived++
		case isMissing && key.kind == Pin:
			n.Pins++
		case isMissing && key.kind == position:
			n.Restored++
		}
	}
	return n
}
