using System;
using System.Collections.Generic;
using System.Linq;
using Org.OpenAPITools.Api;
using Org.OpenAPITools.Client;
using Org.OpenAPITools.Model;

/// <summary>A partner's program on the generated client.</summary>
public static class Partner
{
    public static void Main(string[] args)
    {
        var configuration = new Configuration { BasePath = args[0], AccessToken = args[1] };
        var api = new WebhooksApi(configuration);
        var names = new List<NomeDeEvento> { Enum.GetValues(typeof(NomeDeEvento)).Cast<NomeDeEvento>().First() };
        var created = api.PostWebhooks(new PostWebhooksRequest("http://127.0.0.1:9/csharp", names), "csharp-1");
        bool isListed = api.GetWebhooks("todos").Any(webhook => webhook.Id == created.Id);
        var first = api.PostWebhooksIdSegredo(created.Id, "csharp-2", new PostWebhooksIdSegredoRequest());
        var again = api.PostWebhooksIdSegredo(created.Id, "csharp-2", new PostWebhooksIdSegredoRequest());
        var failed = new List<StatusDeEntrega> { StatusDeEntrega.STATUS_DE_ENTREGA_ERRO, StatusDeEntrega.STATUS_DE_ENTREGA_SUSPENSA };
        var period = new PostWebhooksIdReenviosRequest("2026-01-31", status: failed, simular: true);
        var counted = api.PostWebhooksIdReenvios(created.Id, period).Entregas;
        // A refusal of the registry: the generator's httpclient library does not read a required enum that is null.
        var margin = new FalhaDoRegistry("52998224725", "11222333000181", FalhaDoRegistry.FalhaEnum.Upstream, "fora do ar");
        new SandboxApi(configuration).PutSandboxMargem(new PutSandboxMargemRequest(margin));
        string refused = "";
        try
        {
            api.PostWebhooks(new PostWebhooksRequest("ftp://example.com/", names));
        }
        catch (ApiException refusal)
        {
            refused = refusal.ErrorCode + (refusal.Message.Contains("ERRO_VALIDACAO") ? " ERRO_VALIDACAO" : "");
        }
        Console.WriteLine(string.Join(", ", "registered", isListed ? "listed" : "missing",
            first.Secret == again.Secret ? "rotated" : "other secret", "counted " + counted, "margin told", "refused " + refused));
    }
}
