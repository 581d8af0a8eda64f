using System;
using System.IO;
using System.Net;
using System.Threading.Tasks;

public static class Receiver
{
    // the new one and, while a rotation lasts, the one before
    static readonly string[] Secrets = Environment.GetEnvironmentVariable("CARTEIRO_SECRETS").Split(',');

    public static void Main()
    {
        var server = new HttpListener();
        server.Prefixes.Add("http://127.0.0.1:" + Environment.GetEnvironmentVariable("PORT") + "/"); // http://+:… for every address
        server.Start();
        while (true)
        {
            HttpListenerContext context = server.GetContext();
            Task.Run(() => Answer(context));
        }
    }

    static void Answer(HttpListenerContext context)
    {
        var body = new MemoryStream();
        context.Request.InputStream.CopyTo(body);
        byte[] rawBody = body.ToArray(); // before any parsing
        bool isOurs = Carteiro.Verify(rawBody, name => context.Request.Headers[name], Secrets);
        // Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
        context.Response.StatusCode = context.Request.Url.AbsolutePath != "/carteiro" ? 404 : isOurs ? 204 : 401;
        context.Response.Close();
    }
}
