package native

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

func TestExactCounts(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("hello"))
	}))
	defer srv.Close()
	for _, c := range []struct {
		requests    int64
		concurrency int
		keepAlive   bool
		reused      int64
	}{
		{1000, 30, true, 970},
		{1000, 30, false, 0},
		{7, 30, true, 0},
		{1, 1, false, 0},
	} {
		asked.Store(0)
		j := job(srv.URL, c.requests, c.concurrency)
		j.KeepAlive = c.keepAlive
		res := runJob(t, j)
		if got := asked.Load(); got != c.requests {
			t.Errorf("%+v: the server saw %d requests", c, got)
		}
		n := res.Counts
		if n.Complete != c.requests || n.Failed != 0 || n.Requests() != c.requests || *n.KeptAlive < c.reused {
			t.Errorf("%+v: counts %+v, kept alive %d", c, n, *n.KeptAlive)
		}
		if res.Total.Count() != c.requests || res.Connect.Count() != c.requests-*n.KeptAlive || *n.BodyBytes != 5*c.requests {
			t.Errorf("%+v: %d totals, %d connects, %d body bytes", c, res.Total.Count(), res.Connect.Count(), *n.BodyBytes)
		}
	}
}
