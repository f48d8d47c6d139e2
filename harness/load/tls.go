package load

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"net/netip"
	"strings"
)

// NewTLSInfo puts what a handshake for serverName agreed on into the words
// that ab (OpenSSL) uses. An address is never sent as a name, so it is none.
func NewTLSInfo(s tls.ConnectionState, serverName string) *TLSInfo {
	info := &TLSInfo{
		Version:    opensslVersion(s.Version),
		Cipher:     opensslCipher(s.CipherSuite),
		CipherBits: cipherBits(s.CipherSuite),
		TempKey:    tempKey(s.CurveID),
	}
	if _, err := netip.ParseAddr(serverName); err != nil {
		info.ServerName = serverName
	}
	if len(s.PeerCertificates) > 0 {
		switch key := s.PeerCertificates[0].PublicKey.(type) {
		case *rsa.PublicKey:
			info.KeyBits = key.N.BitLen()
		case *ecdsa.PublicKey:
			info.KeyBits = key.Curve.Params().BitSize
		case ed25519.PublicKey:
			info.KeyBits = 256
		}
	}
	return info
}

func opensslVersion(v uint16) string {
	if v == tls.VersionTLS10 {
		return "TLSv1"
	}
	return strings.Replace(tls.VersionName(v), "TLS ", "TLSv", 1)
}

// opensslCipher turns TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 into OpenSSL's
// ECDHE-RSA-AES128-GCM-SHA256. The suites of TLS 1.3 have one name only.
func opensslCipher(id uint16) string {
	name := tls.CipherSuiteName(id)
	exchange, cipher, old := strings.Cut(strings.TrimPrefix(name, "TLS_"), "_WITH_")
	if !old {
		return name
	}
	cipher = strings.NewReplacer("AES_128", "AES128", "AES_256", "AES256", "3DES_EDE_CBC", "DES-CBC3",
		"RC4_128", "RC4").Replace(cipher)
	switch {
	case strings.HasPrefix(cipher, "AES") && strings.Contains(cipher, "_CBC_"):
		cipher = strings.Replace(cipher, "_CBC_", "_", 1)
	case strings.HasPrefix(cipher, "CHACHA20"):
		cipher = strings.TrimSuffix(cipher, "_SHA256")
	}
	if exchange != "RSA" { // plain RSA goes without saying
		cipher = exchange + "_" + cipher
	}
	return strings.ReplaceAll(cipher, "_", "-")
}

func cipherBits(id uint16) int {
	name := tls.CipherSuiteName(id)
	switch {
	case strings.Contains(name, "3DES"):
		return 168
	case strings.Contains(name, "AES_128"), strings.Contains(name, "RC4_128"):
		return 128
	case strings.Contains(name, "AES_256"), strings.Contains(name, "CHACHA20"):
		return 256
	}
	return 0
}

// tempKey names the key exchange; "" when it was plain RSA.
func tempKey(id tls.CurveID) string {
	switch id {
	case 0:
		return ""
	case tls.X25519:
		return "X25519 253 bits"
	case tls.CurveP256:
		return "ECDH prime256v1 256 bits"
	case tls.CurveP384:
		return "ECDH secp384r1 384 bits"
	case tls.CurveP521:
		return "ECDH secp521r1 521 bits"
	}
	return id.String()
}
