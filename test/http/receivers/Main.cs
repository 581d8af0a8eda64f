// Runs Carteiro.cs on one case a line: see test/support/verifiers.ts.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

public static class Program
{
    public static void Main()
    {
        for (string line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            string[] parts = line.Split('\t');
            var headers = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
            foreach (string header in parts.Skip(4))
            {
                int at = header.IndexOf('=');
                headers[header.Substring(0, at)] = header.Substring(at + 1);
            }
            Func<string, string> read = name => headers.ContainsKey(name) ? headers[name] : null;
            byte[] body = Convert.FromBase64String(parts[3]);
            string[] keys = parts[2].Split(',');
            double now = double.Parse(parts[1], CultureInfo.InvariantCulture);
            bool isOurs = parts[0] == "verify" ? Carteiro.Verify(body, read, keys, now) : Carteiro.VerifyBody(body, read, keys);
            Console.WriteLine(isOurs ? "true" : "false");
        }
    }
}
