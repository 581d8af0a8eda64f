// Package carteiro verifies the signature of a delivery. A file to copy: it needs Go 1.20 or later and nothing else.
//
// Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
package carteiro

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
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
