import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, truth, word } from "#shared/tools/shapes.ts";

const Tlsa = Type.Object({
  usage: integer("Certificate usage: 0 PKIX-TA, 1 PKIX-EE, 2 DANE-TA, 3 DANE-EE; -1: unreadable"),
  selector: integer("0 certificate, 1 public key; -1: unreadable"),
  matching_type: integer("0 exact, 1 SHA-256, 2 SHA-512; -1: unreadable"),
  data: text("Certificate association data, hexadecimal; long ones are cut"),
  usable: truth("All fields have values that RFC 6698 knows; clients pass over others"),
  matches: truth("The server's chain is what the record asks for"),
});

const Dane = record(
  {
    tlsa: list(Tlsa, "TLSA records at _<port>._tcp.<host>, the first 20"),
    tlsa_total: count("How many there are"),
    valid: Nullable(
      truth(
        "A client that knows DANE would go on: a usable record matches; false: none does, or the records fail " +
          "validation; null: no usable record, not signed, or not known",
      ),
    ),
    dnssec: Nullable(
      word(
        ["secure", "insecure", "bogus"],
        "What the signatures are worth, validated here: secure; insecure: not signed, counts for nothing; bogus: fails; " +
          "null: no record, or not known",
      ),
    ),
    reason: Nullable(text("What led to that; null where there is nothing to say")),
  },
  "DANE (RFC 6698, RFC 7671) of the port; null for an address",
);

const Caa = Type.Object({
  name: text("Name that has the record: the host or the nearest one above it"),
  critical: truth("An authority that does not know the tag must not issue"),
  tag: text("issue, issuewild, iodef, ..."),
  value: text("Value as published: an authority's domain and its parameters, or where to report"),
});

/** What the DNS says of who may certify the host, and with what. */
export const NAMES = {
  dane: Nullable(Dane),
  caa: Nullable(
    list(
      Caa,
      "CAA records that hold for the certificate's name, by tree climbing (RFC 8659), the first 50; empty: any authority " +
        "may issue; null: an address, or not known",
    ),
  ),
  caa_allows_issuer: Nullable(
    truth(
      "The certificate's authority may issue the next one by these records, which bind at issuance only; null: cannot be told",
    ),
  ),
};
