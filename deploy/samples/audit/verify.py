"""Verifies an audit export with Python 3.7 or later alone: python3 verify.py <export.json> <secret file>"""

import hashlib
import hmac
import json
import math
import sys
from decimal import Decimal


def number(value):
    """Writes a number as ECMAScript does (RFC 8785, section 3.2.2.3)."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(value)
    value = float(value)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    if value == 0:
        return "0"
    # repr() has the shortest digits that give this double again, as ECMAScript.
    _, digits, exponent = Decimal(repr(abs(value))).as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    text = text.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(text) <= point <= 21:
        return sign + text.ljust(point, "0")
    if 0 < point <= 21:
        return sign + text[:point] + "." + text[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + text
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{sign}{mantissa}e{point - 1:+d}"


def canonical(value):
    """Writes the canonical form (RFC 8785): names sorted by UTF-16 code units, no whitespace."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return number(value)


def unique(pairs):
    """Refuses an object that has a key twice: readers differ in which value they take."""
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError("a key is there twice")
    return names


def verify(export_file, secret_file):
    with open(export_file, encoding="utf-8") as file:
        answer = json.load(file, object_pairs_hook=unique)
    with open(secret_file, encoding="utf-8") as file:
        secret = file.readline().strip().encode()
    # The whole response, or its `data`.
    envelope = answer if "sig" in answer else answer["data"]
    data, sig = envelope["data"], envelope["sig"]
    kid = hashlib.sha256(secret).hexdigest()[:8]
    if sig["kid"] != kid:
        sys.exit(f"NOT verified: it was signed with the secret {sig['kid']}, and this one is {kid}")
    signed = f"{sig['ts']}.{canonical(data)}".encode()
    if not hmac.compare_digest(hmac.new(secret, signed, hashlib.sha256).hexdigest(), sig["value"]):
        sys.exit("NOT verified: it is not what was signed")
    print(f"Verified: {data['type']} of account {data['account_id']}, generated at {data['generated_at']}")


verify(*sys.argv[1:3])
