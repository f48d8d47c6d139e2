package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"abacus/scenarios"
)

// redacted stands where a literal secret stood.
const redacted = "<redacted>"

// reference is ${NAME}; $${ is a literal ${.
var reference = regexp.MustCompile(`\$\$\{|\$\{([^}]*)\}?`)

// variableName is what may stand in a reference.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Expand replaces each ${NAME} by the variable's value, as headers and body
// have it at run time; $${ gives a literal ${. A variable that is unset or
// empty is an error, and so is a reference that does not end. Errors never
// hold a value of the environment.
func Expand(value string, getenv func(string) string) (string, error) {
	var failed error
	out := reference.ReplaceAllStringFunc(value, func(m string) string {
		if m == "$${" {
			return "${"
		}
		name := strings.TrimSuffix(strings.TrimPrefix(m, "${"), "}")
		v := ""
		switch {
		case failed != nil:
		case !strings.HasSuffix(m, "}"):
			failed = fmt.Errorf("${ without an end; $${ gives a literal ${")
		case !variableName.MatchString(name):
			failed = fmt.Errorf("${%s} does not name an environment variable; $${ gives a literal ${", name)
		default:
			if v = getenv(name); v == "" {
				failed = fmt.Errorf("the environment variable %s is not set", name)
			}
		}
		return v
	})
	if failed != nil {
		return "", failed
	}
	return out, nil
}

// secretHeader tells whether a header's literal value must not be stored.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "apikey":
		return true
	}
	for _, part := range []string{"token", "secret", "passw", "api-key", "apikey", "credential", "session", "private-key", "signature"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return slices.Contains(strings.Split(name, "-"), "auth")
}

// schemeOnly and namesOnly are what may stand beside references: the scheme of
// an Authorization, the names of cookies.
var (
	schemeOnly = regexp.MustCompile(`^(?i:basic|bearer|digest|token|apikey|negotiate)?\s*$`)
	namesOnly  = regexp.MustCompile(`^[A-Za-z0-9_.-]+=(;\s*[A-Za-z0-9_.-]+=)*;?\s*$`)
)

// storedHeader is a header's value as it may be stored and shown: a secret one
// only when all that is secret in it comes from the environment.
func storedHeader(name, value string) string {
	if !secretHeader(name) || value == "" {
		return value
	}
	rest := reference.ReplaceAllString(value, "")
	if rest != value && (schemeOnly.MatchString(rest) || (strings.EqualFold(name, "Cookie") && namesOnly.MatchString(rest))) {
		return value
	}
	return redacted
}

// Redact is the form in which a header's value may be stored and shown:
// <redacted> in place of a literal secret, the value itself otherwise.
func Redact(h scenarios.Header) string { return storedHeader(h.Name, h.Value) }

// isSecretPath tells whether a path ends in a header whose value must not be
// shown.
func isSecretPath(path string) bool {
	i := strings.LastIndex(path, "headers.")
	return i >= 0 && secretHeader(path[i+len("headers."):])
}

// queryWords are the words of a query parameter's name that make its value a
// secret.
func queryWords() []string {
	return []string{"token", "secret", "password", "passwd", "pwd", "passphrase", "apikey", "credential", "credentials", "signature", "sig", "jwt", "auth", "session", "sessionid"}
}

// secretParameter is the name of a parameter in a URL's or path's query that
// carries a secret, "" when none does. A URL is shown everywhere, and names
// variants and folders, so that it cannot be redacted as a header's value is.
func secretParameter(text string) string {
	_, query, _ := strings.Cut(text, "?")
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(pair, "=")
		if plainName, err := url.QueryUnescape(name); err == nil {
			name = plainName
		}
		words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		if value == "" {
			continue
		}
		if strings.Contains(strings.Join(words, "_")+"_", "api_key_") || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(queryWords(), w) }) {
			return name
		}
	}
	return ""
}
