package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"abacus/harness/fault"
	"abacus/harness/load"
)

// Version is the protocol's version.
const Version = 1

// The longest lines that either side reads. A job may carry a body, a result
// grows by some 200 bytes with each interval.
const (
	maxJobLine    = 64 << 20
	maxRecordLine = 32 << 20
)

// request is the line that the child is given.
type request struct {
	Version int      `json:"version"`
	Job     load.Job `json:"job"`
}

// The types of a record.
const (
	typeProgress = "progress"
	typeResult   = "result"
	typeError    = "error"
)

// record is one line of the child's output.
type record struct {
	Version  int            `json:"version"`
	Type     string         `json:"type"`
	Progress *load.Progress `json:"progress,omitempty"`
	Result   *load.Result   `json:"result,omitempty"`
	Error    *recordError   `json:"error,omitempty"`
}

// recordError is an error that crosses the process boundary: its text, its
// advice, and whether the input was at fault.
type recordError struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Input   bool   `json:"input,omitempty"`
}

func newRecordError(err error) *recordError {
	return &recordError{Message: err.Error(), Hint: fault.HintOf(err), Input: fault.IsInput(err)}
}

func (e *recordError) err() error {
	err := errors.New(e.Message)
	switch {
	case e.Input:
		return fault.Input(err, e.Hint)
	case e.Hint != "":
		return fault.Hint(err, e.Hint)
	}
	return err
}

// readJob reads the one line that the child is given.
func readJob(r *bufio.Reader) (load.Job, error) {
	line, err := readLine(r, maxJobLine)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the input ended before a job came")
		}
		return load.Job{}, err
	}
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		return load.Job{}, fmt.Errorf("not a job: %w", err)
	}
	if req.Version != Version {
		return load.Job{}, fmt.Errorf("the job has version %d of the protocol, this program speaks %d", req.Version, Version)
	}
	return req.Job, nil
}

// readRecord reads the next record; io.EOF is the end of the output.
func readRecord(r *bufio.Reader) (record, error) {
	for {
		line, err := readLine(r, maxRecordLine)
		if err != nil {
			return record{}, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return parseRecord(line)
		}
	}
}

// parseRecord refuses everything that is not exactly one known record.
func parseRecord(line []byte) (record, error) {
	var rec record
	if err := json.Unmarshal(line, &rec); err != nil {
		return record{}, fmt.Errorf("%s is no record: %w", excerpt(line), err)
	}
	if rec.Version != Version {
		return record{}, fmt.Errorf("%s has version %d of the protocol, this program speaks %d", excerpt(line), rec.Version, Version)
	}
	ok := false
	switch rec.Type {
	case typeProgress:
		ok = rec.Progress != nil && rec.Result == nil && rec.Error == nil
	case typeResult:
		ok = rec.Result != nil && rec.Progress == nil && rec.Error == nil
	case typeError:
		ok = rec.Error != nil && rec.Progress == nil
	}
	if !ok {
		return record{}, fmt.Errorf("%s is no record of a known type with its content", excerpt(line))
	}
	return rec, nil
}

// readLine returns the next line without its end. A line of more than most
// bytes is an error before it is memory; a last line without an end is
// io.ErrUnexpectedEOF, since a record was cut off.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > most {
			return nil, fmt.Errorf("a line of more than %d bytes", most)
		}
		line = append(line, piece...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, fmt.Errorf("%s is cut off: %w", excerpt(line), io.ErrUnexpectedEOF)
		default:
			return nil, err
		}
	}
}

// excerpt quotes the beginning of a text.
func excerpt(b []byte) string {
	const most = 80
	if len(b) > most {
		return fmt.Sprintf("%q…", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
