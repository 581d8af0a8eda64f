import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;

/** Runs Carteiro.java on one case a line: see test/support/verifiers.ts. */
public class Main {
    public static void main(String[] args) throws Exception {
        for (Scanner lines = new Scanner(System.in, "UTF-8"); lines.hasNextLine();) {
            String[] part = lines.nextLine().split("\t", -1);
            Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
            for (String header : Arrays.asList(part).subList(4, part.length)) {
                headers.put(header.substring(0, header.indexOf('=')), header.substring(header.indexOf('=') + 1));
            }
            byte[] body = Base64.getDecoder().decode(part[3]);
            List<String> secrets = List.of(part[2].split(",", -1));
            if (part[0].equals("verifyCheckpoint")) {
                String header = headers.get("X-Carteiro-Checkpoint");
                String[] asked = part[1].split(" ");
                Instant now = Instant.ofEpochSecond(Long.parseLong(asked[0]));
                var checked = Carteiro.verifyCheckpoint(header, secrets, new String(body, "UTF-8"), asked[1], now);
                System.out.printf("[\"%s\",\"%s\"]%n", checked.verdict().name().toLowerCase(), checked.keep());
                continue;
            }
            boolean isStandard = part[0].equals("verify");
            System.out.println(isStandard
                    ? Carteiro.verify(body, headers::get, secrets, Instant.ofEpochSecond(Long.parseLong(part[1])))
                    : Carteiro.verifyBody(body, headers::get, secrets));
        }
    }
}
