<?php
/**
 * Verifies the signature of a delivery. A file to copy: it needs PHP 8.0 or later and nothing else.
 * Give it the raw bytes of the body (file_get_contents('php://input')), before any parsing, and every secret in force: two while a
 * rotation lasts. $headers are those of getallheaders(); the case of the names does not matter.
 */

namespace Carteiro;

/** Older or newer deliveries are refused, so that nobody can send a recorded one again. */
const TOLERANCE_S = 300;

/** True when one of $secrets signed exactly these bytes within five minutes of $nowS. Reads the Standard Webhooks headers. */
function verify(string $rawBody, array $headers, array $secrets, ?float $nowS = null): bool
{
    $values = array_change_key_case($headers, CASE_LOWER);
    $id = $values['webhook-id'] ?? null;
    $timestamp = $values['webhook-timestamp'] ?? null;
    $given = $values['webhook-signature'] ?? null;
    if (!is_string($id) || !is_string($timestamp) || !is_string($given)) return false;
    if (preg_match('/\A[0-9]{1,12}\z/', $timestamp) !== 1) return false;
    if (abs(($nowS ?? microtime(true)) - (int) $timestamp) > TOLERANCE_S) return false;
    $signatures = explode(' ', $given);
    $isOurs = false;
    foreach ($secrets as $secret) {
        $key = base64_decode(str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret, true);
        if ($key === false || $key === '') continue;
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true));
        foreach ($signatures as $signature) $isOurs = hash_equals($expected, $signature) || $isOurs;
    }
    return $isOurs;
}

/**
 * True when one of $secrets signed exactly these bytes. Reads the contract's headers X-Webhook-Signature and, during a rotation,
 * X-Webhook-Signature-Previous. They sign no time: a recorded delivery passes, so deduplicate by X-Webhook-Delivery, or use verify.
 */
function verifyBody(string $rawBody, array $headers, array $secrets): bool
{
    $values = array_change_key_case($headers, CASE_LOWER);
    $isOurs = false;
    foreach ($secrets as $secret) {
        if ($secret === '') continue;
        $expected = 'sha256=' . hash_hmac('sha256', $rawBody, $secret);
        foreach (['x-webhook-signature', 'x-webhook-signature-previous'] as $name) {
            $isOurs = hash_equals($expected, (string) ($values[$name] ?? '')) || $isOurs;
        }
    }
    return $isOurs;
}
