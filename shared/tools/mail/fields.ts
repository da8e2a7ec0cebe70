import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

/** A yes or no that may not be known. */
function perhaps(description: string) {
  return Nullable(truth(description));
}

const TLSA_FIELDS = {
  usage: integer("Certificate usage: 2 DANE-TA, 3 DANE-EE; 0 and 1 are unusable for mail (RFC 7672 section 3.1)"),
  selector: integer("0 certificate, 1 public key"),
  matching_type: integer("0 exact, 1 SHA-256, 2 SHA-512"),
  usable: truth("Whether a mail client acts by it"),
};

const TLSA_RECORDS = "TLSA records at _<port>._tcp.<host>, the first 10";

const DANE_FIELDS = {
  status: word(
    ["secure", "insecure", "bogus", "absent", "unknown"],
    "secure: signed and validated here; insecure: published without DNSSEC, counts for nothing; bogus: fails validation; absent: none; unknown: could not be told",
  ),
  records: list(Type.Object(TLSA_FIELDS), TLSA_RECORDS),
  reason: Nullable(text("What led to the status; null where there is nothing to say")),
};

const DANE =
  "DANE (RFC 7672): TLSA records at _<port>._tcp.<host>, port 25 for mail between servers; they count only where their DNSSEC signatures hold";

/** TLSA records of one mail host and what they are worth. */
const HostDane = record(DANE_FIELDS, DANE);

/** The same beside the certificate that the host showed. */
export const ServerDane = record(
  {
    ...DANE_FIELDS,
    records: list(
      Type.Object({
        ...TLSA_FIELDS,
        matches: perhaps("Whether the server's chain is what the record asks for; null where no certificate came"),
      }),
      TLSA_RECORDS,
    ),
    valid: perhaps(
      "Whether a sender that knows DANE would deliver: a usable record matches; false: none does, or the records fail " +
        "validation; null: no usable record, not signed, no certificate, or not known",
    ),
  },
  DANE,
);

const MailAddress = Type.Object({
  ip: text("Address"),
  ptr: Nullable(
    text("PTR name, a confirmed one if any is; null where there is none, nobody answered or it was not asked"),
  ),
  has_ptr: perhaps(
    "Whether the address has a reverse name, without which many receivers refuse its mail; null where nobody answered or it was not asked",
  ),
  fcrdns: perhaps("Whether that name leads back to the address; null without a name or an answer"),
  asn: Nullable(integer("Number of the autonomous system that announces the address; null where not known")),
});

/** One mail host of a domain. */
const MailHost = Type.Object({
  priority: count("Preference, the lowest first; 0 for the domain itself where it has no MX record"),
  host: text("Host name without final dot; . for the null MX"),
  ttl: Nullable(count("Time the MX record may be kept, seconds; null for the domain itself")),
  addresses: list(MailAddress, "Addresses, IPv4 first, the first 8"),
  is_cname: perhaps("Whether the host name is an alias, which RFC 5321 section 5.1 forbids; null where not known"),
  dane: HostDane,
});

/** What is known of how mail to a domain is routed. */
export const ROUTING_FIELDS = {
  status: text("What the DNS says to the question for MX: NOERROR, NXDOMAIN, SERVFAIL, TIMEOUT, ..."),
  records: list(MailHost, "Mail hosts in the order of their priority, the first 20"),
  null_mx: perhaps("Whether the domain takes no mail at all and says so (RFC 7505)"),
  implicit_mx: perhaps("Whether mail goes to the domain's own addresses, for want of MX records (RFC 5321)"),
  provider: Nullable(text("Who runs the mail hosts, by their names; null where that is not known")),
  ipv6: perhaps("Whether a mail host has an IPv6 address"),
};

/** TXT record that announces MTA-STS (RFC 8461 section 3.1). */
export const MtaStsRecord = record(
  {
    record: Nullable(text("TXT record at _mta-sts; null where there is none or it could not be looked up")),
    present: perhaps("Whether the domain announces a policy; null where that could not be looked up"),
    id: Nullable(text("Identifier of the policy's version")),
  },
  "MTA-STS as DNS announces it",
);

/** TXT record that asks for reports on TLS (RFC 8460 section 3). */
export const TlsRpt = record(
  {
    record: Nullable(text("TXT record at _smtp._tls; null where there is none or it could not be looked up")),
    valid: perhaps("Whether senders can act by it; null where it could not be looked up"),
    rua: texts("Where reports go: mailto: or https: addresses"),
  },
  "Reports on TLS (TLSRPT)",
);
