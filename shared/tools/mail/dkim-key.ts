import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { integer, record, text, truth, word } from "#shared/tools/shapes.ts";

/** The key of a record, as far as it can be read. */
export const DkimPublicKey = record(
  {
    type: word(["rsa", "ed25519"], "Kind of key"),
    bits: Nullable(integer("Size of the RSA modulus, bits; 256 for Ed25519")),
    encoding: word(
      ["spki", "pkcs1", "raw"],
      "spki: SubjectPublicKeyInfo, what everybody publishes; pkcs1: bare RSAPublicKey; raw: the 32 octets of Ed25519",
    ),
  },
  "The key; null where the data is none",
);

/** A selector that was found. */
export const DkimSelector = Type.Object({
  selector: text("Selector"),
  used_by: Nullable(text("Who usually publishes under it; null for one that was asked for")),
  valid: truth("Whether a verifier could use the key"),
  invalid_reason: Nullable(text("Why no verifier can use the key; null where it is valid")),
  key: Nullable(DkimPublicKey),
  revoked: truth("Whether the key is revoked (empty p)"),
  testing: truth("Whether the domain says it is testing (t=y)"),
  cname_target: Nullable(text("Where the name leads as an alias; null where it is none")),
});
