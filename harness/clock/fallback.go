package clock

import "time"

func fallback() int64 { return time.Now().UnixNano() }
