# Django: in urls.py, path("carteiro", carteiro_django.receive); carteiro.py lies where it can be imported.
import os

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from carteiro import verify

SECRETS = os.environ["CARTEIRO_SECRETS"].split(",")  # the new one and, while a rotation lasts, the one before


@csrf_exempt  # no form of yours sends this; the signature takes the token's place
@require_POST
def receive(request):
    if not verify(request.body, request.headers, SECRETS):  # before request.POST or any parsing
        return HttpResponse(status=401)
    # Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
    return HttpResponse(status=204)
