<?php
// Laravel: these lines are routes/api.php's, which has no CSRF check, so the path is /api/carteiro; carteiro.php lies in app/.
// config/services.php: 'carteiro' => ['secrets' => env('CARTEIRO_SECRETS')].
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

require_once app_path('carteiro.php');

Route::post('/carteiro', function (Request $request) {
    $secrets = explode(',', config('services.carteiro.secrets')); // the new one and, while a rotation lasts, the one before
    $headers = array_map(fn (array $values) => $values[0], $request->headers->all());
    // getContent: the body as it came, not $request->all() or json().
    if (!Carteiro\verify($request->getContent(), $headers, $secrets)) return response('', 401);
    // Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
    return response()->noContent();
});
