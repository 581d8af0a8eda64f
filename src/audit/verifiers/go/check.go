package main

// check PROOF: starts at the checkpoint, reaches the seals that lead to its root, then the rows that lead to such a seal's. As
// ../../proof/check-proof.ts and ../carteiro_audit.py judge, with the signatures and paths of golang.org/x/mod/sumdb.

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/tlog"
)

// wrong is what makes a proof false; it is thrown, and caught by check.
type wrong string

type object = map[string]any

const (
	maxCharacters = 16 << 20
	maxRows       = 10_000
	rowNames      = "tabela campos entrada resposta? sal? selo indice? caminho?"
)

// What each object of a file has, and nothing else; optional names end with a question mark.
var shapes = map[string]string{
	"":           "formato gerada_em entrega corpo sal evento tentativas pedidos apagamento selos checkpoint ancoras retido",
	"entrega":    "id evento_id webhook_id parceiro_id status criada_em concluida_em",
	"evento":     rowNames,
	"tentativas": rowNames,
	"pedidos":    rowNames,
	"pedido":     rowNames,
	"pagina":     rowNames,
	"apagamento": "pedido pagina",
	"selos":      "numero entrada caminho iguais",
	"ancoras":    "tipo onde checkpoint recibo ancorada_em caminho",
}

// The columns behind the table's name.
var columns = map[string]string{
	"events": "position id stream version type family partner_id occurred_at actor request_id fan_out imported catalog_version " +
		"loan_version snapshot traceparent commitment tx epoch",
	"attempts": "delivery_id number late event_id webhook_id partner_id outcome status_code started_at duration_ms url address " +
		"key_id claim error body_digest commitment recorded_at tx epoch",
	"send_orders":    "position kind webhook_id partner_id delivery_ids actor reason request_id ordered_at tx epoch",
	"erasure_orders": "position id court_order actor reason events pages ordered_at tx epoch",
	"erasure_pages":  "position order_id number event_ids remains tx epoch",
}

func require(holds bool, why string, more ...any) {
	if !holds {
		panic(wrong(fmt.Sprintf(why, more...)))
	}
}

// check judges a proof's text: true, false or nil, and why.
func check(text []byte, keys []string) (verdict any, why string) {
	defer func() {
		if caught := recover(); caught != nil {
			if said, ok := caught.(wrong); ok {
				verdict, why = false, string(said)
			} else {
				verdict, why = false, "the file is no proof of this format"
			}
		}
	}()
	if len(text) > maxCharacters {
		return nil, "the file is too long to be checked"
	}
	require(utf8.Valid(text) && hasWholeSurrogates(text), "no UTF-8")
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	proof := value(decoder, 0).(object)
	_, err := decoder.Token()
	require(errors.Is(err, io.EOF), "more behind the proof")
	hold(proof, "")
	rows := rowsOf(proof)
	if max(len(rows), len(list(proof, "selos"))) > maxRows {
		return nil, "the file is too long to be checked"
	}
	if gap := judgeProof(proof, rows, keys); gap != "" {
		return nil, gap
	}
	return true, ""
}

func hasWholeSurrogates(text []byte) bool {
	unit := func(at int) rune {
		if at+6 > len(text) || text[at] != '\\' || text[at+1] != 'u' {
			return 0
		}
		number, _ := strconv.ParseUint(string(text[at+2:at+6]), 16, 32)
		return rune(number)
	}
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		if one := unit(at); utf16.IsSurrogate(one) {
			if utf16.DecodeRune(one, unit(at+6)) == utf8.RuneError {
				return false
			}
			at += 6
		}
		at++
	}
	return true
}

var integer = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// value reads one value, in whose objects no name stands twice.
func value(decoder *json.Decoder, depth int) any {
	require(depth < 32, "too deep")
	token, err := decoder.Token()
	require(err == nil, "no JSON")
	switch one := token.(type) {
	case json.Number:
		require(integer.MatchString(one.String()), "a number is no integer")
		number, err := one.Int64()
		require(err == nil, "a number is too large")
		return number
	case json.Delim:
		if one == '[' {
			values := []any{}
			for decoder.More() {
				values = append(values, value(decoder, depth+1))
			}
			_, err = decoder.Token()
			require(err == nil, "no JSON")
			return values
		}
		values := object{}
		for decoder.More() {
			name := value(decoder, depth+1).(string)
			_, there := values[name]
			require(!there, "the name %s stands twice", name)
			values[name] = value(decoder, depth+1)
		}
		_, err = decoder.Token()
		require(err == nil, "no JSON")
		return values
	}
	return token
}

