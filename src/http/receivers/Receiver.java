import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.List;

public final class Receiver {
    // the new one and, while a rotation lasts, the one before
    static final List<String> SECRETS = List.of(System.getenv("CARTEIRO_SECRETS").split(","));

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv("PORT"))), 0);
        server.createContext("/carteiro", exchange -> {
            byte[] rawBody = exchange.getRequestBody().readAllBytes(); // before any parsing
            boolean isOurs = Carteiro.verify(rawBody, exchange.getRequestHeaders()::getFirst, SECRETS);
            // Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
            exchange.sendResponseHeaders(isOurs ? 204 : 401, -1);
            exchange.close();
        });
        server.start();
    }
}
