package heylib

import "testing"

func TestSplitMakesEveryRequest(t *testing.T) {
	for _, c := range []int{1, 2, 3, 7, 30, 499, 500, 501, 1200} {
		for _, n := range []int64{1, 2, 3, 29, 30, 31, 499, 500, 501, 1000, 9999, 500_000} {
			var made int64
			workers, least, most := 0, -1, 0
			for _, s := range split(n, c) {
				if s.workers < 1 || s.workers > keptConnections || s.each < 1 {
					t.Fatalf("split(%d, %d) has the share %+v", n, c, s)
				}
				made += int64(s.workers) * int64(s.each)
				workers += s.workers
				if least < 0 || s.each < least {
					least = s.each
				}
				most = max(most, s.each)
			}
			if made != n {
				t.Errorf("split(%d, %d) makes %d requests", n, c, made)
			}
			if want := int(min(n, int64(c))); workers != want {
				t.Errorf("split(%d, %d) has %d workers, want %d", n, c, workers, want)
			}
			if most-least > 1 {
				t.Errorf("split(%d, %d) gives some workers %d requests and others %d", n, c, least, most)
			}
		}
	}
}

func TestPartSize(t *testing.T) {
	for _, tt := range []struct {
		left, most int64
		c          int
		want       int64
	}{
		{left: 1000, most: 500_000, c: 30, want: 1000},
		{left: 500_000, most: 500_000, c: 30, want: 500_000},
		{left: 500_001, most: 500_000, c: 30, want: 499_980}, // 16,666 × 30
		{left: -1, most: 500_000, c: 50, want: 500_000},
		{left: -1, most: 10, c: 4, want: 8},
		{left: 7, most: 4, c: 9, want: 4}, // more workers than a part has requests
	} {
		if got := partSize(tt.left, tt.most, tt.c); got != tt.want {
			t.Errorf("partSize(%d, %d, %d) = %d, want %d", tt.left, tt.most, tt.c, got, tt.want)
		}
	}
}
