package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
)

type envelope struct {
	Evento     string          `json:"evento"`
	Timestamp  string          `json:"timestamp"`
	ParceiroID *string         `json:"parceiro_id"`
	Data       json.RawMessage `json:"data"`
}

var stored sync.Map

func valid(body []byte, header http.Header) bool {
	for _, secret := range strings.Split(os.Getenv("CARTEIRO_SECRETS"), ",") {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		for _, name := range []string{"X-Webhook-Signature", "X-Webhook-Signature-Previous"} {
			if hmac.Equal([]byte(header.Get(name)), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

func main() {
	http.HandleFunc("/carteiro", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "corpo", http.StatusBadRequest)
			return
		}
		if !valid(body, r.Header) {
			http.Error(w, "assinatura", http.StatusUnauthorized)
			return
		}
		var event envelope
		if err := json.Unmarshal(body, &event); err != nil {
			http.Error(w, "json", http.StatusBadRequest)
			return
		}
		stored.LoadOrStore(r.Header.Get("X-Webhook-Delivery"), event)
		w.WriteHeader(http.StatusOK)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
