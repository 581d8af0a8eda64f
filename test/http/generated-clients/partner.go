// A partner's program on the generated client.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	carteiro "example.com/carteiro/client"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	config := carteiro.NewConfiguration()
	config.Servers = carteiro.ServerConfigurations{{URL: os.Args[1]}}
	ctx := context.WithValue(context.Background(), carteiro.ContextAccessToken, os.Args[2])
	client := carteiro.NewAPIClient(config)
	api := client.WebhooksAPI

	names := []carteiro.NomeDeEvento{carteiro.AVERBACAO_CONCLUIDA}
	wanted := *carteiro.NewPostWebhooksRequest("http://127.0.0.1:9/go", names)
	created := must(api.PostWebhooks(ctx).PostWebhooksRequest(wanted).IdempotencyKey("go-1").Execute())
	listed := "missing"
	for _, webhook := range must(api.GetWebhooks(ctx).Ativo("todos").Execute()) {
		if webhook.Id == created.Id {
			listed = "listed"
		}
	}
	first := must(api.PostWebhooksIdSegredo(ctx, created.Id).IdempotencyKey("go-2").Execute())
	again := must(api.PostWebhooksIdSegredo(ctx, created.Id).IdempotencyKey("go-2").Execute())
	rotated := "other secret"
	if first.GetSecret() == again.GetSecret() {
		rotated = "rotated"
	}
	period := *carteiro.NewPostWebhooksIdReenviosRequest("2026-01-31")
	period.SetStatus([]carteiro.StatusDeEntrega{carteiro.STATUS_DE_ENTREGA_ERRO, carteiro.STATUS_DE_ENTREGA_SUSPENSA})
	period.SetSimular(true)
	counted := must(api.PostWebhooksIdReenvios(ctx, created.Id).PostWebhooksIdReenviosRequest(period).Execute())
	margin := carteiro.NewMargemDoRegistry("52998224725", "11222333000181", 6000, -1234.5)
	told := carteiro.MargemDoRegistryAsPutSandboxMargemRequest(margin)
	must(client.SandboxAPI.PutSandboxMargem(ctx).PutSandboxMargemRequest(told).Execute())

	wanted.Url = "ftp://example.com/"
	_, answer, err := api.PostWebhooks(ctx).PostWebhooksRequest(wanted).Execute()
	var refusal *carteiro.GenericOpenAPIError
	refused := "no"
	if errors.As(err, &refusal) && strings.Contains(string(refusal.Body()), "ERRO_VALIDACAO") {
		refused = fmt.Sprint(answer.StatusCode, " ERRO_VALIDACAO")
	}
	fmt.Printf("registered, %s, %s, counted %d, margin told, refused %s\n", listed, rotated, counted.Entregas, refused)
}
