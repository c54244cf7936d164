package tasks

import (
	"encoding/json"
	"errors"

	"git-checkpoint/gitstore/checkpoint"
)

// OutputStatus returns what an output that is JSON says of itself: its status,
// "" where it has none. It fails for what is no JSON, such as half of it.
func OutputStatus(data []byte) (string, error) {
	if !json.Valid(data) {
		return "", errors.New("not valid JSON")
	}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil {
		return "", nil // a list, or more than a record may hold: it is there
	}
	return m.Text("status"), nil
}
