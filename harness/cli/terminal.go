package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal is what is known of where output goes.
type terminal struct {
	// live tells that it is a terminal on which a line can be redrawn; colour
	// that it may be coloured (not with NO_COLOR or TERM=dumb).
	live, colour bool
	// width is the number of columns, 100 when it is no terminal.
	width int
}

// pipedWidth is the width of output that goes to no terminal.
const pipedWidth = 100

// terminalOf looks at one of the output streams.
func terminalOf(env *Env, w io.Writer) terminal {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return terminal{width: pipedWidth}
	}
	t := terminal{width: pipedWidth, live: env.Getenv("TERM") != "dumb"}
	t.colour = t.live && env.Getenv("NO_COLOR") == ""
	if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
		t.width = min(cols, pipedWidth)
	}
	return t
}

// paint wraps s into a terminal code where colour is wanted.
func (t terminal) paint(s, code string) string {
	if !t.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
