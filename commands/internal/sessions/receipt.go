package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A Receipt records in this clone that a hook gave a session the text about an issue's work. It
// has no text, only its digest and length, so that a model's request can be compared with it.
type Receipt struct {
	At         time.Time        `json:"at"`
	Issue      checkpoint.Issue `json:"issue"`
	Checkpoint checkpoint.ID    `json:"checkpoint"`
	From       string           `json:"from,omitempty"` // agent of the checkpoint's session, or ""
	To         string           `json:"to"`             // agent of the new session
	Session    string           `json:"session"`
	SHA256     string           `json:"sha256"`
	Bytes      int              `json:"bytes"`
	Cut        bool             `json:"cut"` // lines were left out, because the agent reads no more
}

// receipts is the folder of the receipts, a file for each issue with the newest ones, one JSON
// object a line.
const (
	receipts     = "receipts"
	mostReceipts = 20
)

func receiptName(i checkpoint.Issue) string { return receipts + "/" + i.RefName() }

// Digest returns the digest of a text that a session got.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// AddReceipt stores a receipt. An error loses only the receipt.
func AddReceipt(notes gitstore.Notes, r Receipt) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	old, _ := os.ReadFile(notes.Path(receiptName(r.Issue)))
	lines := strings.SplitAfter(string(old), "\n")
	if n := len(lines); n > mostReceipts {
		lines = lines[n-mostReceipts:]
	}
	return notes.Write(receiptName(r.Issue), []byte(strings.Join(lines, "")+string(data)+"\n"))
}

// LastReceipt returns the newest receipt of an issue, and false if there is none.
func LastReceipt(notes gitstore.Notes, i checkpoint.Issue) (last Receipt, ok bool) {
	data, err := os.ReadFile(notes.Path(receiptName(i)))
	if err != nil {
		return last, false
	}
	for line := range strings.Lines(string(data)) {
		var r Receipt
		if json.Unmarshal([]byte(line), &r) == nil && r.Issue == i {
			last, ok = r, true
		}
	}
	return last, ok
}
