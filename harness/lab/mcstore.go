package lab

import (
	"sync"
	"time"
)

// maxStored bounds what the embedded memcached holds, in bytes.
const maxStored = 64 << 20

// itemOverhead is what an item counts beside its key and value.
const itemOverhead = 64

// storedItem is one value with the client's flags.
type storedItem struct {
	value   []byte
	flags   uint32
	unique  uint64    // the value's version, for gets and cas
	expires time.Time // zero is never
}

// storeStats are the counters that `stats` tells.
type storeStats struct {
	items, bytes                            int64
	gets, hits, misses, expired             int64
	sets, total, deletes, deleteMisses, out int64
}

// store is the embedded memcached's memory.
type store struct {
	mu     sync.Mutex
	items  map[string]storedItem
	unique uint64
	stats  storeStats
}

func newStore() *store { return &store{items: map[string]storedItem{}} }

func size(key string, value []byte) int64 { return int64(len(key) + len(value) + itemOverhead) }

// live returns an item unless it is missing or out of date; the caller holds
// the lock.
func (s *store) live(key string, now time.Time) (item storedItem, ok, expired bool) {
	item, ok = s.items[key]
	if ok && !item.expires.IsZero() && !now.Before(item.expires) {
		s.drop(key, item)
		return storedItem{}, false, true
	}
	return item, ok, false
}

func (s *store) drop(key string, item storedItem) {
	delete(s.items, key)
	s.stats.items--
	s.stats.bytes -= size(key, item.value)
}

func (s *store) get(key string, now time.Time) (storedItem, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, ok, expired := s.live(key, now)
	s.stats.gets++
	if ok {
		s.stats.hits++
	} else {
		s.stats.misses++
	}
	if expired {
		s.stats.expired++
	}
	return item, ok
}

// put stores by one of the commands set, add, replace and cas, and returns
// the protocol's answer. unique is cas's.
func (s *store) put(command, key string, item storedItem, unique uint64, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.sets++
	old, exists, _ := s.live(key, now)
	switch {
	case command == "add" && exists, command == "replace" && !exists:
		return "NOT_STORED"
	case command == "cas" && !exists:
		return "NOT_FOUND"
	case command == "cas" && old.unique != unique:
		return "EXISTS"
	}
	if exists {
		s.drop(key, old)
	}
	s.makeRoom(size(key, item.value))
	s.unique++
	item.unique = s.unique
	s.items[key] = item
	s.stats.items++
	s.stats.total++
	s.stats.bytes += size(key, item.value)
	return "STORED"
}

// makeRoom drops items, any of them, until so many more bytes fit.
func (s *store) makeRoom(bytes int64) {
	for key, item := range s.items {
		if s.stats.bytes+bytes <= maxStored {
			return
		}
		s.drop(key, item)
		s.stats.out++
	}
}

func (s *store) delete(key string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, ok, _ := s.live(key, now)
	if !ok {
		s.stats.deleteMisses++
		return false
	}
	s.stats.deletes++
	s.drop(key, item)
	return true
}

// forget drops an item, uncounted.
func (s *store) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if item, ok := s.items[key]; ok {
		s.drop(key, item)
	}
}

func (s *store) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.items)
	s.stats.items, s.stats.bytes = 0, 0
}

func (s *store) snapshot() storeStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}
