// Command carteiro-audit checks Carteiro's checkpoints and proofs by golang.org/x/mod/sumdb, code that nobody at Carteiro
// wrote: note verifies the signatures, tlog the inclusion and the consistency.
//
//	go run . inclusion PROOF KEY
//	go run . consistency ANSWER OLD NEW KEY
//	go run . header LINE KEY
//	go run . vectors FILE
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
	Event    row   `json:"evento"`
	Attempts []row `json:"tentativas"`
	Orders   []row `json:"pedidos"`
	Erasure  *struct {
		Order row `json:"pedido"`
		Page  row `json:"pagina"`
	} `json:"apagamento"`
	Signed string `json:"checkpoint"`
	Seals  []struct {
		Number int64    `json:"numero"`
		Entry  string   `json:"entrada"`
		Path   []string `json:"caminho"`
		// So many hashes more are those at the end of the first seal's path.
		Common int `json:"iguais"`
	} `json:"selos"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) < 2 || os.Args[1] != "vectors" {
		fmt.Println("ok")
	}
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
	case len(words) == 2 && words[0] == "vectors":
		return vectors(words[1])
	}
	return fmt.Errorf("usage: inclusion PROOF KEY | consistency ANSWER OLD NEW KEY | header LINE KEY | vectors FILE")
}

// open verifies a checkpoint's signature and returns its tree.
func open(text string, keys ...string) (tlog.Tree, error) {
	var verifiers []note.Verifier
	for _, key := range keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			return tlog.Tree{}, err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifiers...))
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
	part := strings.Split(header, " ")
	if len(part) != 4 {
		return ""
	}
	return strings.Join(part[:3], "\n") + "\n\n— " + part[0] + " " + part[3] + "\n"
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
		first := p.Seals[0].Path
		path, err := hashes(append(seal.Path[:len(seal.Path):len(seal.Path)], first[max(len(first)-seal.Common, 0):]...))
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
	rows := append(append([]row{p.Event}, p.Attempts...), p.Orders...)
	if p.Erasure != nil {
		rows = append(rows, p.Erasure.Order, p.Erasure.Page)
	}
	for _, r := range rows {
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

// vectors judges the published vectors, and names the first that it judges otherwise.
func vectors(file string) error {
	type hash = tlog.Hash
	var v struct {
		Keys []string
		Rows []struct {
			Table string
			Entry []byte
			Leaf  hash
		}
		Turn struct {
			Leaves []hash
			Root   hash
		}
		Seals []struct {
			Entry string
			Leaf  hash
		}
		Roots []struct {
			Size int64
			Root hash
		}
		Inclusion []struct {
			Name        string
			Valid       bool
			Leaf, Root  hash
			Index, Size int64
			Path        []hash
		}
		Consistency []struct {
			Name      string
			Valid     bool
			Old, Size int64
			OldRoot   hash `json:"old_root"`
			Root      hash
			Path      []hash
		}
		Checkpoints []struct {
			Name, Note string
			Valid      bool
			Size       int64
			Root       hash
		}
		Headers []struct{ Name, Header, Verdict string }
	}
	if err := read(file, &v); err != nil {
		return err
	}
	count := 0
	var wrong error
	judge := func(name string, found, published bool) {
		if count++; found != published && wrong == nil {
			wrong = fmt.Errorf("%s: %v here, %v published", name, found, published)
		}
	}
	for _, r := range v.Rows {
		judge(r.Table, tlog.RecordHash(r.Entry) == r.Leaf, true)
	}
	judge("the turn", rootOf(v.Turn.Leaves) == v.Turn.Root, true)
	var leaves []hash
	for _, seal := range v.Seals {
		leaves = append(leaves, tlog.RecordHash([]byte(seal.Entry)))
		judge("a seal", leaves[len(leaves)-1] == seal.Leaf, true)
	}
	for _, one := range v.Roots {
		judge(fmt.Sprint(one.Size, " seals"), rootOf(leaves[:one.Size]) == one.Root, true)
	}
	for _, one := range v.Inclusion {
		judge(one.Name, tlog.CheckRecord(one.Path, one.Size, one.Root, one.Index, one.Leaf) == nil, one.Valid)
	}
	for _, one := range v.Consistency {
		judge(one.Name, tlog.CheckTree(one.Path, one.Size, one.Root, one.Old, one.OldRoot) == nil, one.Valid)
	}
	for _, one := range v.Checkpoints {
		tree, err := open(one.Note, v.Keys...)
		judge(one.Name, err == nil && tree.N == one.Size && tree.Hash == one.Root, one.Valid)
	}
	for _, one := range v.Headers {
		if one.Header != "" {
			_, err := open(noteOf(one.Header), v.Keys...)
			judge(one.Name, err == nil, one.Verdict != "forged")
		}
	}
	if wrong == nil {
		fmt.Println(count, "vectors as published")
	}
	return wrong
}

// rootOf lets tlog build the tree: each record's hashes are stored behind those before it.
func rootOf(leaves []tlog.Hash) tlog.Hash {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, index := range indexes {
			found = append(found, stored[index])
		}
		return found, nil
	})
	for number, leaf := range leaves {
		hashes, err := tlog.StoredHashesForRecordHash(int64(number), leaf, read)
		if err != nil {
			panic(err)
		}
		stored = append(stored, hashes...)
	}
	root, err := tlog.TreeHash(int64(len(leaves)), read)
	if err != nil {
		panic(err)
	}
	return root
}
