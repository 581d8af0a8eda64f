<?php
// php -S 0.0.0.0:8080 receiver.php; behind Apache or FPM it is the script of the route.
require __DIR__ . '/carteiro.php';

$secrets = explode(',', getenv('CARTEIRO_SECRETS')); // the new one and, while a rotation lasts, the one before

if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/carteiro') {
    http_response_code(404);
    exit;
}
$rawBody = file_get_contents('php://input'); // before any parsing
if (!Carteiro\verify($rawBody, getallheaders(), $secrets)) {
    http_response_code(401);
    exit;
}
// Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
http_response_code(204);
