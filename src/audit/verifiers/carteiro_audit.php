<?php
// Checks a proof (GET …/prova) without a database, as ../seals/README.md writes it down. It needs PHP 8.1 with sodium, and nothing else.
//   php carteiro_audit.php check FILE [KEY…]    exit 0 true, 3 null, 1 false; prints {"confere": …, "motivo": …}
//   php carteiro_audit.php vectors FILE         judges the published vectors, and prints what it judges otherwise

final class Wrong extends Exception {}

function need(bool $holds, string $what): void
{
    if (!$holds) throw new Wrong($what);
}

/** JSON without more behind it: no name twice, integers alone, no half surrogate. Objects are stdClass, lists are arrays. */
final class Json
{
    private const DEPTH = 32;
    private int $at = 0;

    private function __construct(private string $text) {}

    public static function read(string $text): mixed
    {
        need(mb_check_encoding($text, 'UTF-8'), 'the file is no UTF-8');
        $json = new self($text);
        $value = $json->value(0);
        $json->blank();
        need($json->at === strlen($text), 'there is more behind the file');
        return $value;
    }

    private function blank(): void
    {
        $this->at += strspn($this->text, " \t\r\n", $this->at);
    }

    private function take(string $what): bool
    {
        $this->blank();
        if (substr_compare($this->text, $what, $this->at, strlen($what)) !== 0) return false;
        $this->at += strlen($what);
        return true;
    }

    private function value(int $depth): mixed
    {
        need($depth < self::DEPTH, 'the file is nested too deep');
        if ($this->take('{')) return $this->object($depth);
        if ($this->take('[')) {
            $list = [];
            if ($this->take(']')) return $list;
            do $list[] = $this->value($depth + 1); while ($this->take(','));
            need($this->take(']'), 'the file is no JSON');
            return $list;
        }
        if ($this->take('"')) return $this->string();
        foreach (['null' => null, 'true' => true, 'false' => false] as $word => $value) if ($this->take($word)) return $value;
        need(preg_match('/\G-?(0|[1-9]\d{0,15})(?![\d.eE])/', $this->text, $found, 0, $this->at) === 1, 'the file has no integer where a value is');
        $this->at += strlen($found[0]);
        return (int) $found[0];
    }

    private function object(int $depth): stdClass
    {
        $object = new stdClass();
        if ($this->take('}')) return $object;
        do {
            need($this->take('"'), 'the file is no JSON');
            $name = $this->string();
            need(!property_exists($object, $name), "$name stands twice");
            need($this->take(':'), 'the file is no JSON');
            $object->$name = $this->value($depth + 1);
        } while ($this->take(','));
        need($this->take('}'), 'the file is no JSON');
        return $object;
    }

    private function string(): string
    {
        need(preg_match('/\G(?:[^"\\\\\x00-\x1f]++|\\\\(?:["\\\\\/bfnrt]|u[0-9a-fA-F]{4}))*+"/', $this->text, $found, 0, $this->at) === 1, 'the file has no string where one begins');
        $this->at += strlen($found[0]);
        $read = json_decode('"' . $found[0]);
        need(is_string($read), 'the file has half a character');
        return $read;
    }
}

// Trees: RFC 9162.

function hashOf(string $bytes): string { return hash('sha256', $bytes, true); }
function leafOf(string $entry): string { return hashOf("\0$entry"); }
function node(string $left, string $right): string { return hashOf("\1$left$right"); }

/** 2.1.3.2; null where the path does not fit the place. */
function rootBy(string $leaf, int $index, int $size, array $path): ?string
{
    if ($index < 0 || $index >= $size) return null;
    [$fn, $sn, $root] = [$index, $size - 1, $leaf];
    foreach ($path as $hash) {
        if ($sn === 0) return null;
        if ($fn % 2 === 1 || $fn === $sn) {
            $root = node($hash, $root);
            while ($fn % 2 === 0 && $fn !== 0) [$fn, $sn] = [$fn >> 1, $sn >> 1];
        } else {
            $root = node($root, $hash);
        }
        [$fn, $sn] = [$fn >> 1, $sn >> 1];
    }
    return $sn === 0 ? $root : null;
}

