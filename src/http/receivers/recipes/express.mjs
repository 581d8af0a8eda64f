// Express 4 or 5: npm install express; carteiro.mjs lies beside.
import express from 'express';
import { verify } from './carteiro.mjs';

const secrets = process.env.CARTEIRO_SECRETS.split(','); // the new one and, while a rotation lasts, the one before
const app = express();

// The bytes of this route, whatever their type: it stands above app.use(express.json()), which would parse them first.
app.post('/carteiro', express.raw({ type: () => true, limit: '1mb' }), (request, response) => {
  if (!verify(request.body, request.headers, secrets)) return response.sendStatus(401);
  // Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
  return response.sendStatus(204);
});

app.listen(process.env.PORT ?? 8080);
