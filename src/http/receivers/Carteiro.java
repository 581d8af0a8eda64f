import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Verifies the signature of a delivery. A file to copy: it needs Java 17 or later and nothing else.
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

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