/** 2.1.4.2. */
function isConsistent(int $old, string $oldRoot, int $size, string $root, array $path): bool
{
    if ($old < 1 || $old > $size) return false;
    if ($old === $size) return $path === [] && $oldRoot === $root;
    if (($old & ($old - 1)) === 0) array_unshift($path, $oldRoot);
    if ($path === []) return false;
    [$fn, $sn] = [$old - 1, $size - 1];
    while ($fn % 2 === 1) [$fn, $sn] = [$fn >> 1, $sn >> 1];
    $fr = $sr = array_shift($path);
    foreach ($path as $hash) {
        if ($sn === 0) return false;
        if ($fn % 2 === 1 || $fn === $sn) {
            [$fr, $sr] = [node($hash, $fr), node($hash, $sr)];
            while ($fn % 2 === 0 && $fn !== 0) [$fn, $sn] = [$fn >> 1, $sn >> 1];
        } else {
            $sr = node($sr, $hash);
        }
        [$fn, $sn] = [$fn >> 1, $sn >> 1];
    }
    return $sn === 0 && $fr === $oldRoot && $sr === $root;
}

function rootOf(array $leaves): string
{
    if (count($leaves) === 1) return $leaves[0];
    for ($half = 1; $half * 2 < count($leaves); $half *= 2);
    return node(rootOf(array_slice($leaves, 0, $half)), rootOf(array_slice($leaves, $half)));
}

/** With padding, without blanks, no bits behind the last byte. */
function bytesOf(mixed $text, ?int $length = null): string
{
    $bytes = is_string($text) ? base64_decode($text, true) : false;
    need($bytes !== false && base64_encode($bytes) === $text, 'what should be base64 is none');
    need($length === null || strlen($bytes) === $length, "what should have $length bytes has another length");
    return $bytes;
}

function hashesOf(mixed $list): array
{
    need(is_array($list), 'a path is no list');
    return array_map(fn ($one) => bytesOf($one, 32), $list);
}

// Checkpoints: signed notes.

/** Whether one of the keys (name+id+base64 of a byte 1 and the Ed25519 key) signed the text by this line's base64. */
function isSigned(string $text, string $name, string $signature, array $keys): bool
{
    foreach ($keys as $key) {
        $part = explode('+', trim($key), 3);
        $data = base64_decode($part[2] ?? '', true);
        if (count($part) !== 3 || $part[0] !== $name || $data === false || strlen($data) !== 33 || $data[0] !== "\1") continue;
        $id = substr(hashOf("$name\n$data"), 0, 4);
        if (bin2hex($id) !== $part[1] || strlen($signature) !== 68 || substr($signature, 0, 4) !== $id) continue;
        if (sodium_crypto_sign_verify_detached(substr($signature, 4), $text, substr($data, 1))) return true;
    }
    return false;
}

/** Size, root, and whether one of the keys signed it. */
function readCheckpoint(string $note, array $keys): array
{
    need(preg_match('/^((\S+)\n([1-9]\d{0,14})\n([A-Za-z0-9+\/]{43}=)\n)\n((?:— \S+ [A-Za-z0-9+\/]+=*\n)+)$/D', $note, $part) === 1, 'the checkpoint is none');
    $signed = false;
    foreach (explode("\n", rtrim($part[5], "\n")) as $line) {
        [, $name, $signature] = explode(' ', $line);
        $signed = $signed || ($name === $part[2] && isSigned($part[1], $name, (string) base64_decode($signature, true), $keys));
    }
    return [(int) $part[3], bytesOf($part[4], 32), $signed];
}

// Entries: PostgreSQL's binary form of a record.

const COLUMNS = [
    'events' => 'position id stream version type family partner_id occurred_at actor request_id fan_out imported catalog_version loan_version snapshot traceparent commitment tx epoch',
    'attempts' => 'delivery_id number late event_id webhook_id partner_id outcome status_code started_at duration_ms url address key_id claim error body_digest commitment recorded_at tx epoch',
    'send_orders' => 'position kind webhook_id partner_id delivery_ids actor reason request_id ordered_at tx epoch',
    'erasure_orders' => 'position id court_order actor reason events pages ordered_at tx epoch',
    'erasure_pages' => 'position order_id number event_ids remains tx epoch',
];

