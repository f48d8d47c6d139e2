package lab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// cacheKey and cacheTTL are what both caches are asked with.
const (
	cacheKey = "test_object"
	cacheTTL = 3600 * time.Second
)

// object is what both cache pages give.
type object struct {
	Key1 int    `json:"key1"`
	Key2 string `json:"key2"`
	Key3 []int  `json:"key3"`
}

// makeObject is the work that a cache saves.
func makeObject() object { return object{Key1: 1, Key2: "hello world", Key3: []int{1, 2, 3}} }

// render writes the object as PHP's print_r does.
func (o object) render() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Array\n(\n    [key1] => %d\n    [key2] => %s\n    [key3] => Array\n        (\n", o.Key1, o.Key2)
	for i, v := range o.Key3 {
		fmt.Fprintf(&b, "            [%d] => %d\n", i, v)
	}
	b.WriteString("        )\n\n)\n")
	return []byte(b.String())
}

// localCache is a cache in the process's memory. Like APCu it holds values in
// serialised form, so that each reader gets a copy of its own.
type localCache struct {
	mu    sync.RWMutex
	items map[string]localItem
}

type localItem struct {
	value   []byte
	expires time.Time
}

func (c *localCache) get(key string) ([]byte, bool) {
	c.mu.RLock()
	item, ok := c.items[key]
	c.mu.RUnlock()
	if !ok || !time.Now().Before(item.expires) {
		return nil, false
	}
	return item.value, true
}

func (c *localCache) set(key string, value []byte, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = map[string]localItem{}
	}
	c.items[key] = localItem{value: value, expires: time.Now().Add(ttl)}
}

// serveLocal gives the object from the cache in this process.
func (d *Demo) serveLocal(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	value, hit := d.local.get(cacheKey)
	var o object
	if hit {
		if err := json.Unmarshal(value, &o); err != nil {
			text(w, r, http.StatusInternalServerError, "500: "+err.Error()+"\n")
			return
		}
	} else {
		o = makeObject()
		value, err := json.Marshal(o)
		if err != nil {
			text(w, r, http.StatusInternalServerError, "500: "+err.Error()+"\n")
			return
		}
		d.local.set(cacheKey, value, cacheTTL)
	}
	d.sendObject(w, r, o, hit, time.Since(begin))
}

// serveRemote gives the object from memcached: over a new connection, or with
// ?persistent=1 over one that is kept.
func (d *Demo) serveRemote(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	var o object
	hit, err := d.remote.with(r.Context(), r.URL.RawQuery != "" && r.URL.Query().Get("persistent") == "1", func(c *memcachedConn) (bool, error) {
		value, hit, err := c.get(cacheKey)
		if err != nil {
			return false, err
		}
		if hit {
			return true, json.Unmarshal(value, &o)
		}
		o = makeObject()
		if value, err = json.Marshal(o); err != nil {
			return false, err
		}
		return false, c.set(cacheKey, value, cacheTTL)
	})
	if err != nil {
		text(w, r, http.StatusBadGateway, "502: memcached: "+err.Error()+"\n")
		return
	}
	d.sendObject(w, r, o, hit, time.Since(begin))
}

func (d *Demo) sendObject(w http.ResponseWriter, r *http.Request, o object, hit bool, took time.Duration) {
	h := w.Header()
	h["X-Cache"] = d.pages.miss
	if hit {
		h["X-Cache"] = d.pages.hit
	}
	h["Server-Timing"] = []string{"cache;dur=" + strconv.FormatFloat(float64(took)/1e6, 'f', 3, 64)}
	h["Cache-Control"] = d.pages.noStore
	h["Content-Type"] = d.pages.plainType
	body := o.render()
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}
