package receiver;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class WebhookController {
    private final String[] secrets = System.getenv("CARTEIRO_SECRETS").split(",");
    private final Map<String, byte[]> stored = new ConcurrentHashMap<>();

    @PostMapping("/carteiro")
    public ResponseEntity<Void> receive(
            @RequestHeader(name = "X-Webhook-Delivery") String delivery,
            @RequestHeader(name = "X-Webhook-Signature", required = false) String signature,
            @RequestHeader(name = "X-Webhook-Signature-Previous", required = false) String previous,
            @RequestBody byte[] body) throws Exception {
        boolean valid = false;
        for (String secret : secrets) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            String expected = "sha256=" + HexFormat.of().formatHex(mac.doFinal(body));
            for (String given : new String[] {signature, previous}) {
                if (given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8))) valid = true;
            }
        }
        if (!valid) return ResponseEntity.status(HttpStatus.UNAUTHORIZED).build();
        stored.putIfAbsent(delivery, body);
        return ResponseEntity.noContent().build();
    }
}