function number(string $bytes): int
{
    $value = 0;
    foreach (str_split($bytes) as $byte) $value = ($value << 8) | ord($byte);
    $bits = 8 * strlen($bytes);
    return $bits < 64 && $value >= 1 << ($bits - 1) ? $value - (1 << $bits) : $value;
}

function uuid(string $bytes): string
{
    return preg_replace('/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', bin2hex($bytes));
}

/** Whole milliseconds, cut. */
function timeOf(int $ms): string
{
    $seconds = intdiv($ms, 1000) - ($ms % 1000 < 0 ? 1 : 0);
    return gmdate('Y-m-d\TH:i:s', $seconds) . sprintf('.%03dZ', $ms - $seconds * 1000);
}

function valueOf(int $oid, string $bytes): mixed
{
    $at = 0;
    $take = function (int $length) use ($bytes, &$at): string {
        need($length >= 0 && $at + $length <= strlen($bytes), 'an entry is no record');
        $at += $length;
        return substr($bytes, $at - $length, $length);
    };
    switch ($oid) {
        case 16: return $bytes === "\1";
        case 17: return bin2hex($bytes);
        case 20: case 21: case 23: case 5069: return number($bytes);
        case 25: return $bytes;
        case 1184: return timeOf(intdiv(number($bytes), 1000) + 946684800000);
        case 2950: return uuid($bytes);
        case 5038:
            $open = [];
            for ($count = number($take(4)), $low = number($take(8)), $high = number($take(8)); $count > 0; $count--) $open[] = number($take(8));
            return "$low:$high:" . implode(',', $open);
        case 1001: case 1009: case 2951:
            $list = [];
            if (number($take(4)) === 0) return $list;
            $take(4);
            $of = number($take(4));
            for ($count = number($take(4)), $take(4); $count > 0; $count--) {
                $length = number($take(4));
                $list[] = $length < 0 ? null : valueOf($of, $take($length));
            }
            return $list;
    }
    throw new Wrong('an entry has a column of an unknown type');
}

/** Table and fields of an entry. */
function readEntry(string $bytes): array
{
    $at = 0;
    $take = function (int $length) use ($bytes, &$at): string {
        need($length >= 0 && $at + $length <= strlen($bytes), 'an entry is no record');
        $at += $length;
        return substr($bytes, $at - $length, $length);
    };
    $values = [];
    for ($count = number($take(4)); $count > 0; $count--) {
        $oid = number($take(4));
        $length = number($take(4));
        $values[] = $length < 0 ? null : valueOf($oid, $take($length));
    }
    $table = array_shift($values);
    need($at === strlen($bytes) && is_string($table) && isset(COLUMNS[$table]), 'an entry is of no table that a proof has');
    $names = explode(' ', COLUMNS[$table]);
    need(count($names) === count($values), 'an entry has another count of columns');
    return [$table, array_combine($names, $values)];
}

// The proof's shape.

const UUID = '/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/D';

function shape(mixed $object, array $names, array $optional = []): void
{
    need($object instanceof stdClass, 'something is no object');
    foreach ($names as $name) need(property_exists($object, $name), "$name is missing");
    foreach (array_keys(get_object_vars($object)) as $name) need(in_array($name, [...$names, ...$optional], true), "$name is unknown");
}

function isTime(mixed $text): bool
{
    return is_string($text) && preg_match('/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/D', $text) === 1
        && gmdate('Y-m-d\TH:i:s', (int) strtotime(substr($text, 0, 19) . 'Z')) === substr($text, 0, 19);
}

function checkRowShape(mixed $row): void
{
    shape($row, ['tabela', 'campos', 'entrada', 'selo'], ['resposta', 'sal', 'indice', 'caminho']);
    need(is_string($row->tabela) && isset(COLUMNS[$row->tabela]), 'a row is of no table that a proof has');
    need($row->campos instanceof stdClass, 'a row has no fields');
    need($row->entrada === null || is_string($row->entrada), 'an entry is no text');
    need($row->selo === null || is_int($row->selo), 'the number of a seal is none');
    $isAttempt = $row->tabela === 'attempts';
    foreach (['resposta', 'sal'] as $name) need(property_exists($row, $name) === $isAttempt, "$name stands in attempts alone");
    foreach (['indice', 'caminho'] as $name) need(property_exists($row, $name) === ($row->selo !== null), 'a row has a way without a seal, or a seal without a way');
    if ($row->selo !== null) need(is_int($row->indice) && $row->indice >= 0, 'the place of a row is none');
    if ($row->selo !== null) hashesOf($row->caminho);
    if ($row->entrada !== null) bytesOf($row->entrada);
    if ($isAttempt && $row->resposta !== null) bytesOf($row->resposta);
    if ($isAttempt && $row->sal !== null) bytesOf($row->sal, 16);
}

