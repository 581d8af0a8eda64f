<?php
// A Laravel application of Debian's package (php-laravel-framework): a kernel whose group api is as a new application has it, and one
// provider, which loads routes/api.php.
require 'Illuminate/autoload.php';
foreach (['Foundation/helpers.php', 'Support/helpers.php', 'Collections/helpers.php'] as $file) require_once "Illuminate/$file";
spl_autoload_register(fn ($class) => @include str_replace('\\', '/', $class) . '.php');

class Kernel extends Illuminate\Foundation\Http\Kernel
{
    protected $middleware = [
        Illuminate\Foundation\Http\Middleware\ValidatePostSize::class,
        Illuminate\Foundation\Http\Middleware\TrimStrings::class,
        Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull::class,
    ];
    protected $middlewareGroups = ['api' => [Illuminate\Routing\Middleware\SubstituteBindings::class]];
}

class Routes extends Illuminate\Foundation\Support\Providers\RouteServiceProvider
{
    public function boot()
    {
        $this->routes(fn () => Illuminate\Support\Facades\Route::prefix('api')->middleware('api')->group(base_path('routes/api.php')));
    }
}

$app = new Illuminate\Foundation\Application(__DIR__);
$app->singleton(Illuminate\Contracts\Http\Kernel::class, Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$kernel = $app->make(Illuminate\Contracts\Http\Kernel::class);
$response = $kernel->handle($request = Illuminate\Http\Request::capture())->send();
$kernel->terminate($request, $response);
