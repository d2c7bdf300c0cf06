# Python 3.9 or later, without other packages
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]  # whsec_…
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))


def is_valid(headers, body):
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{sent_at}.".encode() + body
    digest = hmac.new(KEY, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # After a rotation there are two signatures.
    signatures = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(expected, one) for one in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        valid = is_valid(self.headers, body)
        self.send_response(204 if valid else 400)
        self.end_headers()
        if valid:
            event = json.loads(body)
            print(self.headers["webhook-id"], event["type"], event["data"])


ThreadingHTTPServer(("", 8080), Receiver).serve_forever()
