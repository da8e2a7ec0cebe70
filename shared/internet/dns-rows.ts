import { Type } from "typebox";

function text(description: string) {
  return Type.String({ description });
}

function seconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description}, seconds` });
}

const SOA_FIELDS = {
  mname: text("SOA: primary name server"),
  rname: text("SOA: mailbox of the responsible person, with a dot for @"),
  serial: Type.Integer({ minimum: 0, description: "SOA: version of the zone" }),
  refresh: seconds("SOA: how often secondaries ask for changes"),
  retry: seconds("SOA: how soon they ask again after a failure"),
  expire: seconds("SOA: how long they serve the zone without contact"),
  minimum: seconds("SOA: how long the absence of a record may be cached"),
};

const COMMON = {
  name: text("Owner name, without final dot"),
  ttl: seconds("How long the record may be cached, as reported by the resolver"),
  type: text("Record type"),
  data: text("Record data in zone-file form: names end in a dot, text is quoted, \\DDD is an octet in decimal"),
};

/** One record: common fields and the fields of its type; names have no final dot. */
export const DnsRow = Type.Object({
  ...COMMON,
  address: Type.Optional(text("A, AAAA: IP address")),
  nsdname: Type.Optional(text("NS: name server")),
  cname: Type.Optional(text("CNAME: target of the alias")),
  preference: Type.Optional(Type.Integer({ minimum: 0, description: "MX: lower is tried first" })),
  exchange: Type.Optional(text("MX: mail server; . accepts no mail (RFC 7505)")),
  strings: Type.Optional(
    Type.Array(Type.String(), { description: "TXT: strings as sent, one character per octet (Latin-1)" }),
  ),
  text: Type.Optional(text("TXT: strings joined, decoded as UTF-8 if valid")),
  mname: Type.Optional(SOA_FIELDS.mname),
  rname: Type.Optional(SOA_FIELDS.rname),
  serial: Type.Optional(SOA_FIELDS.serial),
  refresh: Type.Optional(SOA_FIELDS.refresh),
  retry: Type.Optional(SOA_FIELDS.retry),
  expire: Type.Optional(SOA_FIELDS.expire),
  minimum: Type.Optional(SOA_FIELDS.minimum),
});

/** The SOA record of a negative answer. */
export const SoaRow = Type.Object(
  { ...COMMON, ...SOA_FIELDS },
  { description: "SOA record of the zone in a negative answer; null if it was not sent" },
);

/** Header flags of an answer. */
export const DnsFlags = Type.Object(
  {
    aa: Type.Boolean({ description: "Authoritative answer" }),
    tc: Type.Boolean({ description: "Truncated; true only if the server did not answer over TCP" }),
    rd: Type.Boolean({ description: "Recursion was desired" }),
    ra: Type.Boolean({ description: "The server offers recursion" }),
    ad: Type.Boolean({ description: "The resolver has validated the data (DNSSEC)" }),
    cd: Type.Boolean({ description: "Checking was disabled" }),
  },
  { description: "Header flags of the answer; on TIMEOUT only rd is true" },
);