function checkShape(mixed $proof): void
{
    shape($proof, ['formato', 'gerada_em', 'entrega', 'corpo', 'sal', 'evento', 'tentativas', 'pedidos', 'apagamento', 'selos', 'checkpoint', 'ancoras', 'retido']);
    need($proof->formato === 'carteiro-prova-2', 'another format');
    shape($proof->entrega, ['id', 'evento_id', 'webhook_id', 'parceiro_id', 'status', 'criada_em', 'concluida_em']);
    foreach (['id', 'evento_id', 'webhook_id', 'parceiro_id'] as $name) need(is_string($proof->entrega->$name) && preg_match(UUID, $proof->entrega->$name) === 1, "$name is no id");
    need(in_array($proof->entrega->status, ['pendente', 'entregue', 'erro', 'suspensa'], true), 'the status is none');
    need(isTime($proof->gerada_em) && isTime($proof->entrega->criada_em) && ($proof->entrega->concluida_em === null || isTime($proof->entrega->concluida_em)), 'a time is none');
    need(is_string($proof->corpo) && ($proof->retido === null || is_string($proof->retido)) && ($proof->checkpoint === null || is_string($proof->checkpoint)), 'a text is none');
    if ($proof->sal !== null) bytesOf($proof->sal, 16);
    need(is_array($proof->tentativas) && is_array($proof->pedidos) && is_array($proof->selos) && is_array($proof->ancoras), 'a list is none');
    if ($proof->apagamento !== null) shape($proof->apagamento, ['pedido', 'pagina']);
    foreach (rowsOf($proof) as $row) checkRowShape($row);
    foreach ($proof->selos as $seal) {
        shape($seal, ['numero', 'entrada', 'caminho', 'iguais']);
        need(is_int($seal->numero) && is_string($seal->entrada) && is_int($seal->iguais) && $seal->iguais >= 0, 'a seal is none');
        if ($seal->caminho !== null) hashesOf($seal->caminho);
    }
    $places = [];
    foreach ($proof->ancoras as $one) {
        shape($one, ['tipo', 'onde', 'checkpoint', 'recibo', 'ancorada_em', 'caminho']);
        need(is_string($one->tipo) && is_string($one->onde) && is_string($one->checkpoint) && isTime($one->ancorada_em), 'a receipt is none');
        bytesOf($one->recibo);
        if ($one->caminho !== null) hashesOf($one->caminho);
        need(!in_array([$one->tipo, $one->onde], $places, true), 'a receipt of one place stands twice');
        $places[] = [$one->tipo, $one->onde];
    }
}

function rowsOf(stdClass $proof): array
{
    $rows = [...($proof->evento === null ? [] : [$proof->evento]), ...$proof->tentativas, ...$proof->pedidos];
    return $proof->apagamento === null ? $rows : [...$rows, $proof->apagamento->pedido, $proof->apagamento->pagina];
}

// The judgement. It returns what could not be checked; it throws what is wrong.

function judge(stdClass $proof, array $keys): ?string
{
    need($proof->evento !== null, 'the event is missing');
    $gaps = $proof->retido === null ? [] : ['a part was withheld'];
    [$size, $root, $signed] = $proof->checkpoint === null ? [0, '', false] : readCheckpoint($proof->checkpoint, $keys);
    need($size === 0 || $keys === [] || $signed, 'no key that was given signed the checkpoint');
    if (!$signed) $gaps[] = 'no key was given, or there is no checkpoint';
    $roots = reachSeals($proof, $size, $root, $gaps);
    $fields = [];
    foreach (rowsOf($proof) as $row) $fields[] = reachRow($row, $roots, $proof->retido !== null, $gaps);
    need(count($roots) === count(array_unique(array_map(fn ($row) => $row->selo, array_filter(rowsOf($proof), fn ($row) => $row->selo !== null)))), 'a seal has no row');
    $event = array_shift($fields);
    $attempts = array_splice($fields, 0, count($proof->tentativas));
    $orders = array_splice($fields, 0, count($proof->pedidos));
    checkOrder($proof->tentativas, $attempts);
    checkOrder($proof->pedidos, $orders);
    foreach ([['events', [$proof->evento]], ['attempts', $proof->tentativas], ['send_orders', $proof->pedidos]] as [$table, $rows])
        foreach ($rows as $row) need($row->tabela === $table, 'a row is of another table');
    checkIds($proof->entrega, $event, $attempts, $orders);
    checkTexts($proof, $event, $attempts, $fields);
    checkStatus($proof->entrega->status, $event, $attempts, $orders);
    if ($attempts === [] && $orders === []) $gaps[] = 'no attempt or order names the delivery yet';
    return $gaps[0] ?? null;
}

