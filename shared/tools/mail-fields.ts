import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

/** A boolean, or null if the value is unknown. */
function perhaps(description: string) {
  return Nullable(truth(description));
}

const TLSA_FIELDS = {
  usage: integer("Certificate usage: 2 DANE-TA, 3 DANE-EE; 0 and 1 are unusable for mail (RFC 7672 section 3.1)"),
  selector: integer("0 certificate, 1 public key"),
  matching_type: integer("0 exact, 1 SHA-256, 2 SHA-512"),
  usable: truth("Whether a mail sender uses the record"),
};

const TLSA_RECORDS = "TLSA records at _<port>._tcp.<host>, the first 10";

const DANE_FIELDS = {
  status: word(
    ["secure", "insecure", "bogus", "absent", "unknown"],
    "secure: signed and validated; insecure: published without DNSSEC, so senders ignore it; bogus: validation failed; absent: no records; unknown: the lookup failed",
  ),
  records: list(Type.Object(TLSA_FIELDS), TLSA_RECORDS),
  reason: Nullable(text("Reason for the status; null if there is nothing to explain")),
};

const DANE =
  "DANE (RFC 7672): TLSA records at _<port>._tcp.<host>, port 25 for mail between servers. They count only if their DNSSEC signatures are valid";

/** TLSA records of one mail host with their status. */
const HostDane = record(DANE_FIELDS, DANE);

/** TLSA records of the tested server, compared with its certificate. */
export const ServerDane = record(
  {
    ...DANE_FIELDS,
    records: list(
      Type.Object({
        ...TLSA_FIELDS,
        matches: perhaps("Whether the server's chain matches the record; null if the server sent no certificate"),
      }),
      TLSA_RECORDS,
    ),
    valid: perhaps(
      "true: a sender that uses DANE delivers, as a usable record matches; false: no record matches, or validation " +
        "failed; null: no usable record, not signed, no certificate, or unknown",
    ),
  },
  DANE,
);

const MailAddress = Type.Object({
  ip: text("Address"),
  ptr: Nullable(
    text(
      "Reverse name (PTR), a confirmed one if there is one; null if there is none or the lookup failed or was skipped",
    ),
  ),
  has_ptr: perhaps(
    "Whether the address has a reverse name, without which many receivers refuse its mail; null if the lookup failed or was skipped",
  ),
  fcrdns: perhaps("Whether the reverse name resolves to the address; null without a name or an answer"),
  asn: Nullable(integer("Number of the autonomous system that announces the address; null if unknown")),
});

/** One mail host of a domain. */
const MailHost = Type.Object({
  priority: count("Preference, lowest first; 0 for the domain itself if it has no MX record"),
  host: text("Host name without final dot; . for the null MX"),
  ttl: Nullable(count("TTL of the MX record in seconds; null for the domain itself")),
  addresses: list(MailAddress, "Addresses, IPv4 first, the first 8"),
  is_cname: perhaps("Whether the host name is an alias, which RFC 5321 section 5.1 forbids; null if unknown"),
  dane: HostDane,
});

/** Result fields on the routing of mail to a domain. */
export const ROUTING_FIELDS = {
  status: text("Status of the MX lookup: NOERROR, NXDOMAIN, SERVFAIL, TIMEOUT, ..."),
  records: list(MailHost, "Mail hosts in the order of their priority, the first 20"),
  null_mx: perhaps("Whether the domain declares that it accepts no mail (null MX, RFC 7505)"),
  implicit_mx: perhaps("Whether mail goes to the domain's own addresses because there are no MX records (RFC 5321)"),
  provider: Nullable(text("Operator of the mail hosts, recognized by their names; null if unknown")),
  ipv6: perhaps("Whether a mail host has an IPv6 address"),
};

/** TXT record that announces MTA-STS (RFC 8461 section 3.1). */
export const MtaStsRecord = record(
  {
    record: Nullable(text("TXT record at _mta-sts; null if there is none or the lookup failed")),
    present: perhaps("Whether the domain announces a policy; null if the lookup failed"),
    id: Nullable(text("Identifier of the policy's version")),
  },
  "Announcement of MTA-STS in DNS",
);

/** TXT record that requests TLS reports (RFC 8460 section 3). */
export const TlsRpt = record(
  {
    record: Nullable(text("TXT record at _smtp._tls; null if there is none or the lookup failed")),
    valid: perhaps("Whether senders can use the record; null if the lookup failed"),
    rua: texts("Addresses that receive reports, mailto: or https:"),
  },
  "TLS reports (TLSRPT)",
);