var (
	instantForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	texts       = strings.Fields("formato id evento_id webhook_id parceiro_id status corpo tabela entrada resposta checkpoint retido tipo onde recibo")
	nullable    = strings.Fields("entrada resposta checkpoint retido")
)

// hold holds each value to its place: its names, and its kind.
func hold(of object, place string) {
	names := strings.Fields(shapes[place])
	for name := range of {
		require(slices.Contains(names, name) || slices.Contains(names, name+"?"), "%s has an unknown name", place)
	}
	for _, name := range names {
		key, isOptional := strings.CutSuffix(name, "?")
		inner, there := of[key]
		require(there || isOptional, "%s lacks a name", place)
		if !there {
			continue
		}
		switch {
		case key == "campos" || key == "entrega" || key == "pedido" || key == "pagina" || (inner != nil && (key == "evento" || key == "apagamento")):
			if key != "campos" {
				hold(inner.(object), key)
			} else {
				_ = inner.(object)
			}
		case key == "evento" || key == "apagamento":
		case shapes[key] != "":
			for _, one := range inner.([]any) {
				hold(one.(object), key)
			}
		case key == "caminho":
			if inner != nil {
				hashesOf(inner)
			}
		case key == "sal":
			require(inner == nil || len(dataOf(inner)) == 16, "a salt has 16 bytes")
		case key == "numero" || key == "selo":
			if inner != nil || key == "numero" {
				_ = inner.(int64)
			}
		case key == "indice" || key == "iguais":
			require(inner.(int64) >= 0, "%s", key)
		case slices.Contains(texts, key):
			if inner != nil || !slices.Contains(nullable, key) || place == "ancoras" {
				_ = inner.(string)
			}
		default:
			if inner != nil || key != "concluida_em" {
				require(instantForm.MatchString(inner.(string)), "%s", key)
			}
		}
	}
}

func list(of object, name string) []any { return of[name].([]any) }

// dataOf reads base64 as it is written in one way only.
func dataOf(text any) []byte {
	data, err := base64.StdEncoding.Strict().DecodeString(text.(string))
	require(err == nil && base64.StdEncoding.EncodeToString(data) == text, "no base64")
	return data
}

func hashesOf(path any) []tlog.Hash {
	var hashes []tlog.Hash
	for _, one := range path.([]any) {
		data := dataOf(one)
		require(len(data) == tlog.HashSize, "a hash has 32 bytes")
		hashes = append(hashes, tlog.Hash(data))
	}
	return hashes
}

func rowsOf(proof object) []object {
	var rows []object
	if proof["evento"] != nil {
		rows = append(rows, proof["evento"].(object))
	}
	for _, name := range []string{"tentativas", "pedidos"} {
		for _, one := range list(proof, name) {
			rows = append(rows, one.(object))
		}
	}
	if erasure, ok := proof["apagamento"].(object); ok {
		rows = append(rows, erasure["pedido"].(object), erasure["pagina"].(object))
	}
	return rows
}

var sealForm = regexp.MustCompile(`^carteiro/selo/1\n([1-9]\d{0,14})\n\d+ \d+ \d+ \d+\n([1-9]\d{0,9})\n([A-Za-z0-9+/]{43}=)\n[^\n]{24}\n(?:[A-Za-z0-9+/]{43}=\n)?$`)

