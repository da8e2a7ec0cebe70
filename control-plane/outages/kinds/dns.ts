import { Type } from "typebox";
import { DNS_OPS, DNS_TYPES, DNSSEC_RULES, monitorDns } from "#shared/monitor-checks/monitor-dns.ts";
import { type FieldProblem, refuse, type Read } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { DOMAIN_TARGET, OPTIONS, PROBE, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { asked } from "#control-plane/outages/kinds/form-field.ts";

/** A condition on the answer of a look-up; omitted parts have their defaults. */
const SCHEMA = Nullable(
  Type.Object(
    {
      type: Type.Optional(
        Type.Enum([...DNS_TYPES], { description: "Record type. Default: A", ...asked("Record", "what") }),
      ),
      op: Type.Optional(
        Type.Enum([...DNS_OPS], {
          description:
            "any: there is a record; equals: the records are exactly the values; contains: every value is among " +
            "them; not_contains: none is. For TXT, a value is among them if it is part of a record. Default: any",
          ...asked("The records", "expect"),
        }),
      ),
      values: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
          maxItems: 50,
          description:
            "Record data of the type as in zone files, such as 10 mail.example.com for MX; for TXT any text. Names " +
            "are compared without case and final dot, addresses in any spelling",
          ...asked("Values", "expect", { hint: "One a line, as in a zone file" }),
        }),
      ),
      dnssec: Type.Optional(
        Type.Enum([...DNSSEC_RULES], {
          description: "Condition on the DNSSEC validation. Default: not_bogus",
          ...asked("DNSSEC", "expect"),
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ type: "A", op: "equals", values: ["192.0.2.1"], dnssec: "not_bogus" }],
      description: "dns: what the answer must be. Default for this check type: at least one A record",
    },
  ),
);

const DEFAULTS: DnsCondition = { type: "A", op: "any", values: [], dnssec: "not_bogus" };

/** The records of a name. */
export const dns = {
  ...PROBED,
  label: "DNS",
  watches: "records of a name",
  target: { ...DOMAIN_TARGET, label: "Name" },
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    defaults: () => DEFAULTS,
    // A condition replaces the present one. Without one a look-up has nothing to compare: null restores the default.
    read: (given, _present, defaults) => readDnsValues({ ...defaults, ...(given as Partial<DnsCondition> | null) }),
  },
  findConflict: (_draft, condition) => (condition === null ? null : valuesConflict(condition)),
  evidence: { ...PROBED.evidence, isTraced: false },
  probe: {
    ...PROBE,
    contract: monitorDns,
    params: (url, _settings, condition) => ({ domain: url, ...(condition ?? DEFAULTS) }),
  },
} as const satisfies Kind<DnsCondition>;

function valuesConflict({ op, values }: DnsCondition): FieldProblem | null {
  if (op === "any" && values.length > 0) return problem("dns.values", "type", "must be left out if op is any");
  if (op !== "any" && values.length === 0) {
    return problem("dns.values", "required", `must have at least one value if op is ${op}`);
  }
  return null;
}

/** A condition on the answer of a DNS look-up. */
interface DnsCondition {
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
