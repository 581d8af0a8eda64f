<?php
// A partner's program on the generated client, and on Debian's Guzzle.
declare(strict_types=1);

require 'GuzzleHttp/autoload.php';
[, $client, $url, $token] = $argv;
spl_autoload_register(function (string $class) use ($client): void {
    $file = $client . '/lib/' . strtr(substr($class, strlen('OpenAPI\\Client\\')), '\\', '/') . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\') && is_file($file)) require $file;
});
// Every file, or those that this program does not use would not be compiled.
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$client/lib")) as $file) {
    if ($file->getExtension() === 'php') require_once $file->getPathname();
}

use OpenAPI\Client\Api\SandboxApi;
use OpenAPI\Client\Api\WebhooksApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model;

$configuration = (new Configuration())->setHost($url)->setAccessToken($token);
$api = new WebhooksApi(new GuzzleHttp\Client(), $configuration);
$names = [Model\NomeDeEvento::AVERBACAO_CONCLUIDA];
$created = $api->postWebhooks(new Model\PostWebhooksRequest(['url' => 'http://127.0.0.1:9/php', 'eventos' => $names]), 'php-1');
$isListed = array_filter($api->getWebhooks('todos'), fn ($webhook) => $webhook->getId() === $created->getId()) !== [];
$first = $api->postWebhooksIdSegredo($created->getId(), 'php-2');
$again = $api->postWebhooksIdSegredo($created->getId(), 'php-2');
$period = new Model\PostWebhooksIdReenviosRequest(['desde' => '2026-01-31', 'simular' => true, 'status' => [
    Model\StatusDeEntrega::STATUS_DE_ENTREGA_ERRO, Model\StatusDeEntrega::STATUS_DE_ENTREGA_SUSPENSA,
]]);
$counted = $api->postWebhooksIdReenvios($created->getId(), $period)->getEntregas();
$margin = ['cpf' => '52998224725', 'numero_inscricao_empregador' => '11222333000181', 'valor_total_vencimentos' => 6000.0, 'valor_margem_disponivel' => 1234.5];
(new SandboxApi(new GuzzleHttp\Client(), $configuration))->putSandboxMargem(new Model\PutSandboxMargemRequest($margin));
$refused = '';
try {
    $api->postWebhooks(new Model\PostWebhooksRequest(['url' => 'ftp://example.com/', 'eventos' => $names]));
} catch (ApiException $refusal) {
    $refused = $refusal->getCode() . (str_contains((string) $refusal->getResponseBody(), 'ERRO_VALIDACAO') ? ' ERRO_VALIDACAO' : '');
}
$told = [
    'registered', $isListed ? 'listed' : 'missing', $first->getSecret() === $again->getSecret() ? 'rotated' : 'other secret',
    "counted $counted", 'margin told', "refused $refused",
];
echo implode(', ', $told), "\n";
