import { createHmac, timingSafeEqual } from 'node:crypto';
import express from 'express';

const secrets = process.env.CARTEIRO_SECRETS.split(',');
const stored = new Map();
const app = express();

const isSame = (one, other) => one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

app.post('/carteiro', express.raw({ type: 'application/json' }), (req, res) => {
  const given = [req.get('X-Webhook-Signature'), req.get('X-Webhook-Signature-Previous')].filter(
    (one) => one !== undefined,
  );
  const expected = secrets.map((secret) => `sha256=${createHmac('sha256', secret).update(req.body).digest('hex')}`);
  if (!given.some((one) => expected.some((other) => isSame(one, other)))) return res.sendStatus(401);
  const delivery = req.get('X-Webhook-Delivery');
  if (!stored.has(delivery)) {
    const { evento, data } = JSON.parse(req.body.toString('utf8'));
    stored.set(delivery, { evento, data });
  }
  return res.sendStatus(200);
});

app.listen(process.env.PORT);
