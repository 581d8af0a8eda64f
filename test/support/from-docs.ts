/** Receivers as somebody writes them who has /docs/integracao.md and nothing else: no file of ours is in them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DJANGO, EXPRESS, LARAVEL, springBoot } from './framework-receivers.ts';
import type { ReceiverProgram } from './receiver-programs.ts';

const WRITTEN = path.resolve(import.meta.dirname, '../conformance/from-docs');
const written = (name: string) => ({ text: readFileSync(path.join(WRITTEN, name), 'utf8') });

const { 'django_site.py': site = '', 'django_urls.py': urls = '' } = DJANGO.files;
const { 'app/carteiro.php': _, ...laravel } = LARAVEL.files;

export const FROM_DOCS: readonly ReceiverProgram[] = [
  { ...DJANGO, files: { 'carteiro_django.py': written('views.py'), 'django_site.py': site, 'django_urls.py': urls } },
  { ...EXPRESS, files: { 'express.mjs': written('server.mjs') } },
  springBoot({ 'WebhookController.java': written('WebhookController.java') }),
  { ...LARAVEL, files: { ...laravel, 'routes/api.php': written('webhook.php') } },
  {
    name: 'Go',
    version: ['go', 'version'],
    files: { 'go.mod': { text: 'module receiver\n\ngo 1.20\n' }, 'main.go': written('main.go') },
    build: ['go', 'build', '-o', 'receiver', '.'],
    command: () => ['./receiver'],
  },
];