// judgeProof returns what could not be checked; it throws what is wrong.
func judgeProof(proof object, rows []object, keys []string) (gap string) {
	lacks := func(what string) {
		if gap == "" {
			gap = what
		}
	}
	require(proof["formato"] == "carteiro-prova-2", "another format")
	require(proof["evento"] != nil, "the event is missing")
	var head tlog.Tree
	if note, ok := proof["checkpoint"].(string); !ok || len(keys) == 0 {
		lacks("no key or no checkpoint")
		if ok {
			head = treeOf(note)
		}
	} else {
		opened, err := open(note, keys...)
		require(err == nil, "the checkpoint is not signed by a key that was given")
		head = opened
	}
	if proof["retido"] != nil {
		lacks("masked")
	}
	seals, last, first := map[int64]*tlog.Tree{}, int64(0), []tlog.Hash(nil)
	for index, one := range list(proof, "selos") {
		seal := one.(object)
		entry, number, common := seal["entrada"].(string), seal["numero"].(int64), int(seal["iguais"].(int64))
		found := sealForm.FindStringSubmatch(entry)
		require(found != nil && found[1] == fmt.Sprint(number) && number > last, "no seal, or one that stands twice")
		last, seals[number] = number, nil
		if seal["caminho"] == nil {
			require(common == 0, "a part of a way")
			continue
		}
		path := hashesOf(seal["caminho"])
		if index == 0 {
			first = path
		}
		path = append(path[:len(path):len(path)], first[max(len(first)-common, 0):]...)
		err := errors.New("no checkpoint")
		if head.N > 0 && number <= head.N {
			err = tlog.CheckRecord(path, head.N, head.Hash, number-1, tlog.RecordHash([]byte(entry)))
		}
		require(err == nil, "seal %d does not lead to the checkpoint", number)
		count, _ := strconv.ParseInt(found[2], 10, 64)
		seals[number] = &tlog.Tree{N: count, Hash: tlog.Hash(dataOf(found[3]))}
	}
	var fields []object
	used := map[int64]bool{}
	for _, row := range rows {
		fields = append(fields, reach(row, seals, proof["retido"] != nil, used, lacks))
	}
	require(len(used) == len(seals), "no row is in a seal")
	attempts, orders := len(list(proof, "tentativas")), len(list(proof, "pedidos"))
	if attempts+orders == 0 {
		lacks("entrega.id, entrega.webhook_id: no row names the delivery")
	}
	event, made, ordered := fields[0], fields[1:1+attempts], fields[1+attempts:1+attempts+orders]
	wrongRows(proof, rows, event, made, ordered)
	wrongText(proof, rows[1:], event, made, fields[max(len(fields)-2, 0):])
	wrongStatus(proof["entrega"].(object)["status"].(string), event, made, ordered)
	return gap
}

// reach returns a row's columns, as they were sealed where it is reached.
func reach(row object, seals map[int64]*tlog.Tree, withheld bool, used map[int64]bool, lacks func(string)) object {
	table := row["tabela"].(string)
	index, hasIndex := row["indice"].(int64)
	_, hasPath := row["caminho"]
	var seal *tlog.Tree
	if number, ok := row["selo"].(int64); ok {
		found, there := seals[number]
		require(there, "seal %d is not in the file", number)
		seal, used[number] = found, true
	} else {
		require(!hasIndex && !hasPath, "a way to no seal")
	}
	_, hasAnswer := row["resposta"]
	_, hasSalt := row["sal"]
	require(table == "attempts" || !hasAnswer && !hasSalt, "no attempt has an answer")
	if seal == nil {
		lacks("not sealed under the checkpoint yet")
	}
	shown := row["campos"].(object)
	if row["entrada"] == nil {
		require(withheld, "an entry is missing")
		return shown
	}
	entry := dataOf(row["entrada"])
	if seal != nil {
		require(hasIndex && hasPath && index < seal.N, "a row has no way to its seal")
		err := tlog.CheckRecord(hashesOf(row["caminho"]), seal.N, seal.Hash, index, tlog.RecordHash(entry))
		require(err == nil, "a row does not lead to its seal")
	}
	source, fields := readEntry(entry)
	require(source == table && reflect.DeepEqual(fields, shown), "campos says something else than its entry")
	return fields
}

func number(data []byte) int64 { return int64(binary.BigEndian.Uint64(data)) }

