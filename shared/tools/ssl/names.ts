import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, truth, word } from "#shared/tools/shapes.ts";

const Tlsa = Type.Object({
  usage: integer("Certificate usage: 0 PKIX-TA, 1 PKIX-EE, 2 DANE-TA, 3 DANE-EE; -1 if unreadable"),
  selector: integer("0 certificate, 1 public key; -1 if unreadable"),
  matching_type: integer("0 exact, 1 SHA-256, 2 SHA-512; -1 if unreadable"),
  data: text("Certificate association data, hexadecimal; truncated if long"),
  usable: truth("All fields have values of RFC 6698; clients ignore other records"),
  matches: truth("The server's chain satisfies the record"),
});

const Dane = record(
  {
    tlsa: list(Tlsa, "TLSA records at _<port>._tcp.<host>, the first 20"),
    tlsa_total: count("Number of TLSA records"),
    valid: Nullable(
      truth(
        "A client that supports DANE connects: a usable record matches; false if none does or the records fail " +
          "validation; null if no record is usable, the records are not signed, or unknown",
      ),
    ),
    dnssec: Nullable(
      word(
        ["secure", "insecure", "bogus"],
        "DNSSEC status, validated by the probe: secure; insecure: not signed, so DANE does not apply; bogus: " +
          "validation fails; null if there is no record, or unknown",
      ),
    ),
    reason: Nullable(text("Reason for the DNSSEC status; null if there is none")),
  },
  "DANE (RFC 6698, RFC 7671) for the port; null for an address",
);

const Caa = Type.Object({
  name: text("Name of the record: the host or its nearest parent with records"),
  critical: truth("An authority that does not support the tag must not issue"),
  tag: text("issue, issuewild, iodef, ..."),
  value: text("Value as published: an authority's domain and its parameters, or a reporting address"),
});

/** Fields of the ssl tool's result from DNS records that limit the certificates and authorities of a host. */
export const NAMES = {
  dane: Nullable(Dane),
  caa: Nullable(
    list(
      Caa,
      "CAA records that apply to the certificate's name, by tree climbing (RFC 8659), the first 50; empty if any " +
        "authority is allowed to issue; null for an address, or if unknown",
    ),
  ),
  caa_allows_issuer: Nullable(
    truth(
      "The records allow the certificate's authority to issue the next certificate; they apply only at issuance; " +
        "null if unknown",
    ),
  ),
};
