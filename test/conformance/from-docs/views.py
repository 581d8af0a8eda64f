import hashlib
import hmac
import json
import os

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt

SECRETS = os.environ["CARTEIRO_SECRETS"].split(",")
LOANS = {}
SEEN = set()


@csrf_exempt
def receive(request):
    if request.method != "POST":
        return HttpResponse(status=405)
    given = [request.headers.get(name, "") for name in ("X-Webhook-Signature", "X-Webhook-Signature-Previous")]
    expected = ["sha256=" + hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest() for secret in SECRETS]
    if not any(hmac.compare_digest(one.encode(), other.encode()) for one in given for other in expected):
        return HttpResponse(status=401)
    if request.headers["X-Webhook-Delivery"] in SEEN:
        return HttpResponse(status=200)
    SEEN.add(request.headers["X-Webhook-Delivery"])
    envelope = json.loads(request.body)
    loan, version = envelope["data"].get("emprestimo_id"), int(request.headers.get("X-Webhook-Loan-Version", 0))
    if version >= LOANS.get(loan, (0, ""))[0]:
        LOANS[loan] = (version, envelope["evento"])
    return HttpResponse(status=200)