func readEntry(entry []byte) (string, object) {
	var values []any
	at := 4
	for range int32(binary.BigEndian.Uint32(entry)) {
		kind, length := binary.BigEndian.Uint32(entry[at:]), int(int32(binary.BigEndian.Uint32(entry[at+4:])))
		at += 8
		if length < 0 {
			values = append(values, nil)
			continue
		}
		values = append(values, readValue(kind, entry[at:at+length]))
		at += length
	}
	table := values[0].(string)
	names := strings.Fields(columns[table])
	require(at == len(entry) && len(names) > 0 && len(values) == len(names)+1, "an entry is no row of its table")
	fields := object{}
	for index, name := range names {
		fields[name] = values[index+1]
	}
	return table, fields
}

// readValue reads a value by the OID of PostgreSQL's type.
func readValue(kind uint32, data []byte) any {
	switch kind {
	case 16:
		return data[0] == 1
	case 17:
		return hex.EncodeToString(data)
	case 20, 5069:
		return number(data)
	case 21:
		return int64(int16(binary.BigEndian.Uint16(data)))
	case 23:
		return int64(int32(binary.BigEndian.Uint32(data)))
	case 25:
		return string(data)
	case 1184:
		return time.UnixMilli(946684800000 + number(data)/1000).UTC().Format("2006-01-02T15:04:05.000Z")
	case 2950:
		text := hex.EncodeToString(data)
		return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
	case 1001, 1009, 2951:
		values := []any{}
		if binary.BigEndian.Uint32(data) == 0 {
			return values
		}
		of := binary.BigEndian.Uint32(data[8:])
		for at := 20; at < len(data); {
			length := int(int32(binary.BigEndian.Uint32(data[at:])))
			at += 4
			if length < 0 {
				values = append(values, nil)
				continue
			}
			values = append(values, readValue(of, data[at:at+length]))
			at += length
		}
		return values
	case 5038:
		var open []string
		for at := 20; at < len(data); at += 8 {
			open = append(open, fmt.Sprint(number(data[at:])))
		}
		return fmt.Sprintf("%d:%d:%s", number(data[4:]), number(data[12:]), strings.Join(open, ","))
	}
	panic(wrong("an entry has a value of an unknown type"))
}

func wrongRows(proof object, rows []object, event object, attempts, orders []object) {
	delivery := proof["entrega"].(object)
	tables := append(append([]string{"events"}, slices.Repeat([]string{"attempts"}, len(attempts))...), slices.Repeat([]string{"send_orders"}, len(orders))...)
	for index, table := range tables {
		require(rows[index]["tabela"] == table, "a row is of another table")
	}
	require(event["id"] == delivery["evento_id"] && event["partner_id"] == delivery["parceiro_id"], "another event or partner")
	born, err := strconv.ParseInt(strings.ReplaceAll(delivery["evento_id"].(string), "-", "")[:12], 16, 64)
	at := time.UnixMilli(born).UTC().Format("2006-01-02T15:04:05.000Z")
	require(err == nil && delivery["criada_em"] == at, "entrega.criada_em: the event's id has another time")
	for _, one := range attempts {
		own := one["delivery_id"] == delivery["id"] && one["event_id"] == delivery["evento_id"] && one["webhook_id"] == delivery["webhook_id"]
		require(own && one["partner_id"] == delivery["parceiro_id"], "an attempt is of another delivery")
	}
	for _, one := range orders {
		own := one["webhook_id"] == delivery["webhook_id"] && one["partner_id"] == delivery["parceiro_id"]
		require(own && slices.Contains(one["delivery_ids"].([]any), delivery["id"]), "an order is of other deliveries")
	}
	inOrder(rows[1:1+len(attempts)], attempts)
	inOrder(rows[1+len(attempts):1+len(attempts)+len(orders)], orders)
	places := map[string]bool{}
	for _, one := range list(proof, "ancoras") {
		places[fmt.Sprint(one.(object)["tipo"], " ", one.(object)["onde"])] = true
	}
	require(len(places) == len(list(proof, "ancoras")), "a receipt of one place stands twice")
}

// inOrder requires the order of transactions, and of one transaction that of the bytes; masked rows have none to compare.
func inOrder(rows, fields []object) {
	for index := 1; index < len(rows); index++ {
		before, own := fields[index-1], fields[index]
		if rows[index-1]["entrada"] == nil || rows[index]["entrada"] == nil {
			continue
		}
		one, other := []int64{before["epoch"].(int64), before["tx"].(int64)}, []int64{own["epoch"].(int64), own["tx"].(int64)}
		order := slices.Compare(one, other)
		if order == 0 {
			order = bytes.Compare(dataOf(rows[index-1]["entrada"]), dataOf(rows[index]["entrada"]))
		}
		require(order < 0, "a row stands twice, or behind a later one")
	}
}

