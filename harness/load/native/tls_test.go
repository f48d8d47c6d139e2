package native

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abacus/harness/load"
)

// tlsServer starts an HTTPS server with the given certificate and settings;
// names collects the SNI it saw last.
func tlsServer(t *testing.T, conf *tls.Config, names *atomic.Value) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("hello"))
	}))
	conf.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		names.Store(h.ServerName)
		return nil, nil
	}
	srv.TLS = conf
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

// selfSigned makes a certificate for site.example of the key.
func selfSigned(t *testing.T, key any, public any) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site.example"},
		DNSNames: []string{"site.example"}, NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// The lines that ab prints for the same handshakes are in the facts:
// "TLSv1.3,TLS_AES_128_GCM_SHA256,2048,128" and
// "TLSv1.2,ECDHE-RSA-AES128-GCM-SHA256,2048,128" with "X25519 253 bits".
func TestTLS(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaCert, ecCert := selfSigned(t, rsaKey, &rsaKey.PublicKey), selfSigned(t, ecKey, &ecKey.PublicKey)
	for name, c := range map[string]struct {
		conf *tls.Config
		want load.TLSInfo
	}{
		"1.3, RSA": {&tls.Config{Certificates: []tls.Certificate{rsaCert}, CurvePreferences: []tls.CurveID{tls.X25519}},
			load.TLSInfo{Version: "TLSv1.3", Cipher: "TLS_AES_128_GCM_SHA256", CipherBits: 128, KeyBits: 2048, TempKey: "X25519 253 bits", ServerName: "site.example"}},
		"1.2, RSA": {&tls.Config{Certificates: []tls.Certificate{rsaCert}, MaxVersion: tls.VersionTLS12, CurvePreferences: []tls.CurveID{tls.X25519},
			CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}},
			load.TLSInfo{Version: "TLSv1.2", Cipher: "ECDHE-RSA-AES128-GCM-SHA256", CipherBits: 128, KeyBits: 2048, TempKey: "X25519 253 bits", ServerName: "site.example"}},
		"1.2, ECDSA": {&tls.Config{Certificates: []tls.Certificate{ecCert}, MaxVersion: tls.VersionTLS12, CurvePreferences: []tls.CurveID{tls.CurveP256},
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}},
			load.TLSInfo{Version: "TLSv1.2", Cipher: "ECDHE-ECDSA-AES256-GCM-SHA384", CipherBits: 256, KeyBits: 256, TempKey: "ECDH prime256v1 256 bits", ServerName: "site.example"}},
	} {
		var sni atomic.Value
		srv := tlsServer(t, c.conf, &sni)
		j := job("https://site.example/", 30, 3)
		j.ConnectTo, j.InsecureTLS = srv.Listener.Addr().String(), true
		res := runJob(t, j)
		n := res.Counts
		if n.Complete != 30 || n.Failed != 0 || res.Connect.Count() != 30-*n.KeptAlive || *n.KeptAlive < 27 {
			t.Errorf("%s: counts %+v, errors %v", name, n, res.Errors)
		}
		if res.TLS == nil || *res.TLS != c.want || sni.Load() != "site.example" {
			t.Errorf("%s: %+v, SNI %v\nwant %+v", name, res.TLS, sni.Load(), c.want)
		}
		// The same certificate verified: nobody has signed it but itself.
		j.InsecureTLS, j.Requests = false, 4
		res = runJob(t, j)
		if res.Counts.Connect != 4 || res.Counts.Failed != 4 || res.TLS != nil {
			t.Errorf("%s: not verified: %+v, %+v", name, res.Counts, res.TLS)
		}
		if len(res.Errors) != 1 || !strings.HasPrefix(res.Errors[0].Text, "TLS handshake: tls: failed to verify certificate: x509: certificate signed by unknown authority") {
			t.Errorf("%s: errors %+v", name, res.Errors)
		}
	}
}

func TestTLSWithoutKeepAliveAndWithAddress(t *testing.T) {
	var sni atomic.Value
	srv := tlsServer(t, &tls.Config{}, &sni)
	j := job(srv.URL, 10, 2)
	j.KeepAlive, j.InsecureTLS = false, true
	res := runJob(t, j)
	// A connection each, and an address is not sent as a name.
	if res.Counts.Complete != 10 || res.Connect.Count() != 10 || res.TLS.ServerName != "" || sni.Load() != "" {
		t.Errorf("counts %+v, %d connects, TLS %+v, SNI %q", res.Counts, res.Connect.Count(), res.TLS, sni.Load())
	}
	connect, _ := res.Connect.Min()
	total, _ := res.Total.Min()
	if connect <= 0 || total <= connect {
		t.Errorf("connect %d, total %d: the handshake belongs to both", connect, total)
	}
}

// ab counts these as complete; here they are failed connects.
func TestTLSToAPlainPort(t *testing.T) {
	url := serve(t, sayAndClose(hello))
	j := job(strings.Replace(url, "http", "https", 1), 10, 2)
	res := runJob(t, j)
	if res.Counts.Connect != 10 || res.Counts.Complete != 0 || res.Counts.Requests() != 10 {
		t.Errorf("counts %+v, errors %v", res.Counts, res.Errors)
	}
}
