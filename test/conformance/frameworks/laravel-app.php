<?php
return [
    'name' => 'Receptor',
    'env' => 'production',
    'timezone' => 'UTC',
    'locale' => 'pt',
    'fallback_locale' => 'en',
    'providers' => [
        Illuminate\Filesystem\FilesystemServiceProvider::class,
        Illuminate\View\ViewServiceProvider::class,
        Illuminate\Translation\TranslationServiceProvider::class,
        Routes::class,
    ],
    'aliases' => [],
];