/** Roots and counts of the seals by number; null for one without its way. */
function reachSeals(stdClass $proof, int $size, string $root, array &$gaps): array
{
    $roots = [];
    $last = 0;
    $shared = ($proof->selos[0] ?? null)?->caminho ?? [];
    foreach ($proof->selos as $seal) {
        $form = '/^carteiro\/selo\/1\n([1-9]\d{0,14})\n\d+ \d+ \d+ \d+\n([1-9]\d{0,9})\n([A-Za-z0-9+\/]{43}=)\n\d{4}-\d\d-\d\dT[\d:.]{12}Z\n(?:[A-Za-z0-9+\/]{43}=\n)?$/D';
        need(preg_match($form, $seal->entrada, $part) === 1 && (int) $part[1] === $seal->numero && $seal->numero > $last, 'a seal is none, or stands twice');
        $last = $seal->numero;
        $roots[$last] = null;
        if ($seal->caminho === null) {
            need($seal->iguais === 0, 'a seal has a part of a way');
            $gaps[] = 'a seal has no way to the checkpoint yet';
            continue;
        }
        need($seal->iguais <= count($shared) && ($seal !== $proof->selos[0] || $seal->iguais === 0), 'a seal shares more than there is');
        $path = [...$seal->caminho, ...array_slice($shared, count($shared) - $seal->iguais)];
        need($size > 0 && rootBy(leafOf($seal->entrada), $last - 1, $size, hashesOf($path)) === $root, 'a seal does not lead to the checkpoint');
        $roots[$last] = [(int) $part[2], bytesOf($part[3], 32)];
    }
    return $roots;
}

/** A row's fields: of its entry, or as the file says where that was withheld. */
function reachRow(stdClass $row, array $roots, bool $isMasked, array &$gaps): array
{
    $said = get_object_vars($row->campos);
    if ($row->selo === null) $gaps[] = 'a row is not sealed yet';
    else need(array_key_exists($row->selo, $roots), 'a row is of a seal that is not there');
    if ($row->entrada === null) {
        need($isMasked, 'an entry is missing');
        need(array_keys($said) === explode(' ', COLUMNS[$row->tabela]), 'a row has other columns');
        return $said;
    }
    $entry = bytesOf($row->entrada);
    [$table, $fields] = readEntry($entry);
    need($table === $row->tabela && $fields === $said, 'what a row says is not what its entry says');
    if ($row->selo === null) return $fields;
    if ($roots[$row->selo] === null) {
        $gaps[] = 'a row’s seal has no way yet';
        return $fields;
    }
    [$rows, $root] = $roots[$row->selo];
    need(rootBy(leafOf($entry), $row->indice, $rows, hashesOf($row->caminho)) === $root, 'a row does not lead to its seal');
    return $fields;
}

/** By epoch, transaction and entry. */
function checkOrder(array $rows, array $fields): void
{
    for ($index = 1; $index < count($rows); $index++) {
        $key = fn (int $at) => [$fields[$at]['epoch'], $fields[$at]['tx'], (string) base64_decode($rows[$at]->entrada ?? '')];
        [$before, $now] = [$key($index - 1), $key($index)];
        $order = [$before[0], $before[1]] <=> [$now[0], $now[1]] ?: strcmp($before[2], $now[2]);
        need($order < 0 || ($order === 0 && $rows[$index]->entrada === null), 'rows stand twice, or out of order');
    }
}

