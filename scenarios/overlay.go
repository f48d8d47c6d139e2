package scenarios

import (
	"reflect"
	"slices"
	"strings"
)

// Overlay lays lower over upper, key by key: a key that lower sets wins, one
// that it does not set keeps upper's value. Observe, Server and Expect are
// overlaid by their own keys, headers by name; the hosts of Allow add up; other
// lists, Lab and Warmup are replaced whole. Neither argument is changed.
func Overlay(upper, lower Settings) Settings {
	out := upper
	headers := overlayHeaders(upper.Headers, lower.Headers)
	overlay(reflect.ValueOf(&out).Elem(), reflect.ValueOf(lower))
	out.Headers = headers
	out.Allow = slices.Concat(upper.Allow, lower.Allow)
	return out
}

// overlay sets every field of dst that src sets.
func overlay(dst, src reflect.Value) {
	for i := range src.NumField() {
		from, to := src.Field(i), dst.Field(i)
		if from.IsZero() {
			continue
		}
		if from.Kind() == reflect.Pointer && !to.IsZero() && mergesByKey(from.Type()) {
			merged := reflect.New(from.Type().Elem())
			merged.Elem().Set(to.Elem())
			overlay(merged.Elem(), from.Elem())
			to.Set(merged)
			continue
		}
		to.Set(from)
	}
}

// mergesByKey tells whether a mapping's keys stand for themselves. A Warmup's
// keys exclude each other and a Lab's depend on its kind, so those are whole.
func mergesByKey(t reflect.Type) bool {
	if t.Elem().Kind() != reflect.Struct {
		return false
	}
	return t != reflect.TypeFor[*Lab]() && t != reflect.TypeFor[*Warmup]()
}

func overlayHeaders(upper, lower Headers) Headers {
	if len(lower) == 0 {
		return upper
	}
	var out Headers
	for _, u := range upper {
		if _, replaced := lower.Get(u.Name); !replaced {
			out = append(out, u)
		}
	}
	return append(out, lower...)
}

// Get returns the value of a header, whatever the case of its name.
func (h Headers) Get(name string) (value string, ok bool) {
	for _, e := range h {
		if strings.EqualFold(e.Name, name) {
			return e.Value, true
		}
	}
	return "", false
}

// StatusURL is where the server's status page is: observe.status, else
// server.status. Both are empty when the lab knows it; off is true when
// nothing is to be polled.
func (s Settings) StatusURL() (url string, off bool) {
	if s.Observe != nil && s.Observe.Status != "" {
		if s.Observe.Status == "off" {
			return "", true
		}
		return s.Observe.Status, false
	}
	if s.Server != nil {
		return s.Server.Status, false
	}
	return "", false
}
