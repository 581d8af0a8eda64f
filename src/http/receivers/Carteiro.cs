using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

/// <summary>
/// Verifies the signature of a delivery. A file to copy: it needs .NET 6 (or .NET Framework 4.7.2) and nothing else.
/// Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
/// <c>header</c> answers a header's value by its name, or null: <c>name => (string)request.Headers[name]</c> in ASP.NET Core.
/// </summary>
public static class Carteiro
{
    /// <summary>Older or newer deliveries are refused, so that nobody can send a recorded one again.</summary>
    private const double ToleranceS = 300;

    /// <summary>True when one of the secrets signed exactly these bytes within five minutes of now. Reads the Standard Webhooks headers.</summary>
    public static bool Verify(byte[] rawBody, Func<string, string> header, IEnumerable<string> secrets)
    {
        return Verify(rawBody, header, secrets, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() / 1000.0);
    }

    public static bool Verify(byte[] rawBody, Func<string, string> header, IEnumerable<string> secrets, double nowS)
    {
        string id = header("webhook-id"), timestamp = header("webhook-timestamp"), given = header("webhook-signature");
        if (id == null || timestamp == null || given == null || !Regex.IsMatch(timestamp, @"\A[0-9]{1,12}\z")) return false;
        if (Math.Abs(nowS - long.Parse(timestamp)) > ToleranceS) return false;
        byte[] signed = Encoding.UTF8.GetBytes(id + "." + timestamp + ".").Concat(rawBody).ToArray();
        string[] signatures = given.Split(' ');
        bool isOurs = false;
        foreach (string secret in secrets)
        {
            byte[] key = StandardKey(secret);
            if (key.Length == 0) continue;
            string expected = "v1," + Convert.ToBase64String(Hmac(key, signed));
            foreach (string signature in signatures) isOurs |= IsSame(signature, expected);
        }
        return isOurs;
    }

    /// <summary>
    /// True when one of the secrets signed exactly these bytes. Reads the contract's headers X-Webhook-Signature and, during a
    /// rotation, X-Webhook-Signature-Previous. They sign no time: a recorded delivery passes, so deduplicate by X-Webhook-Delivery,
    /// or use Verify.
    /// </summary>
    public static bool VerifyBody(byte[] rawBody, Func<string, string> header, IEnumerable<string> secrets)
    {
        string[] given = { header("X-Webhook-Signature"), header("X-Webhook-Signature-Previous") };
        bool isOurs = false;
        foreach (string secret in secrets.Where(one => one != ""))
        {
            byte[] hash = Hmac(Encoding.UTF8.GetBytes(secret), rawBody);
            string expected = "sha256=" + BitConverter.ToString(hash).Replace("-", "").ToLowerInvariant();
            foreach (string signature in given) isOurs |= IsSame(signature, expected);
        }
        return isOurs;
    }

    private static byte[] Hmac(byte[] key, byte[] text)
    {
        using (var hmac = new HMACSHA256(key)) return hmac.ComputeHash(text);
    }

    /// <summary>Empty for a secret that cannot be a key.</summary>
    private static byte[] StandardKey(string secret)
    {
        string text = secret.StartsWith("whsec_", StringComparison.Ordinal) ? secret.Substring(6) : secret;
        if (!Regex.IsMatch(text, @"\A[A-Za-z0-9+/]+={0,2}\z")) return new byte[0];
        try { return Convert.FromBase64String(text); }
        catch (FormatException) { return new byte[0]; }
    }

    /// <summary>In constant time.</summary>
    private static bool IsSame(string given, string expected)
    {
        if (given == null || given.Length != expected.Length) return false;
        int difference = 0;
        for (int at = 0; at < expected.Length; at++) difference |= given[at] ^ expected[at];
        return difference == 0;
    }
}