function checkIds(stdClass $delivery, array $event, array $attempts, array $orders): void
{
    need($event['id'] === $delivery->evento_id && $event['partner_id'] === $delivery->parceiro_id, 'the event is of another delivery');
    need(timeOf((int) hexdec(substr(str_replace('-', '', $delivery->evento_id), 0, 12))) === $delivery->criada_em, 'the time of making is another');
    foreach ($attempts as $one)
        need([$one['delivery_id'], $one['event_id'], $one['webhook_id'], $one['partner_id']] === [$delivery->id, $delivery->evento_id, $delivery->webhook_id, $delivery->parceiro_id], 'an attempt is of another delivery');
    foreach ($orders as $one)
        need(in_array($delivery->id, $one['delivery_ids'], true) && [$one['webhook_id'], $one['partner_id']] === [$delivery->webhook_id, $delivery->parceiro_id], 'an order is of another delivery');
}

function checkTexts(stdClass $proof, array $event, array $attempts, array $erasure): void
{
    $isErased = $proof->apagamento !== null;
    if ($isErased) {
        [$order, $page] = $erasure;
        need([$proof->apagamento->pedido->tabela, $proof->apagamento->pagina->tabela] === ['erasure_orders', 'erasure_pages'], 'an erasure is of other tables');
        need($page['order_id'] === $order['id'] && in_array($proof->entrega->evento_id, $page['event_ids'], true), 'no page of the order names the event');
        need($proof->sal === null && $proof->corpo === 'apagado', 'an erased event has a text');
    }
    if ($proof->retido !== null) return;
    need($isErased || $proof->sal !== null, 'the body has no salt');
    $digest = $isErased ? $event['commitment'] : bin2hex(hashOf(bytesOf($proof->sal, 16) . $proof->corpo));
    need($event['commitment'] === $digest, 'the body is not the event’s');
    foreach ($attempts as $at => $one) {
        // Of an event that lost another worker's CPF nobody knows any more what was sent afterwards.
        $isLater = $isErased && $one['body_digest'] === str_repeat('0', 64) && $one['recorded_at'] > $erasure[0]['ordered_at'];
        need($one['outcome'] === 'desconhecido' ? $one['body_digest'] === null : $isLater || $one['body_digest'] === $digest, 'an attempt sent another body');
        ['resposta' => $answer, 'sal' => $salt] = get_object_vars($proof->tentativas[$at]);
        if ($isErased && $answer === null && $salt === null) continue;
        need(($answer === null) === ($salt === null) && ($answer === null) === ($one['commitment'] === null), 'an answer, its salt or its hash is missing');
        if ($answer !== null) need(bin2hex(hashOf(bytesOf($salt, 16) . bytesOf($answer))) === $one['commitment'], 'an answer is another');
    }
}

function checkStatus(string $status, array $event, array $attempts, array $orders): void
{
    $inTime = array_values(array_filter($attempts, fn ($one) => !$one['late']));
    usort($inTime, fn ($one, $other) => $one['number'] <=> $other['number']);
    foreach ($inTime as $at => $one) need($one['number'] === $at + 1, 'an attempt is missing');
    $isTest = $event['type'] === 'webhook.teste';
    [$failures, $lost] = [0, 0];
    foreach ($inTime as ['outcome' => $outcome]) {
        $lost = $outcome === 'desconhecido' ? $lost + 1 : 0;
        if ($outcome === 'desconhecido' ? $isTest || $lost === 5 : $outcome !== 'entregue') [$failures, $lost] = [$failures + 1, 0];
    }
    $isSpent = $failures >= ($isTest ? 1 : 6);
    $hasArrived = in_array('entregue', array_column($attempts, 'outcome'), true);
    $kinds = array_column($orders, 'kind');
    $isOrdered = array_diff($kinds, ['teste']) !== [];
    if ($status === 'entregue') need($hasArrived, 'it arrived by no attempt');
    if ($status === 'erro') need($isSpent || in_array('cancelamento', $kinds, true), 'it failed although attempts were left');
    if ($status !== 'entregue' && !$isOrdered) need(!$hasArrived, 'it arrived, and its status is another');
    if (in_array($status, ['pendente', 'suspensa'], true) && !$isOrdered) need(!$isSpent, 'it failed, and its status is another');
}

