// Runs carteiro.go on one case a line: see test/support/verifiers.ts.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"receiver/carteiro"
)

// headers by their name in lower case.
type headers map[string]string

func (h headers) Get(name string) string { return h[strings.ToLower(name)] }

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		part := strings.Split(lines.Text(), "\t")
		header := headers{}
		for _, given := range part[4:] {
			name, value, _ := strings.Cut(given, "=")
			header[strings.ToLower(name)] = value
		}
		body, _ := base64.StdEncoding.DecodeString(part[3])
		secrets := strings.Split(part[2], ",")
		if part[0] == "verify" {
			now, _ := strconv.ParseInt(part[1], 10, 64)
			fmt.Println(carteiro.Verify(body, header, secrets, time.Unix(now, 0)))
		} else if part[0] == "verifyCheckpoint" {
			seconds, api, _ := strings.Cut(part[1], " ")
			now, _ := strconv.ParseInt(seconds, 10, 64)
			verdict, keep := carteiro.VerifyCheckpoint(header.Get("X-Carteiro-Checkpoint"), secrets, string(body), api, time.Unix(now, 0))
			fmt.Printf("[%q,%q]\n", verdict, keep)
		} else {
			fmt.Println(carteiro.VerifyBody(body, header, secrets))
		}
	}
}
