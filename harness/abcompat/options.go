package abcompat

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"abacus/harness/load"
)

// The limits and defaults of ab 2.3 as Debian builds it.
const (
	maxConcurrency = 200000
	// timedRequests is the -n that -t implies.
	timedRequests  = 50000
	defaultTimeout = 30
)

// options is a command line of ab that passed all checks.
type options struct {
	requests, concurrency int
	// timeLimit is -t in seconds, 0 for none; timeout is -s in seconds, below
	// 0 for none.
	timeLimit, timeout int
	// method is "" until an option sets it.
	method      string
	body        []byte
	sendBody    bool
	contentType string
	cookies     []string
	credentials []string
	// headerLines are the -H lines as given.
	headerLines []string
	keepAlive, variableLength, quiet,
	// goOn is -r: receive errors do not end the run.
	goOn bool
	verbosity int
	target    target
}

// stop ends the program before any load: what it says, and how.
type stop struct {
	code int
	text string
	// usage adds the list of options; toStdout is for -V.
	usage, toStdout bool
}

func (s *stop) print(stdout, stderr io.Writer) int {
	w := stderr
	if s.toStdout {
		w = stdout
	}
	fmt.Fprint(w, s.text)
	if s.usage {
		WriteUsage(w)
	}
	return s.code
}

// mistake is ab's err(): the text, an empty line, exit code 1.
func mistake(text string) *stop { return &stop{code: exitFailed, text: text + "\n\n"} }

// misuse is a message followed by the usage text, exit code 22.
func misuse(text string) *stop { return &stop{code: exitUsage, text: text + "\n", usage: true} }

// laterOptions are options of ab that are known and not there yet, by whether
// they take a value.
const laterOptions = "bBwxyzXPdSgeIZfE"

// parse reads a command line as ab does: options up to the first argument
// that is none, then exactly one URL. Each check happens where ab makes it,
// so the first mistake is the one that is told.
func parse(args []string) (*options, *stop) {
	o := &options{requests: 1, concurrency: 1, timeout: defaultTimeout}
	g := getopt{args: args, takesValue: "ncTtspumCHAv", flags: "kilqrVh"}
	for {
		opt, value, state := g.next()
		switch state {
		case optEnd:
			return o.finish(g.rest())
		case optMissing:
			return nil, misuse(fmt.Sprintf("ab: option requires an argument -- %c\nab: wrong number of arguments", opt))
		case optIllegal:
			if strings.IndexByte(laterOptions, opt) >= 0 {
				return nil, &stop{code: exitUsage, text: fmt.Sprintf("ab: option -%c of ab is not supported yet\n", opt)}
			}
			return nil, misuse(fmt.Sprintf("ab: illegal option -- %c", opt))
		}
		if s := o.set(opt, value); s != nil {
			return nil, s
		}
	}
}

// set takes one option.
func (o *options) set(opt byte, value string) *stop {
	switch opt {
	case 'n':
		if o.requests = atoi(value); o.requests <= 0 {
			return mistake("Invalid number of requests")
		}
	case 'c':
		o.concurrency = atoi(value)
	case 't':
		// A -n before it is forgotten, one after it counts.
		o.timeLimit, o.requests = atoi(value), timedRequests
	case 's':
		o.timeout = atoi(value)
	case 'k':
		o.keepAlive = true
	case 'l':
		o.variableLength = true
	case 'q':
		o.quiet = true
	case 'r':
		o.goOn = true
	case 'v':
		o.verbosity = atoi(value)
	case 'T':
		o.contentType = value
	case 'C':
		o.cookies = append(o.cookies, value)
	case 'A':
		o.credentials = append(o.credentials, strings.TrimLeft(value, " \t\n\v\f\r"))
	case 'H':
		return o.addHeader(value)
	case 'm':
		o.method = value
	case 'i':
		return o.setMethod("HEAD")
	case 'p', 'u':
		return o.setBody(map[byte]string{'p': "POST", 'u': "PUT"}[opt], value)
	case 'V':
		return &stop{code: exitDone, text: banner, toStdout: true}
	case 'h':
		return &stop{code: exitUsage, usage: true}
	}
	return nil
}

// setMethod refuses a second method. -m is not checked, so -p before -m sends
// the custom method with the body, as with ab.
func (o *options) setMethod(m string) *stop {
	if o.method != "" {
		return mistake("Cannot mix " + m + " with other methods")
	}
	o.method = m
	return nil
}

func (o *options) setBody(method, file string) *stop {
	if o.method != "" {
		return mistake("Cannot mix " + method + " with other methods")
	}
	// ab says POST for -u too.
	data, err := os.ReadFile(file)
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) && pathErr.Op == "read" {
			return &stop{code: exitFailed, text: "ab: Could not read POST data file: " + errorText(err) + "\n"}
		}
		return &stop{code: exitFailed, text: fmt.Sprintf("ab: Could not open POST data file (%s): %s\n", file, errorText(err))}
	}
	o.method, o.body, o.sendBody = method, data, true
	return nil
}

func (o *options) addHeader(line string) *stop {
	name, value, found := strings.Cut(line, ":")
	if !found || (load.Header{Name: name, Value: value}).Validate() != nil {
		return &stop{code: exitUsage, text: fmt.Sprintf("ab: -H %q is not one header line (Name: value)\n", line)}
	}
	o.headerLines = append(o.headerLines, line)
	return nil
}

// finish makes ab's checks after the options, in its order.
func (o *options) finish(rest []string) (*options, *stop) {
	if len(rest) != 1 {
		return nil, misuse("ab: wrong number of arguments")
	}
	if o.method != "" && !load.IsToken(o.method) {
		return nil, &stop{code: exitUsage, text: fmt.Sprintf("ab: -m %q is not a method name\n", o.method)}
	}
	var ok bool
	if o.target, ok = parseTarget(rest[0]); !ok {
		return nil, misuse("ab: invalid URL")
	}
	if o.concurrency < 0 || o.concurrency > maxConcurrency {
		return nil, misuse(fmt.Sprintf("ab: Invalid Concurrency [Range 0..%d]", maxConcurrency))
	}
	if o.concurrency > o.requests {
		return nil, misuse("ab: Cannot use concurrency level greater than total number of requests")
	}
	if o.timeLimit < 0 {
		return nil, misuse("ab: Invalid time limit")
	}
	return o, nil
}

// heartbeat is the number of requests between two lines of progress, 0 for
// none.
func (o *options) heartbeat() int {
	if o.quiet || o.requests <= 150 {
		return 0
	}
	return max(o.requests/10, 100)
}

func (o *options) methodName() string {
	if o.method == "" {
		return "GET"
	}
	return o.method
}

// timeoutDuration is -s; none becomes a time that no run lasts.
func (o *options) timeoutDuration() time.Duration {
	if o.timeout < 0 {
		return 10 * 365 * 24 * time.Hour
	}
	return time.Duration(o.timeout) * time.Second
}

// errorText is the system's text for an error as C programs print it.
func errorText(err error) string {
	var errno syscall.Errno
	text := err.Error()
	if errors.As(err, &errno) {
		text = errno.Error()
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
