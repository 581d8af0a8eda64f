package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"receiver/carteiro" // go mod init receiver
)

var secrets = strings.Split(os.Getenv("CARTEIRO_SECRETS"), ",") // the new one and, while a rotation lasts, the one before

func main() {
	http.HandleFunc("/carteiro", func(w http.ResponseWriter, r *http.Request) {
		rawBody, err := io.ReadAll(r.Body) // before any parsing
		if err != nil || !carteiro.Verify(rawBody, r.Header, secrets, time.Now()) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		// Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
		w.WriteHeader(http.StatusNoContent)
	})
	http.ListenAndServe(":"+os.Getenv("PORT"), nil)
}
