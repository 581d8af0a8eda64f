import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Verifies the signature of a delivery, and the checkpoint that it carries. A file to copy: it needs Java 17 or later and nothing else.
 *
 * <p>Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
 * {@code header} answers a header's value by its name, or null: {@code request::getHeader} of a servlet does.
 */
public final class Carteiro {
    /** Older or newer deliveries are refused, so that nobody can send a recorded one again. */
    private static final long TOLERANCE_S = 300;

    private Carteiro() {}

    public static boolean verify(byte[] rawBody, Function<String, String> header, List<String> secrets) {
        return verify(rawBody, header, secrets, Instant.now());
    }

    /**
     * True when one of {@code secrets} signed exactly these bytes within five minutes of {@code now}. Reads the Standard
     * Webhooks headers.
     */
    public static boolean verify(byte[] rawBody, Function<String, String> header, List<String> secrets, Instant now) {
        String id = header.apply("webhook-id");
        String timestamp = header.apply("webhook-timestamp");
        String given = header.apply("webhook-signature");
        if (id == null || timestamp == null || given == null || !timestamp.matches("[0-9]{1,12}")) return false;
        if (Math.abs(now.getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_S) return false;
        byte[] prefix = bytes(id + "." + timestamp + ".");
        for (String secret : secrets) {
            byte[] key = standardKey(secret);
            if (key.length == 0) continue;
            String expected = "v1," + Base64.getEncoder().encodeToString(hmac(key, prefix, rawBody));
            for (String signature : given.split(" ")) {
                if (isSame(signature, expected)) return true;
            }
        }
        return false;
    }

    /**
     * True when one of {@code secrets} signed exactly these bytes. Reads the contract's headers X-Webhook-Signature and,
     * during a rotation, X-Webhook-Signature-Previous. They sign no time: a recorded delivery passes, so deduplicate by
     * X-Webhook-Delivery, or use {@link #verify}.
     */
    public static boolean verifyBody(byte[] rawBody, Function<String, String> header, List<String> secrets) {
        String current = header.apply("X-Webhook-Signature");
        String previous = header.apply("X-Webhook-Signature-Previous");
        for (String secret : secrets) {
            if (secret.isEmpty()) continue;
            String expected = "sha256=" + HexFormat.of().formatHex(hmac(bytes(secret), rawBody));
            if (isSame(current, expected) || isSame(previous, expected)) return true;
        }
        return false;
    }

    /** Empty for a secret that cannot be a key. */
    private static byte[] standardKey(String secret) {
        try {
            return Base64.getDecoder().decode(secret.startsWith("whsec_") ? secret.substring(6) : secret);
        } catch (IllegalArgumentException noBase64) {
            return new byte[0];
        }
    }

    private static byte[] hmac(byte[] key, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            for (byte[] part : parts) mac.update(part);
            return mac.doFinal();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has HmacSHA256", impossible);
        }
    }

    /** In constant time. */
    private static boolean isSame(String given, String expected) {
        return given != null && MessageDigest.isEqual(bytes(given), bytes(expected));
    }

    /** OK: signed, and of one log with the kept one. FORGED: no key signed it. */
    public enum Verdict {
        OK,
        FORGED,
        /** The log and the kept line exclude each other: keep both lines, and tell the lender. */
        FORK,
        /** Of the same log, and older than the kept one, or the same for more than a day: tell the lender where that stays so for an hour. */
        PARADO,
        /** Of more seals than the API's log has, and held against it once it has them: tell the lender where that stays so for an hour. */
        ADIANTADO,
        /** There was no header, or the API gave no answer: try the next one. */
        UNKNOWN
    }

    /** What was found, and the line to keep for the next time. */
    public record CheckedCheckpoint(Verdict verdict, String keep) {}

    /**
     * Checks the header X-Carteiro-Checkpoint against what was kept last ("" at first), by the log's public keys as
     * /.well-known/carteiro-checkpoint-keys shows them: keep those when nothing is in dispute. Where the log has grown, the
     * proof is asked of {@code api}, the base URL of Carteiro's API. Call it once the delivery is answered.
     */
    public static CheckedCheckpoint verifyCheckpoint(String header, List<String> keys, String kept, String api)
            throws InterruptedException {
        return verifyCheckpoint(header, keys, kept, api, Instant.now());
    }

    /** The same, at {@code clock}. */
    public static CheckedCheckpoint verifyCheckpoint(
            String header, List<String> keys, String kept, String api, Instant clock) throws InterruptedException {
        if (header == null || header.isEmpty()) return new CheckedCheckpoint(Verdict.UNKNOWN, kept);
        // What is kept: a line, the second at which it came, and the least line that was ahead.
        List<String> words = List.of(kept.split(" "));
        String line = String.join(" ", words.subList(0, Math.min(4, words.size())));
        long since = words.size() > 4 ? Long.parseLong(words.get(4)) : clock.getEpochSecond();
        String ahead = words.size() > 5 ? String.join(" ", words.subList(5, words.size())) : "";
        if (header.equals(line)) {
            boolean isOld = clock.getEpochSecond() - since > DAY_S;
            return new CheckedCheckpoint(isOld ? Verdict.PARADO : Verdict.OK, keep(line, since, ahead));
        }
        Checkpoint now = readCheckpoint(header);
        Checkpoint before = readCheckpoint(line);
        Checkpoint later = readCheckpoint(ahead);
        if (now == null || keys.stream().noneMatch(key -> isSigned(now, key))) {
            return new CheckedCheckpoint(Verdict.FORGED, kept);
        }
        if (kept.isEmpty()) return new CheckedCheckpoint(Verdict.OK, keep(header, clock.getEpochSecond(), ""));
        if (before == null || !before.origin.equals(now.origin)) return new CheckedCheckpoint(Verdict.FORK, kept);
        boolean hasGrown = now.size > before.size;
        Verdict isOf = hasGrown ? isOneLog(api, before, now) : isOneLog(api, now, before);
        if (isOf == Verdict.ADIANTADO && hasGrown && (later == null || now.size < later.size)) {
            return new CheckedCheckpoint(isOf, keep(line, since, header));
        }
        if (isOf != Verdict.OK) return new CheckedCheckpoint(isOf, kept);
        if (!hasGrown) return new CheckedCheckpoint(now.size < before.size ? Verdict.PARADO : Verdict.OK, kept);
        if (later != null && later.size <= now.size) {
            Verdict isTrue = isOneLog(api, later, now);
            if (isTrue != Verdict.OK) return new CheckedCheckpoint(isTrue == Verdict.FORK ? isTrue : Verdict.UNKNOWN, kept);
            ahead = "";
        }
        return new CheckedCheckpoint(Verdict.OK, keep(header, clock.getEpochSecond(), ahead));
    }

