#!/bin/sh
# Verifies an audit export with jq and OpenSSL: sh verify.sh <export.json> <secret file>
#
# jq's sorted, compact output is the canonical form (RFC 8785) for nearly every export, but not for all JSON: it writes
# very small and very large numbers (0.0000001, 1e21) and the character U+007F in another way, and sorts names by code
# point. Such an export fails here although it is valid; use verify.mjs or verify.py for it.
#
# Other users of this machine can see the secret in the list of processes while OpenSSL runs.
set -eu

secret=$(head -n 1 "$2")
# The whole response, or its `data`.
envelope='if has("sig") then . else .data end'
field() { jq -r "$envelope | .sig.$1 | tostring" "$file"; }
fail() {
  echo "NOT verified: $1" >&2
  exit 1
}

file=$1
kid=$(printf %s "$secret" | openssl dgst -sha256 -r | cut -c 1-8)
[ "$(field kid)" = "$kid" ] || fail "it was signed with the secret $(field kid), and this one is $kid"
value=$({ printf '%s.' "$(field ts)" && jq -cjS "$envelope | .data" "$file"; } | openssl dgst -sha256 -hmac "$secret" -r | cut -d ' ' -f 1)
[ "$(field value)" = "$value" ] || fail "it is not what was signed"
jq -r "$envelope | .data | \"Verified: \\(.type) of account \\(.account_id), generated at \\(.generated_at)\"" "$file"
