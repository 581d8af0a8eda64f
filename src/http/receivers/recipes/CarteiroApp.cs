// ASP.NET Core 6 or later: Program.cs of a web application; Carteiro.cs lies beside.
var secrets = Environment.GetEnvironmentVariable("CARTEIRO_SECRETS")!.Split(','); // the new one and, while a rotation lasts, the one before
var app = WebApplication.CreateBuilder(args).Build();

app.MapPost("/carteiro", async (HttpRequest request) =>
{
    using var body = new MemoryStream();
    await request.Body.CopyToAsync(body); // before any parsing: no model is bound
    var isOurs = Carteiro.Verify(body.ToArray(), name => (string)request.Headers[name], secrets);
    // Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
    return Results.StatusCode(isOurs ? 204 : 401);
});

app.Run();
