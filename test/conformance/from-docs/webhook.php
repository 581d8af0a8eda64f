<?php
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

Route::post('/carteiro', function (Request $request) {
    $body = $request->getContent();
    $given = [$request->header('X-Webhook-Signature', ''), $request->header('X-Webhook-Signature-Previous', '')];
    $valid = false;
    foreach (explode(',', config('services.carteiro.secrets')) as $secret) {
        $expected = 'sha256=' . hash_hmac('sha256', $body, $secret);
        foreach ($given as $one) $valid = hash_equals($expected, $one) || $valid;
    }
    if (!$valid) return response()->json(['erro' => 'assinatura'], 401);
    $file = storage_path('entrega-' . preg_replace('/[^0-9a-f-]/i', '', $request->header('X-Webhook-Delivery')));
    if (!file_exists($file)) file_put_contents($file, $body);
    $event = json_decode($body, true);
    return response()->json(['recebido' => $event['evento']]);
});
