"""A partner's program on the generated client."""
import sys

from openapi_client import ApiClient, Configuration, SandboxApi, WebhooksApi
from openapi_client.exceptions import ApiException
from openapi_client.models import (
    MargemDoRegistry,
    NomeDeEvento,
    PostWebhooksIdReenviosRequest,
    PostWebhooksRequest,
    PutSandboxMargemRequest,
    StatusDeEntrega,
)

url, token = sys.argv[1:]
client = ApiClient(Configuration(host=url, access_token=token))
api = WebhooksApi(client)

wanted = PostWebhooksRequest(url="http://127.0.0.1:9/python", eventos=[NomeDeEvento.AVERBACAO_DOT_CONCLUIDA])
created = api.post_webhooks(wanted, idempotency_key="python-1")
is_listed = any(webhook.id == created.id for webhook in api.get_webhooks(ativo="todos"))
first = api.post_webhooks_id_segredo(created.id, idempotency_key="python-2")
again = api.post_webhooks_id_segredo(created.id, idempotency_key="python-2")
period = PostWebhooksIdReenviosRequest(
    desde="2026-01-31", status=[StatusDeEntrega.STATUS_DE_ENTREGA_ERRO, StatusDeEntrega.STATUS_DE_ENTREGA_SUSPENSA], simular=True
)
counted = api.post_webhooks_id_reenvios(created.id, period).entregas
margin = MargemDoRegistry(
    cpf="52998224725",
    numero_inscricao_empregador="11222333000181",
    valor_total_vencimentos=6000,
    valor_margem_disponivel=1234.5,
)
SandboxApi(client).put_sandbox_margem(PutSandboxMargemRequest(margin))
refused = ""
try:
    # No scheme: what the client itself would refuse is sent unchecked.
    api.post_webhooks(PostWebhooksRequest.model_construct(url="ftp://example.com/", eventos=["averbacao.concluida"]))
except ApiException as refusal:
    refused = f"{refusal.status} {'ERRO_VALIDACAO' if 'ERRO_VALIDACAO' in refusal.body else ''}"
print(
    ", ".join(
        [
            "registered",
            "listed" if is_listed else "missing",
            "rotated" if first.secret == again.secret else "other secret",
            f"counted {counted}",
            "margin told",
            f"refused {refused}",
        ]
    )
)
