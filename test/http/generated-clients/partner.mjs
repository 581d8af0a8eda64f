// A partner's program on the generated TypeScript client, compiled.
const [, , client, url, token] = process.argv;
const { Configuration, NomeDeEvento, ResponseError, SandboxApi, StatusDeEntrega, WebhooksApi } = await import(client);

const configuration = new Configuration({ basePath: url, accessToken: token });
const api = new WebhooksApi(configuration);
const eventos = [NomeDeEvento.AverbacaoConcluida];
const created = await api.postWebhooks({
  postWebhooksRequest: { url: 'http://127.0.0.1:9/typescript', eventos },
  idempotencyKey: 'typescript-1',
});
const isListed = (await api.getWebhooks({ ativo: 'todos' })).some(({ id }) => id === created.id);
const rotate = () => api.postWebhooksIdSegredo({ id: created.id, idempotencyKey: 'typescript-2' });
const [first, again] = [await rotate(), await rotate()];
const { entregas } = await api.postWebhooksIdReenvios({
  id: created.id,
  postWebhooksIdReenviosRequest: {
    desde: '2026-01-31',
    status: [StatusDeEntrega.STATUS_DE_ENTREGA_ERRO, StatusDeEntrega.STATUS_DE_ENTREGA_SUSPENSA],
    simular: true,
  },
});
await new SandboxApi(configuration).putSandboxMargem({
  putSandboxMargemRequest: {
    cpf: '52998224725',
    numeroInscricaoEmpregador: '11222333000181',
    valorTotalVencimentos: 6000,
    valorMargemDisponivel: 1234.5,
  },
});
let refused = '';
try {
  await api.postWebhooks({ postWebhooksRequest: { url: 'ftp://example.com/', eventos } });
} catch (error) {
  if (!(error instanceof ResponseError)) throw error;
  refused = `${error.response.status} ${(await error.response.json()).codigo}`;
}
const told = [isListed ? 'listed' : 'missing', first.secret === again.secret ? 'rotated' : 'other secret'];
console.log(['registered', ...told, `counted ${entregas}`, 'margin told', `refused ${refused}`].join(', '));
