import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { refuse, type Read } from "#shared/schema/problem.ts";

/** A condition on the answer of a DNS look-up. */
export interface DnsCondition {
  readonly type: string;
  readonly op: "any" | "equals" | "contains" | "not_contains";
  readonly values: readonly string[];
  readonly dnssec: "ignore" | "not_bogus" | "secure";
}

/** The data of a record type, in the notation of zone files. */
interface Form {
  /** A test for each part. The last part is the rest of the text, its words joined by single spaces. */
  readonly parts: readonly ((text: string) => boolean)[];
  /** What a value must be, with an example. */
  readonly allowed: string;
}

const MAX_U8 = 0xff;
const MAX_U16 = 0xffff;
const MAX_U32 = 0xffff_ffff;
/** Maximum length of a name without its final dot, in characters (255 octets on the wire). */
const MAX_NAME = 253;

const upTo = (maximum: number) => (text: string) => /^\d{1,10}$/.test(text) && Number(text) <= maximum;
const isName = (text: string): boolean => text === "." || isHost(text);
const isHex = (text: string): boolean => /^[0-9a-f ]+$/i.test(text) && text.replaceAll(" ", "").length % 2 === 0;
const isTag = (text: string): boolean => /^[0-9a-z]{1,15}$/i.test(text);
/** One word, or text in quotes. A backslash begins an escape there, which no property of CAA needs. */
const isCaaValue = (text: string): boolean => /^(?:"[!#-[\]-~ ]*"|[!#-[\]-~]+)$/.test(text);

const [u8, u16, u32] = [upTo(MAX_U8), upTo(MAX_U16), upTo(MAX_U32)];
const NAME: Form = { parts: [isName], allowed: "must be a name, such as www.example.com" };

/** By type. TXT has no form: its values are any text. */
const FORMS: Readonly<Record<string, Form | undefined>> = {
  A: { parts: [isIPv4], allowed: "must be an IPv4 address, such as 192.0.2.1" },
  AAAA: {
    parts: [(text) => isIPv6(text) && !text.includes("%")],
    allowed: "must be an IPv6 address, such as 2001:db8::1",
  },
  CNAME: NAME,
  NS: NAME,
  PTR: NAME,
  MX: {
    parts: [u16, isName],
    allowed: `must be a preference (0 to ${MAX_U16}) and a name, such as 10 mail.example.com`,
  },
  SRV: {
    parts: [u16, u16, u16, isName],
    allowed: `must be priority, weight and port (each 0 to ${MAX_U16}) and a name, such as 10 60 5060 sip.example.com`,
  },
  CAA: {
    parts: [u8, isTag, isCaaValue],
    allowed: `must be flags (0 to ${MAX_U8}), tag and value, such as 0 issue "letsencrypt.org"`,
  },
  SOA: {
    parts: [isName, isName, u32, u32, u32, u32, u32],
    allowed:
      "must be primary name server, mailbox, serial, refresh, retry, expire and minimum, such as " +
      "ns1.example.com hostmaster.example.com 2026030401 7200 3600 1209600 300",
  },
  DS: {
    parts: [u16, u8, u8, isHex],
    allowed: "must be key tag, algorithm, digest type and digest (hexadecimal), such as 2371 13 2 1F987CC6583E92DF",
  },
  TLSA: {
    parts: [u8, u8, u8, isHex],
    allowed: "must be usage, selector, matching type and data (hexadecimal), such as 3 1 1 0B9FA5A59EED715C",
  },
};

/**
 * Checks that each value of a condition can be data of its type, because a value that no record can have is never
 * found: with not_contains, the monitor would be up for ever.
 */
export function readDnsValues(condition: DnsCondition): Read<DnsCondition> {
  const { type, op, values } = condition;
  const form = FORMS[type];
  // With op any, a value is refused whatever it is.
  if (form === undefined || op === "any") return { ok: true, value: condition };
  const wrong = values.findIndex((value) => !hasForm(form, value));
  if (wrong === -1) return { ok: true, value: condition };
  return refuse(`dns.values.${wrong}`, "type", `${form.allowed}, for type ${type}`);
}

function hasForm({ parts }: Form, value: string): boolean {
  const words = value.trim().split(/\s+/);
  const last = parts.length - 1;
  const given = [...words.slice(0, last), words.slice(last).join(" ")];
  return parts.every((isPart, index) => isPart(given[index] ?? ""));
}

/** Reports whether a text is a name that a record can lead to, with or without the final dot. */
function isHost(text: string): boolean {
  const ascii = /[\u0080-\uffff]/.test(text) ? domainToASCII(text) : text;
  // A mailbox (SOA) can have a dot within its first label, which is escaped.
  const bare = ascii.replace(/\.$/, "").replaceAll("\\.", "_");
  const labels = bare.split(".");
  // No top-level domain is a number, so the name would be an address.
  return bare.length <= MAX_NAME && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? "");
}

/** Labels with a slash are those of RFC 2317, such as 0/25 in 0/25.2.0.192.in-addr.arpa. */
function isLabel(text: string): boolean {
  return /^(?:[\w*-]{1,63}|\d{1,3}\/\d{1,3})$/.test(text);
}
