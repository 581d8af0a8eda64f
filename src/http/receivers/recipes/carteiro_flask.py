# Flask: flask --app carteiro_flask run; carteiro.py lies beside.
import os

from flask import Flask, request

from carteiro import verify

SECRETS = os.environ["CARTEIRO_SECRETS"].split(",")  # the new one and, while a rotation lasts, the one before
app = Flask(__name__)


@app.post("/carteiro")
def receive():
    raw_body = request.get_data()  # before request.json, request.form or any parsing
    if not verify(raw_body, request.headers, SECRETS):
        return "", 401
    # Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
    return "", 204
