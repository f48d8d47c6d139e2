package heylib

import (
	"fmt"
	"net/http"
	"testing"
)

func TestExactCounts(t *testing.T) {
	for _, keepAlive := range []bool{true, false} {
		for _, tt := range []struct {
			n int64
			c int
		}{{1, 1}, {1, 4}, {3, 4}, {4, 4}, {5, 4}, {7, 4}, {10, 4}, {100, 7}, {1000, 30}, {31, 30}, {997, 50}, {1203, 600}} {
			t.Run(fmt.Sprintf("%d by %d keepalive %v", tt.n, tt.c, keepAlive), func(t *testing.T) {
				url, server := serve(t, hello)
				job := newJob(url, tt.n, tt.c)
				job.KeepAlive = keepAlive
				res := mustRun(t, job)
				if got := server.count(); got != tt.n {
					t.Errorf("the server saw %d requests, want %d", got, tt.n)
				}
				if res.Counts.Complete != tt.n || res.Counts.Failed != 0 || res.Counts.Requests() != tt.n {
					t.Errorf("counts %+v, want %d complete", res.Counts, tt.n)
				}
				if res.StatusCodes[http.StatusOK] != tt.n || res.Counts.Non2xx != 0 {
					t.Errorf("status codes %v, non-2xx %d", res.StatusCodes, res.Counts.Non2xx)
				}
				if got := res.Total.Count(); got != tt.n {
					t.Errorf("total has %d values, want %d", got, tt.n)
				}
				if server.most > tt.c {
					t.Errorf("%d requests under way at once, concurrency is %d", server.most, tt.c)
				}
				if !keepAlive && (server.conns != tt.n || res.Connect.Count() != tt.n || *res.Counts.KeptAlive != 0) {
					t.Errorf("%d connections, %d connects, %d kept alive: want %d, all new", server.conns, res.Connect.Count(), *res.Counts.KeptAlive, tt.n)
				}
				// net/http gives up a connection whose request is not known
				// to be written when the answer has come.
				if keepAlive && server.conns > 2*int64(tt.c) {
					t.Errorf("%d connections for %d workers", server.conns, tt.c)
				}
				var inIntervals int64
				for _, iv := range res.Intervals {
					inIntervals += iv.Complete
				}
				if inIntervals != tt.n {
					t.Errorf("intervals hold %d answers, want %d", inIntervals, tt.n)
				}
				last := res.Intervals[len(res.Intervals)-1]
				if last.StartNS+last.LengthNS != res.ElapsedNS {
					t.Errorf("intervals end at %d, elapsed is %d", last.StartNS+last.LengthNS, res.ElapsedNS)
				}
			})
		}
	}
}
