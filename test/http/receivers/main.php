<?php
// Runs carteiro.php on one case a line: see test/support/verifiers.ts.
require __DIR__ . '/carteiro.php';

while (($line = fgets(STDIN)) !== false) {
    $parts = explode("\t", rtrim($line, "\n"));
    [$function, $now, $secrets, $body] = $parts;
    $headers = [];
    foreach (array_slice($parts, 4) as $header) {
        [$name, $value] = explode('=', $header, 2);
        $headers[$name] = $value;
    }
    $keys = explode(',', $secrets);
    $rawBody = base64_decode($body);
    $isOurs = $function === 'verify'
        ? Carteiro\verify($rawBody, $headers, $keys, (float) $now)
        : Carteiro\verifyBody($rawBody, $headers, $keys);
    echo $isOurs ? "true\n" : "false\n";
}
