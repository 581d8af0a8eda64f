// Command carteiro-audit checks Carteiro's checkpoints and proofs by golang.org/x/mod/sumdb, code that nobody at Carteiro
// wrote: note verifies the signatures, tlog the inclusion and the consistency.
//
//	go run . inclusion PROOF KEY
//	go run . consistency ANSWER OLD NEW KEY
//	go run . header LINE KEY
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type row struct {
	Entry string   `json:"entrada"`
	Seal  int64    `json:"selo"`
	Index int64    `json:"indice"`
	Path  []string `json:"caminho"`
}

type proof struct {
	Event    row    `json:"evento"`
	Attempts []row  `json:"tentativas"`
	Orders   []row  `json:"pedidos"`
	Signed   string `json:"checkpoint"`
	Seals    []struct {
		Number int64    `json:"numero"`
		Entry  string   `json:"entrada"`
		Path   []string `json:"caminho"`
	} `json:"selos"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func run(words []string) error {
	switch {
	case len(words) == 3 && words[0] == "inclusion":
		return inclusion(words[1], words[2])
	case len(words) == 5 && words[0] == "consistency":
		return consistency(words[1], words[2], words[3], words[4])
	case len(words) == 3 && words[0] == "header":
		_, err := open(noteOf(words[1]), words[2])
		return err
	}
	return fmt.Errorf("usage: inclusion PROOF KEY | consistency ANSWER OLD NEW KEY | header LINE KEY")
}

// open verifies a checkpoint's signature and returns its tree.
func open(text, key string) (tlog.Tree, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return tlog.Tree{}, err
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// noteOf is the signed note that a delivery's X-Carteiro-Checkpoint stands for.
func noteOf(header string) string {
	var origin, size, root, signature string
	fmt.Sscan(header, &origin, &size, &root, &signature)
	return origin + "\n" + size + "\n" + root + "\n\n— " + origin + " " + signature + "\n"
}

func hashes(texts []string) ([]tlog.Hash, error) {
	parsed := make([]tlog.Hash, 0, len(texts))
	for _, text := range texts {
		hash, err := tlog.ParseHash(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, hash)
	}
	return parsed, nil
}

func read(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func inclusion(file, key string) error {
	var p proof
	if err := read(file, &p); err != nil {
		return err
	}
	head, err := open(p.Signed, key)
	if err != nil {
		return err
	}
	seals := map[int64]tlog.Tree{}
	for _, seal := range p.Seals {
		path, err := hashes(seal.Path)
		if err != nil {
			return err
		}
		leaf := tlog.RecordHash([]byte(seal.Entry))
		if err := tlog.CheckRecord(path, head.N, head.Hash, seal.Number-1, leaf); err != nil {
			return fmt.Errorf("seal %d: %w", seal.Number, err)
		}
		lines := strings.Split(seal.Entry, "\n")
		rows, err := strconv.ParseInt(lines[3], 10, 64)
		if err != nil {
			return err
		}
		root, err := tlog.ParseHash(lines[4])
		if err != nil {
			return err
		}
		seals[seal.Number] = tlog.Tree{N: rows, Hash: root}
	}
	for _, r := range append(append([]row{p.Event}, p.Attempts...), p.Orders...) {
		entry, err := base64.StdEncoding.DecodeString(r.Entry)
		if err != nil {
			return err
		}
		path, err := hashes(r.Path)
		if err != nil {
			return err
		}
		seal := seals[r.Seal]
		if err := tlog.CheckRecord(path, seal.N, seal.Hash, r.Index, tlog.RecordHash(entry)); err != nil {
			return fmt.Errorf("a row of seal %d: %w", r.Seal, err)
		}
	}
	return nil
}

func consistency(file, old, now, key string) error {
	var answer struct {
		Path []string `json:"caminho"`
	}
	if err := read(file, &answer); err != nil {
		return err
	}
	var trees [2]tlog.Tree
	for i, name := range []string{old, now} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if trees[i], err = open(string(text), key); err != nil {
			return err
		}
	}
	path, err := hashes(answer.Path)
	if err != nil {
		return err
	}
	return tlog.CheckTree(path, trees[1].N, trees[1].Hash, trees[0].N, trees[0].Hash)
}
