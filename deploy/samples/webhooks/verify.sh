#!/bin/sh
# Verifies a saved webhook with OpenSSL: sh verify.sh <headers> <body> <secret file>
#
# <headers> has one "name: value" a line, as `curl -i` writes them; <body> has the bytes as they arrived. A shell does not
# compare in constant time, and other users of this machine can see the key in the list of processes while OpenSSL runs:
# use it to look into a problem, and receive.mjs or receive.py to receive.
set -eu

headers=$1 body=$2
secret=$(head -n 1 "$3" | tr -d '\r')
fail() {
  echo "NOT verified: $1" >&2
  exit 1
}
# The value of a header, whose name has any case.
field() { tr -d '\r' <"$headers" | awk -F : -v name="$1" 'tolower($1) == name { sub(/^[^:]*:[ \t]*/, ""); print; exit }'; }
hex() { od -An -v -tx1 | tr -d ' \n'; }

id=$(field webhook-id)
timestamp=$(field webhook-timestamp)
case $timestamp in
'' | 0* | *[!0-9]* | ????????????*) fail "webhook-timestamp is missing, or no number" ;;
esac
age=$(($(date +%s) - timestamp))
[ "${age#-}" -le 300 ] || fail "its timestamp is $age seconds old"

case $secret in
whsec_*) key=$(printf %s "${secret#whsec_}" | openssl base64 -d -A | hex) ;;
*) key=$(printf %s "$secret" | hex) ;;
esac
expected=v1,$({ printf '%s.%s.' "$id" "$timestamp" && cat "$body"; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
# After a rotation of the secret there are two signatures for 24 hours.
case " $(field webhook-signature) " in
*" $expected "*) echo "Verified: the event $id was signed $age seconds ago" ;;
*) fail "no signature of webhook-signature is of this body and this secret" ;;
esac
