package load

import (
	"crypto/tls"
	"testing"
)

func TestCipherNames(t *testing.T) {
	// Right side: `openssl ciphers -stdname`.
	for id, want := range map[uint16]string{
		tls.TLS_CHACHA20_POLY1305_SHA256:                  "TLS_CHACHA20_POLY1305_SHA256",
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256:   "ECDHE-RSA-CHACHA20-POLY1305",
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA:          "ECDHE-ECDSA-AES128-SHA",
		tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256:         "ECDHE-RSA-AES128-SHA256",
		tls.TLS_RSA_WITH_AES_256_GCM_SHA384:               "AES256-GCM-SHA384",
		tls.TLS_RSA_WITH_AES_128_CBC_SHA:                  "AES128-SHA",
		tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA:                 "DES-CBC3-SHA",
		tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA:           "ECDHE-RSA-DES-CBC3-SHA",
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
	} {
		if got := opensslCipher(id); got != want {
			t.Errorf("%s is %s, want %s", tls.CipherSuiteName(id), got, want)
		}
	}
	for id, want := range map[tls.CurveID]string{0: "", tls.CurveP384: "ECDH secp384r1 384 bits", tls.CurveP521: "ECDH secp521r1 521 bits", tls.X25519MLKEM768: "X25519MLKEM768"} {
		if got := tempKey(id); got != want {
			t.Errorf("curve %d is %q, want %q", id, got, want)
		}
	}
}

func TestTLSInfoNames(t *testing.T) {
	for version, want := range map[uint16]string{tls.VersionTLS10: "TLSv1", tls.VersionTLS11: "TLSv1.1", tls.VersionTLS12: "TLSv1.2", tls.VersionTLS13: "TLSv1.3"} {
		if got := NewTLSInfo(tls.ConnectionState{Version: version}, "").Version; got != want {
			t.Errorf("version %x is %s, want %s", version, got, want)
		}
	}
	for name, want := range map[string]string{"site.example": "site.example", "10.0.0.1": "", "::1": ""} {
		if got := NewTLSInfo(tls.ConnectionState{}, name).ServerName; got != want {
			t.Errorf("server name of %s is %q, want %q", name, got, want)
		}
	}
}
