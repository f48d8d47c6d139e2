package abcompat_test

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// answer is what a scripted server does with one request.
type answer struct {
	bytes string
	// reset breaks the connection, hold says nothing until the client leaves,
	// keep goes on reading requests; else the connection is closed in order.
	reset, hold, keep bool
	// awaits is the number of the request that must have come before.
	awaits int
	delay  time.Duration
}

// script answers the k-th request, counted from 1 over all connections.
type script func(k int, r *http.Request) answer

// server runs a script on a free loopback port.
type server struct {
	ln     net.Listener
	script script
	secure *tls.Config
	mu     sync.Mutex
	k      int
	more   *sync.Cond // k has grown, or the server closes
	shut   bool
	// first is closed when the client has done with the first answer, so that
	// the first answer is the first for every client.
	first chan struct{}
	wg    sync.WaitGroup
	conns map[net.Conn]bool
}

func serve(t *testing.T, s script, secure *tls.Config) *server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &server{ln: ln, script: s, secure: secure, first: make(chan struct{}), conns: map[net.Conn]bool{}}
	srv.more = sync.NewCond(&srv.mu)
	srv.wg.Add(1)
	go srv.accept()
	t.Cleanup(srv.close)
	return srv
}

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.ln.Addr().String())
	return port
}

func (s *server) close() {
	s.ln.Close()
	s.mu.Lock()
	s.shut = true
	s.more.Broadcast()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *server) accept() {
	defer s.wg.Done()
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.wg.Add(1)
		go s.talk(c.(*net.TCPConn))
	}
}

func (s *server) talk(tcp *net.TCPConn) {
	defer s.wg.Done()
	defer func() {
		tcp.Close()
		s.mu.Lock()
		delete(s.conns, tcp)
		s.mu.Unlock()
	}()
	var c net.Conn = tcp
	if s.secure != nil {
		c = tls.Server(tcp, s.secure)
	}
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		s.mu.Lock()
		s.k++
		k := s.k
		s.more.Broadcast()
		s.mu.Unlock()
		if k > 1 {
			<-s.first
		}
		a := s.script(k, r)
		s.mu.Lock()
		for s.k < a.awaits && !s.shut {
			s.more.Wait()
		}
		s.mu.Unlock()
		time.Sleep(a.delay) // the answer's own time, nothing is waited for
		switch {
		case a.reset:
			_ = tcp.SetLinger(0)
			return
		case a.hold:
			_, _ = io.Copy(io.Discard, in)
			return
		}
		if _, err := io.WriteString(c, a.bytes); err != nil {
			return
		}
		if !a.keep {
			if k == 1 {
				s.afterFirst(c, tcp)
			}
			if s.secure != nil {
				_ = c.(*tls.Conn).CloseWrite()
			}
			return
		}
		if k == 1 {
			close(s.first)
		}
	}
}

// afterFirst ends the first answer and waits until the client has closed.
func (s *server) afterFirst(c net.Conn, tcp *net.TCPConn) {
	defer close(s.first)
	if t, ok := c.(*tls.Conn); ok {
		_ = t.CloseWrite()
	}
	_ = tcp.CloseWrite()
	_, _ = io.Copy(io.Discard, tcp)
}

const (
	statusOK  = "HTTP/1.0 200 OK\r\n"
	software  = "Server: testd/1.0\r\n"
	date      = "Date: Mon, 30 Nov 2026 18:31:41 GMT\r\n"
	plainText = "Content-Type: text/plain; charset=utf-8\r\n"
	kept      = "Connection: keep-alive\r\n"
	hello     = "hello, benchmark\n"
	five      = statusOK + "Content-Length: 5\r\n\r\nhello"
)

// page is the server of most samples: one page of 17 bytes, kept open when
// asked for.
func page(_ int, r *http.Request) answer {
	a := answer{bytes: statusOK + software + date + "Content-Length: 17\r\n" + plainText}
	if strings.EqualFold(r.Header.Get("Connection"), "keep-alive") {
		a.bytes, a.keep = a.bytes+kept, true
	}
	a.bytes += "\r\n"
	if r.Method != http.MethodHead {
		a.bytes += hello
	}
	return a
}

// certificate makes a self-signed pair with an RSA key of 2,048 bits and a
// configuration that agrees on what the samples agreed on.
func certificate(t *testing.T) *tls.Config {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		Certificates:     []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		CurvePreferences: []tls.CurveID{tls.X25519},
	}
}