    private static final long DAY_S = 86_400;

    private static String keep(String line, long since, String ahead) {
        return (line + " " + since + " " + ahead).stripTrailing();
    }

    /** OK: one log has both. */
    private static Verdict isOneLog(String api, Checkpoint old, Checkpoint grown) throws InterruptedException {
        List<byte[]> path = old.size == grown.size ? List.of() : askForProof(api, old.size, grown.size);
        if (path == null) return Verdict.UNKNOWN;
        if (path == FEWER) return Verdict.ADIANTADO;
        return isConsistent(old, grown, path) ? Verdict.OK : Verdict.FORK;
    }

    private record Checkpoint(String origin, long size, byte[] root, byte[] signature) {}

    private static final Pattern LINE =
            Pattern.compile("(\\S+) ([1-9]\\d{0,14}) ([A-Za-z0-9+/]{43}=) ([A-Za-z0-9+/]{91}=)");

    private static Checkpoint readCheckpoint(String line) {
        Matcher part = LINE.matcher(line);
        if (!part.matches()) return null;
        Base64.Decoder base64 = Base64.getDecoder();
        return new Checkpoint(
                part.group(1), Long.parseLong(part.group(2)), base64.decode(part.group(3)), base64.decode(part.group(4)));
    }

    /** A key is name, id and base64 behind a type byte, joined by +; a signature has the key's id in front. */
    private static boolean isSigned(Checkpoint checkpoint, String key) {
        String[] part = key.trim().split("\\+", 3);
        String id = HexFormat.of().formatHex(checkpoint.signature, 0, 4);
        if (part.length != 3 || !part[0].equals(checkpoint.origin) || !part[1].equals(id)) return false;
        String root = Base64.getEncoder().encodeToString(checkpoint.root);
        try {
            byte[] data = Base64.getDecoder().decode(part[2]);
            if (data.length != 33 || data[0] != 1) return false;
            byte[] der = Arrays.copyOf(HexFormat.of().parseHex("302a300506032b6570032100"), 44);
            System.arraycopy(data, 1, der, 12, 32);
            Signature ed25519 = Signature.getInstance("Ed25519");
            ed25519.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(der)));
            ed25519.update(bytes(checkpoint.origin + "\n" + checkpoint.size + "\n" + root + "\n"));
            return ed25519.verify(checkpoint.signature, 4, 64);
        } catch (GeneralSecurityException | IllegalArgumentException noKey) {
            return false;
        }
    }

    private static final Pattern PATH = Pattern.compile("\"caminho\"\\s*:\\s*\\[([^\\]]*)]");
    private static final Pattern HASH = Pattern.compile("\"([A-Za-z0-9+/]{43}=)\"");

    /** The API's log does not have so many seals. */
    private static final List<byte[]> FEWER = List.of(new byte[0]);

    /** Null when the API gave no proof. */
    private static List<byte[]> askForProof(String api, long from, long to) throws InterruptedException {
        URI address = URI.create(api + "/v1/evidencia/consistencia?de=" + from + "&ate=" + to);
        HttpRequest request = HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(10)).build();
        try {
            HttpResponse<String> answer =
                    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() == 404) return FEWER;
            Matcher found = PATH.matcher(answer.body());
            if (!found.find()) return null;
            List<byte[]> path = new ArrayList<>();
            for (Matcher hash = HASH.matcher(found.group(1)); hash.find();) {
                path.add(Base64.getDecoder().decode(hash.group(1)));
            }
            return path;
        } catch (IOException noAnswer) {
            return null;
        }
    }

    /** RFC 9162, 2.1.4.2. */
    private static boolean isConsistent(Checkpoint old, Checkpoint grown, List<byte[]> proof) {
        if (old.size == grown.size) return proof.isEmpty() && Arrays.equals(old.root, grown.root);
        List<byte[]> path = new ArrayList<>(proof);
        long index = old.size - 1;
        long last = grown.size - 1;
        for (; (index & 1) == 1; last >>= 1) index >>= 1;
        if (index == 0) path.add(0, old.root);
        if (path.isEmpty()) return false;
        byte[] before = path.get(0);
        byte[] after = before;
        for (byte[] other : path.subList(1, path.size())) {
            if (last == 0) return false;
            if ((index & 1) == 1 || index == last) {
                before = node(other, before);
                after = node(other, after);
                for (; index != 0 && (index & 1) == 0; last >>= 1) index >>= 1;
            } else {
                after = node(after, other);
            }
            index >>= 1;
            last >>= 1;
        }
        return last == 0 && Arrays.equals(before, old.root) && Arrays.equals(after, grown.root);
    }

    private static byte[] node(byte[] left, byte[] right) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update((byte) 1);
            sha256.update(left);
            sha256.update(right);
            return sha256.digest();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