func commitment(salt any, text []byte) string {
	sum := sha256.Sum256(append(dataOf(salt), text...))
	return hex.EncodeToString(sum[:])
}

func wrongText(proof object, rows []object, event object, attempts, erasing []object) {
	erasure, isErased := proof["apagamento"].(object)
	if isErased {
		order, page := erasing[0], erasing[1]
		isOrder := erasure["pedido"].(object)["tabela"] == "erasure_orders" && erasure["pagina"].(object)["tabela"] == "erasure_pages"
		isListed := isOrder && slices.Contains(page["event_ids"].([]any), proof["entrega"].(object)["evento_id"])
		require(isListed && page["order_id"] == order["id"], "the order to erase is one of other events")
		require(proof["sal"] == nil && proof["corpo"] == "apagado", "an erased event has a text")
	}
	require(isErased || proof["sal"] != nil || proof["retido"] != nil, "the text was taken away without an order")
	if proof["retido"] != nil {
		return
	}
	sent := event["commitment"]
	if proof["sal"] != nil {
		sent = commitment(proof["sal"], []byte(proof["corpo"].(string)))
	}
	require(event["commitment"] == sent, "the sealed event has another body")
	for index, fields := range attempts {
		row := rows[index]
		// An event that lost a CPF alone was still sent behind the order, and no hash of what was left is kept.
		isLeft := isErased && fields["body_digest"] == strings.Repeat("0", 64) && fields["recorded_at"].(string) > erasing[0]["ordered_at"].(string)
		require(fields["outcome"] == "desconhecido" || fields["body_digest"] == sent || isLeft, "an attempt sent another body")
		_, there := row["resposta"]
		_, salted := row["sal"]
		require(there && salted, "an answer is missing")
		if row["resposta"] == nil || row["sal"] == nil {
			isGone := row["resposta"] == nil && row["sal"] == nil && (fields["commitment"] == nil || isErased)
			require(isGone, "an answer is missing")
		} else {
			require(fields["commitment"] == commitment(row["sal"], dataOf(row["resposta"])), "an attempt was answered otherwise")
		}
	}
}

// wrongStatus: no seal covers the status. It must follow from the attempts, none of which may be missing.
func wrongStatus(status string, event object, attempts, orders []object) {
	require(slices.Contains([]string{"pendente", "entregue", "erro", "suspensa"}, status), "no status")
	var inTime []object
	var arrived, cancelled, ordered bool
	for _, one := range attempts {
		arrived = arrived || one["outcome"] == "entregue"
		if one["late"] == false {
			inTime = append(inTime, one)
		}
	}
	for _, one := range orders {
		cancelled, ordered = cancelled || one["kind"] == "cancelamento", ordered || one["kind"] != "teste"
	}
	sort.SliceStable(inTime, func(i, j int) bool { return inTime[i]["number"].(int64) < inTime[j]["number"].(int64) })
	isTest := event["type"] == "webhook.teste"
	failures, lost, last := 0, 0, false
	for index, one := range inTime {
		require(one["number"] == int64(index+1), "attempt %d is missing", index+1)
		isLost := one["outcome"] == "desconhecido"
		if lost++; !isLost {
			lost = 0
		}
		isSpent := isTest || lost == 5
		if isLost && isSpent || !isLost && one["outcome"] != "entregue" {
			failures++
		}
		if isSpent {
			lost = 0
		}
		last = one["outcome"] == "entregue"
	}
	spent := failures >= 6 || isTest && failures >= 1
	if status == "entregue" {
		require(arrived, "the delivery arrived by no attempt")
		return
	}
	require(status != "erro" || cancelled || spent, "the delivery failed although attempts were left")
	if !ordered {
		last = arrived
	}
	isOver := !ordered || status == "erro" && !cancelled
	require(!(isOver && last), "the delivery arrived, and its status says something else")
	require(status == "erro" || ordered || !spent, "the delivery failed, and its status says something else")
}
