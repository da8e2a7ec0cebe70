import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { text, truth, word } from "#shared/tools/shapes.ts";

/** What the server staples. */
export const Ocsp = Type.Object(
  {
    stapled: truth("The server stapled an OCSP response"),
    status: Nullable(word(["good", "revoked", "unknown"], "Status it gives: good, revoked, unknown; null: not read")),
    this_update: Nullable(text("When the status was known to hold, ISO 8601 UTC")),
    next_update: Nullable(text("When a newer one will be there, ISO 8601 UTC")),
  },
  { description: "Online certificate status" },
);

/** Revocation as far as it was asked about. */
export const Revocation = Type.Object(
  {
    status: word(["good", "revoked", "unknown"], "good, revoked, or unknown: nobody could be asked"),
    method: Nullable(word(["staple", "ocsp", "crl"], "Where the status is from: staple, ocsp, crl")),
  },
  { description: "Whether the certificate was revoked" },
);

/** Proofs of publication. */
export const Ct = Type.Object(
  { scts: Type.Integer({ description: "Signed certificate timestamps seen" }) },
  { description: "Certificate transparency" },
);
