import { formatIpv4 } from "#probe-agent/dns-codec/address.ts";
import { escapeWord, quoteWord } from "#probe-agent/dns-codec/rdata/tokens.ts";
import { typeCode } from "#shared/internet/dns-registry.ts";
import type { Edns } from "#probe-agent/dns-codec/edns.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

// IANA "DNS CLASSes". Others are CLASSn (RFC 3597 section 5).
const CLASSES: Readonly<Record<number, string>> = { 1: "IN", 2: "CS", 3: "CH", 4: "HS", 254: "NONE", 255: "ANY" };

/**
 * Writes a record as the exporter's DNS library (github.com/miekg/dns) does, because the expressions of its users were
 * written for that text: owner, TTL, class, type and RDATA separated by tabs. Returns null if the RDATA is not valid for
 * its type: that library rejects the message then.
 */
export function recordText(record: DnsRecord): string | null {
  const { type, ttl, raw, typed } = record;
  const format = FORMATS[type];
  const owner = `${name(record.name)}\t${ttl}`;
  if (format === undefined) return `${owner}\tCLASS${record.class}\tTYPE${typeCode(type) ?? 0}\t${opaque(raw)}`;
  const head = `${owner}\t${CLASSES[record.class] ?? `CLASS${record.class}`}\t${type}\t`;
  // Records without RDATA exist in updates (RFC 2136 section 2.4); that library reads them everywhere.
  if (raw.length === 0) return head;
  if (Object.keys(typed).length === 0) return null;
  const data = format(record);
  return data === null ? null : head + data;
}

/** Writes an OPT record as the exporter's DNS library does. Its options are left out. */
export function optText({ version, udpSize, dnssecOk }: Edns): string {
  return `\n;; OPT PSEUDOSECTION:\n; EDNS: version ${version}; flags: ${dnssecOk ? "do" : ""}; udp: ${udpSize}`;
}

/** Returns the text of RDATA, null if it is not valid. */
type Format = (record: DnsRecord) => string | null;

function opaque(raw: Uint8Array): string {
  return `\\# ${raw.length} ${hex(raw)}`;
}

function hex(octets: Uint8Array): string {
  return Buffer.from(octets).toString("hex");
}

/** Writes a domain name with its final dot. */
function name(text: string): string {
  return text === "." ? text : `${reescape(text)}.`;
}

/** Changes the escapes of names: that library escapes an apostrophe and no dollar sign, and a space by itself. */
function reescape(text: string): string {
  if (!/['\\]/.test(text)) return text;
  return text.replaceAll(/\\(\d{3}|.)|'/gs, (whole, escaped: string | undefined) => {
    if (escaped === undefined) return "\\'";
    if (escaped === "032") return "\\ ";
    return escaped === "$" ? "$" : whole;
  });
}

function field({ typed }: DnsRecord, key: string): string {
  return String(typed[key]);
}

const asIs: Format = ({ data }) => data;
const namesIn: Format = ({ data }) => reescape(data);

/** Writes RDATA whose last field can be empty: the space before it stays. `fields` is the number of fields. */
function padded(fields: number, change = (data: string): string => data): Format {
  return ({ data }) => change(data.split(" ").length < fields ? `${data} ` : data);
}

const lower = (text: string): string => text.toLowerCase();

/**
 * Writes a text without length octets. That library takes backslashes of such a text for escapes and removes them,
 * except before a dot.
 */
function octetText(text: string): string {
  let plain = "";
  for (let position = 0; position < text.length; position += 1) {
    const character = text.charAt(position);
    const next = text.charAt(position + 1);
    const digits = character === "\\" ? /^\d{3}/.exec(text.slice(position + 1, position + 4))?.[0] : undefined;
    if (character !== "\\") plain += escapeWord(character);
    else if (next === ".") plain += "\\.";
    else if (digits !== undefined) plain += escapeWord(String.fromCharCode(Number(digits) & 0xff));
    else plain += escapeWord(next);
    if (character === "\\") position += digits === undefined ? 1 : 3;
  }
  return `"${plain}"`;
}

const FORMATS: Readonly<Record<string, Format>> = {
  A: asIs,
  // Go prints an IPv4-mapped address as a dotted quad (net.IP.String).
  AAAA: ({ data, raw }) => (data.startsWith("::ffff:") && data.includes(".") ? formatIpv4(raw.subarray(12)) : data),
  NS: namesIn,
  CNAME: namesIn,
  DNAME: namesIn,
  PTR: namesIn,
  SOA: namesIn,
  MX: namesIn,
  RP: namesIn,
  AFSDB: namesIn,
  KX: namesIn,
  MB: namesIn,
  MD: namesIn,
  MF: namesIn,
  MG: namesIn,
  MINFO: namesIn,
  MR: namesIn,
  PX: namesIn,
  RT: namesIn,
  SRV: namesIn,
  TXT: asIs,
  SPF: asIs,
  HINFO: asIs,
  NAPTR(record) {
    const texts = ["flags", "services", "regexp"].map((key) => quoteWord(field(record, key)));
    return [field(record, "order"), field(record, "preference"), ...texts, name(field(record, "replacement"))].join(
      " ",
    );
  },
  DS: padded(4),
  CDS: padded(4),
  DNSKEY: padded(4),
  CDNSKEY: padded(4),
  RRSIG: (record) => padded(9)({ ...record, data: reescape(record.data) }),
  NSEC: namesIn,
  NSEC3: asIs,
  NSEC3PARAM: asIs,
  CSYNC: asIs,
  ZONEMD: padded(4, lower),
  SSHFP: padded(3),
  TLSA: padded(4, lower),
  SMIMEA: padded(4, lower),
  OPENPGPKEY: asIs,
  SVCB: serviceText,
  HTTPS: serviceText,
  URI: (record) => [field(record, "priority"), field(record, "weight"), octetText(field(record, "target"))].join(" "),
  CAA: (record) =>
    [field(record, "flags"), escapeWord(field(record, "tag")), octetText(field(record, "value"))].join(" "),
};

/** Writes SVCB and HTTPS (RFC 9460): each parameter as a quoted text, also if it has no value. */
function serviceText(record: DnsRecord): string {
  const params = Object.entries(record.typed["params"] as Readonly<Record<string, unknown>>);
  const words = params.map(([key, value]) => `${key}="${parameterText(key, value)}"`);
  return [field(record, "priority"), name(field(record, "target")), ...words].join(" ");
}

function parameterText(key: string, value: unknown): string {
  if (value === true) return "";
  if (key === "alpn") return (value as readonly string[]).map((id) => escapeParameter(id, /[\\,]/)).join(",");
  if (Array.isArray(value)) return value.join(",");
  if (key === "ech" || key === "port") return String(value);
  return escapeParameter(String(value), null);
}

// Characters that end a value in a master file, and those that have a meaning within one.
const PARAMETER_SPECIAL = /["();\\ ]/;

/** Escapes an octet string. Backslashes and commas of a list's items are escaped twice, the second time as numbers. */
function escapeParameter(text: string, twice: RegExp | null): string {
  let escaped = "";
  for (const character of text) {
    const octet = character.charCodeAt(0);
    if (octet < 0x20 || octet > 0x7e) escaped += `\\${String(octet).padStart(3, "0")}`;
    else if (twice?.test(character) === true) escaped += character === "\\" ? "\\\\\\092" : "\\\\\\044";
    else escaped += PARAMETER_SPECIAL.test(character) ? `\\${character}` : character;
  }
  return escaped;
}
