// Spring Boot 3 (Web MVC): give this file and Carteiro.java the package of your application.
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class CarteiroController {
    // the new one and, while a rotation lasts, the one before
    private static final List<String> SECRETS = List.of(System.getenv("CARTEIRO_SECRETS").split(","));

    /** byte[] is the body as it came. With Spring Security: csrf(csrf -> csrf.ignoringRequestMatchers("/carteiro")), and permitAll. */
    @PostMapping("/carteiro")
    public ResponseEntity<Void> receive(@RequestBody byte[] rawBody, HttpServletRequest request) {
        boolean isOurs = Carteiro.verify(rawBody, request::getHeader, SECRETS);
        // Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
        return ResponseEntity.status(isOurs ? 204 : 401).build();
    }
}
