# Checks one delivery by hand: its body is in the file body.json, byte for byte
WEBHOOK_SECRET='whsec_…'
ID='value of the header webhook-id'
TIMESTAMP='value of the header webhook-timestamp'
SIGNATURE='value of the header webhook-signature'

KEY=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
EXPECTED=$( (printf '%s.%s.' "$ID" "$TIMESTAMP"; cat body.json) |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)
case " $SIGNATURE " in
  *" v1,$EXPECTED "*) echo valid ;;
  *) echo invalid; exit 1 ;;
esac
