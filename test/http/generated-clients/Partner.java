import java.net.URI;
import java.util.List;
import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.SandboxApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.*;

/** A partner's program on the generated client. */
public final class Partner {
    public static void main(String[] args) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(args[0]);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
        WebhooksApi api = new WebhooksApi(client);

        PostWebhooksRequest wanted = new PostWebhooksRequest()
                .url(URI.create("http://127.0.0.1:9/java"))
                .eventos(Set.of(NomeDeEvento.AVERBACAO_CONCLUIDA));
        WebhookCriado created = api.postWebhooks(wanted, "java-1");
        List<WebhookDaLista> listed = api.getWebhooks("todos", null, null, 500);
        boolean isListed = listed.stream().anyMatch(webhook -> webhook.getId().equals(created.getId()));
        SecretTrocado first = api.postWebhooksIdSegredo(created.getId(), "java-2", new PostWebhooksIdSegredoRequest());
        SecretTrocado again = api.postWebhooksIdSegredo(created.getId(), "java-2", new PostWebhooksIdSegredoRequest());
        PostWebhooksIdReenviosRequest period = new PostWebhooksIdReenviosRequest()
                .desde("2026-01-31")
                .status(Set.of(StatusDeEntrega.STATUS_DE_ENTREGA_ERRO, StatusDeEntrega.STATUS_DE_ENTREGA_SUSPENSA))
                .simular(true);
        // A list that is not set is not sent: an empty one would be refused.
        api.patchWebhooksId(created.getId(), new PatchWebhooksIdRequest().ativo(true));
        int counted = api.postWebhooksIdReenvios(created.getId(), period).getEntregas();
        MargemDoRegistry margin = new MargemDoRegistry()
                .cpf("52998224725")
                .numeroInscricaoEmpregador("11222333000181")
                .valorTotalVencimentos(new java.math.BigDecimal("6000"))
                .valorMargemDisponivel(new java.math.BigDecimal("1234.5"));
        new SandboxApi(client).putSandboxMargem(new PutSandboxMargemRequest(margin));
        String refused = "";
        try {
            api.postWebhooks(wanted.url(URI.create("http://127.0.0.1:0/")), null);
        } catch (ApiException refusal) {
            refused = refusal.getCode() + (refusal.getResponseBody().contains("ERRO_VALIDACAO") ? " ERRO_VALIDACAO" : "");
        }
        System.out.println(String.join(", ", "registered", isListed ? "listed" : "missing",
                first.getSecret().equals(again.getSecret()) ? "rotated" : "other secret",
                "counted " + counted, "margin told", "refused " + refused));
    }
}
