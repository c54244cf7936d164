// Package checkpoint is the record of a checkpoint: its names, its document
// and the text it is stored as.
package checkpoint
