import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { integer, record, text, truth, word } from "#shared/tools/shapes.ts";

/** Public key of a DKIM record. */
export const DkimPublicKey = record(
  {
    type: word(["rsa", "ed25519"], "Kind of key"),
    bits: Nullable(integer("Size of the RSA modulus, bits; 256 for Ed25519")),
    encoding: word(
      ["spki", "pkcs1", "raw"],
      "spki: SubjectPublicKeyInfo, the common form; pkcs1: bare RSAPublicKey; raw: the 32 octets of Ed25519",
    ),
  },
  "The key; null if the data is not a key",
);

/** A selector with a key. */
export const DkimSelector = Type.Object({
  selector: text("Selector"),
  used_by: Nullable(text("Service that usually publishes under it; null for a selector given in the request")),
  valid: truth("Whether a verifier can use the key"),
  invalid_reason: Nullable(text("Why no verifier can use the key; null if it is valid")),
  key: Nullable(DkimPublicKey),
  revoked: truth("Whether the key is revoked (empty p)"),
  testing: truth("Whether the domain declares a test of DKIM (t=y)"),
  cname_target: Nullable(text("Target if the name is an alias; null otherwise")),
});
