package tasks

import (
	"encoding/json"
	"errors"

	"git-checkpoint/gitstore/checkpoint"
)

// OutputStatus returns the status field of a JSON output, "" if the output has no status.
// It fails if data is not valid JSON, such as a truncated file.
func OutputStatus(data []byte) (string, error) {
	if !json.Valid(data) {
		return "", errors.New("not valid JSON")
	}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil {
		return "", nil // valid JSON, but a list or larger than a record
	}
	return m.Text("status"), nil
}