const MOST_ROWS = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** The verdict (true, false, null) and why. */
function check(string $text, array $keys): array
{
    if (strlen($text) > MOST_BYTES) return [null, 'the file is larger than 16 MiB'];
    try {
        $proof = Json::read($text);
        checkShape($proof);
        if (count(rowsOf($proof)) > MOST_ROWS) return [null, 'the file has more than 10,000 rows'];
        $gap = judge($proof, $keys);
    } catch (Wrong $wrong) {
        return [false, $wrong->getMessage()];
    }
    return [$gap === null ? true : null, $gap];
}

function judgeVectors(stdClass $vectors): array
{
    $verdicts = [];
    $tell = function (string $name, mixed $found, mixed $expected) use (&$verdicts) { $verdicts[] = [$name, $found, $expected]; };
    $decoded = fn (array $path) => array_map('base64_decode', $path);
    foreach ($vectors->rows as $row) {
        $tell('leaf', base64_encode(leafOf(base64_decode($row->entry))), $row->leaf);
        $tell('entry', readEntry(base64_decode($row->entry)), [$row->table, get_object_vars($row->fields)]);
        if (isset($row->salt)) $tell('commitment', bin2hex(hashOf(base64_decode($row->salt) . $row->committed)), $row->fields->commitment);
    }
    $tell('turn', base64_encode(rootOf($decoded($vectors->turn->leaves))), $vectors->turn->root);
    foreach ($vectors->seals as $seal) $tell('seal', base64_encode(leafOf($seal->entry)), $seal->leaf);
    $leaves = array_map(fn ($seal) => base64_decode($seal->leaf), $vectors->seals);
    foreach ($vectors->roots as $one) $tell("root of {$one->size}", base64_encode(rootOf(array_slice($leaves, 0, $one->size))), $one->root);
    foreach ($vectors->inclusion as $one) $tell($one->name, rootBy(base64_decode($one->leaf), $one->index, $one->size, $decoded($one->path)) === base64_decode($one->root), $one->valid);
    foreach ($vectors->consistency as $one) $tell($one->name, isConsistent($one->old, base64_decode($one->old_root), $one->size, base64_decode($one->root), $decoded($one->path)), $one->valid);
    foreach ($vectors->checkpoints as $one) $tell($one->name, readCheckpoint($one->note, $vectors->keys)[2], $one->valid);
    foreach ($vectors->headers as $one) {
        if ($one->header === '') continue;
        $isLine = preg_match('/^(\S+) (\d+) (\S{44}) (\S+)$/D', $one->header, $part) === 1;
        $tell($one->name, $isLine && isSigned("{$part[1]}\n{$part[2]}\n{$part[3]}\n", $part[1], (string) base64_decode($part[4], true), $vectors->keys), $one->verdict !== 'forged');
    }
    $texts = [];
    foreach ($vectors->proofs as $one) {
        $text = $one->text ?? $texts[$one->of];
        foreach ($one->edits ?? [] as [$old, $new]) {
            $at = strpos($text, $old);
            $text = $at === false ? $text : substr_replace($text, $new, $at, strlen($old));
        }
        $texts[$one->name] = $text;
        $tell($one->name, check($text, $vectors->keys)[0], $one->verdict);
    }
    return $verdicts;
}

[, $command, $file] = [...$argv, '', ''];
if ($command === 'check' && is_file($file)) {
    [$fits, $why] = check((string) file_get_contents($file, length: MOST_BYTES + 1), array_slice($argv, 3));
    echo json_encode(['confere' => $fits, 'motivo' => $why], JSON_UNESCAPED_UNICODE), "\n";
    exit($fits === null ? 3 : ($fits ? 0 : 1));
}
if ($command === 'vectors' && is_file($file)) {
    $verdicts = judgeVectors(json_decode((string) file_get_contents($file)));
    $otherwise = array_values(array_filter($verdicts, fn ($one) => $one[1] !== $one[2]));
    echo json_encode(['otherwise' => array_column($otherwise, 0), 'vectors' => count($verdicts)], JSON_UNESCAPED_UNICODE), "\n";
    exit($otherwise === [] ? 0 : 1);
}
fwrite(STDERR, "php carteiro_audit.php check FILE [KEY…] | vectors FILE\n");
exit(2);
