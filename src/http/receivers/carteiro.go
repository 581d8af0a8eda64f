// Package carteiro verifies the signature of a delivery, and the checkpoint that it carries. A file to copy: it needs Go 1.20 or later and nothing else.
//
// Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
package carteiro

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tolerance bounds a delivery's age, so that nobody can send a recorded one again.
const tolerance = 300

// Header answers a header's value by its name, or "": http.Header does.
type Header interface {
	Get(name string) string
}

// Verify is true when one of secrets signed exactly these bytes within five minutes of now. It reads the Standard
// Webhooks headers.
func Verify(rawBody []byte, header Header, secrets []string, now time.Time) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	sentAt, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil || id == "" {
		return false
	}
	if age := now.Unix() - int64(sentAt); age > tolerance || age < -tolerance {
		return false
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(rawBody)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
			if hmac.Equal([]byte(signature), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

// VerifyBody is true when one of secrets signed exactly these bytes. It reads the contract's headers
// X-Webhook-Signature and, during a rotation, X-Webhook-Signature-Previous. They sign no time: a recorded delivery
// passes, so deduplicate by X-Webhook-Delivery, or use Verify.
func VerifyBody(rawBody []byte, header Header, secrets []string) bool {
	given := []string{header.Get("X-Webhook-Signature"), header.Get("X-Webhook-Signature-Previous")}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(rawBody)
		expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		for _, signature := range given {
			if hmac.Equal([]byte(signature), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

// What VerifyCheckpoint found. OK: signed, and of one log with the kept one. Forged: no key signed it. Fork: the log and the
// kept line exclude each other: keep both lines, and tell the lender. Stopped: of the same log, and older than the kept one, or
// the same for more than a day while deliveries arrive. Ahead: of more seals than the API's log has, and held against it once it has
// them. Tell the lender where either stays so for an hour. Unknown: there was no
// header, or the API gave no answer: try the next one.
const (
	OK      = "ok"
	Forged  = "forged"
	Fork    = "fork"
	Stopped = "parado"
	Ahead   = "adiantado"
	Unknown = "unknown"
)

// VerifyCheckpoint checks the header X-Carteiro-Checkpoint against what was kept last ("" at first), by the log's
// public keys as /.well-known/carteiro-checkpoint-keys shows them: keep those when nothing is in dispute. Where the log has
// grown, the proof is asked of api, the base URL of Carteiro's API. It returns what it found and the text to keep for the next
// time. Call it once the delivery is answered.
func VerifyCheckpoint(header string, keys []string, kept, api string, clock time.Time) (verdict, keep string) {
	if header == "" {
		return Unknown, kept
	}
	// What is kept: a line, the second at which it came, and the least line that was ahead.
	words := append(strings.SplitN(kept, " ", 6), make([]string, 6)...)
	line, ahead, since := strings.TrimRight(strings.Join(words[:4], " "), " "), words[5], clock.Unix()
	if words[4] != "" {
		since, _ = strconv.ParseInt(words[4], 10, 64)
	}
	keepOf := func(line string, since int64, ahead string) string {
		return strings.TrimRight(fmt.Sprintf("%s %d %s", line, since, ahead), " ")
	}
	if header == line {
		if clock.Unix()-since > daySeconds {
			return Stopped, keepOf(line, since, ahead)
		}
		return OK, keepOf(line, since, ahead)
	}
	now, isRead := readCheckpoint(header)
	if !isRead || !now.isSigned(keys) {
		return Forged, kept
	}
	if kept == "" {
		return OK, keepOf(header, clock.Unix(), "")
	}
	before, isRead := readCheckpoint(line)
	if !isRead || before.origin != now.origin {
		return Fork, kept
	}
	later, hasLater := readCheckpoint(ahead)
	hasGrown := now.size > before.size
	old, grown := now, before
	if hasGrown {
		old, grown = before, now
	}
	if isOf, err := isOneLog(api, old, grown); errors.Is(err, errFewer) {
		if hasGrown && (!hasLater || now.size < later.size) {
			return Ahead, keepOf(line, since, header)
		}
		return Ahead, kept
	} else if err != nil {
		return Unknown, kept
	} else if !isOf {
		return Fork, kept
	}
	if now.size < before.size {
		return Stopped, kept
	}
	if !hasGrown {
		return OK, kept
	}
	if hasLater && later.size <= now.size {
		if isTrue, err := isOneLog(api, later, now); err != nil {
			return Unknown, kept
		} else if !isTrue {
			return Fork, kept
		}
		ahead = ""
	}
	return OK, keepOf(header, clock.Unix(), ahead)
}

const daySeconds = 86_400

// isOneLog tells whether one log has both; errFewer: the API's log does not have so many seals.
func isOneLog(api string, old, grown checkpoint) (bool, error) {
	var path [][]byte
	if old.size < grown.size {
		var err error
		if path, err = askForProof(api, old.size, grown.size); err != nil {
			return false, err
		}
	}
	return isConsistent(old, grown, path), nil
}

type checkpoint struct {
	origin          string
	size            int64
	root, signature []byte
}

var line = regexp.MustCompile(`^(\S+) ([1-9]\d{0,14}) ([A-Za-z0-9+/]{43}=) ([A-Za-z0-9+/]{91}=)$`)

func readCheckpoint(text string) (read checkpoint, ok bool) {
	part := line.FindStringSubmatch(text)
	if part == nil {
		return read, false
	}
	read.origin = part[1]
	read.size, _ = strconv.ParseInt(part[2], 10, 64)
	read.root, _ = base64.StdEncoding.DecodeString(part[3])
	read.signature, _ = base64.StdEncoding.DecodeString(part[4])
	return read, true
}

// isSigned reads keys of name, id and base64 behind a type byte, joined by +; a signature has the key's id in front.
func (c checkpoint) isSigned(keys []string) bool {
	text := fmt.Sprintf("%s\n%d\n%s\n", c.origin, c.size, base64.StdEncoding.EncodeToString(c.root))
	for _, key := range keys {
		part := strings.SplitN(strings.TrimSpace(key), "+", 3)
		if len(part) != 3 || part[0] != c.origin || part[1] != hex.EncodeToString(c.signature[:4]) {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(part[2])
		if err != nil || len(data) != 1+ed25519.PublicKeySize || data[0] != 1 {
			continue
		}
		if ed25519.Verify(data[1:], []byte(text), c.signature[4:]) {
			return true
		}
	}
	return false
}

var errFewer = errors.New("the API's log has fewer seals")

func askForProof(api string, from, to int64) ([][]byte, error) {
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(fmt.Sprintf("%s/v1/evidencia/consistencia?de=%d&ate=%d", api, from, to))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return nil, errFewer
	}
	var proof struct {
		Path *[][]byte `json:"caminho"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&proof); err != nil {
		return nil, err
	}
	if proof.Path == nil {
		return nil, fmt.Errorf("the API answered %s", answer.Status)
	}
	return *proof.Path, nil
}

func node(left, right []byte) []byte {
	sum := sha256.Sum256(append(append([]byte{1}, left...), right...))
	return sum[:]
}

// isConsistent is RFC 9162, 2.1.4.2.
func isConsistent(old, grown checkpoint, path [][]byte) bool {
	if old.size == grown.size {
		return len(path) == 0 && bytes.Equal(old.root, grown.root)
	}
	index, last := old.size-1, grown.size-1
	for index&1 == 1 {
		index, last = index>>1, last>>1
	}
	if index == 0 {
		path = append([][]byte{old.root}, path...)
	}
	if len(path) == 0 {
		return false
	}
	before, after := path[0], path[0]
	for _, other := range path[1:] {
		if last == 0 {
			return false
		}
		if index&1 == 1 || index == last {
			before, after = node(other, before), node(other, after)
			for index != 0 && index&1 == 0 {
				index, last = index>>1, last>>1
			}
		} else {
			after = node(after, other)
		}
		index, last = index>>1, last>>1
	}
	return last == 0 && bytes.Equal(before, old.root) && bytes.Equal(after, grown.root)
}
