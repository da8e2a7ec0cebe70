import { KEYS } from "#probe-agent/analysis/registry/whois/keys.ts";
import type { WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";
import { splitNote } from "#probe-agent/analysis/registry/whois/note.ts";

/** The registrar of a name. */
export interface WhoisRegistrar {
  readonly name: string | null;
  /** IANA's number of an ICANN-accredited registrar, in digits. */
  readonly iana_id: string | null;
  readonly abuse_email: string | null;
  readonly phone: string | null;
  readonly url: string | null;
}

const BLOCK = /^(?:registrar|current registr?ar)(?: information)?$/;

const LOCAL = /[^\s@<>,;:()]/;
const DOMAIN = /[^\s@<>,;()]/;
const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;

/** The parts of a registrar's name as printed. */
interface RegistrarName {
  /** The name alone. Null if only an identifier is printed. */
  readonly name: string | null;
  /** Number that the text labels as IANA's, in digits. Null if there is none. */
  readonly ianaId: string | null;
  /**
   * Bare number of up to four digits after the name. Some registries print IANA's number there. Null if there is none.
   */
  readonly behind: string | null;
  /** Telephone number in brackets after the name. Null if there is none. */
  readonly phone: string | null;
}

const MAX_NAME = 300;
const MAX_NOTES = 4;

/**
 * Identifiers: "(R123-LRMS)" and "R66-ASIA" of Afilias' registries, "(EX-123)", "(ua.example)", "(#1234)",
 * "[EXAMPLE-REG]".
 */
const IDENTIFIERS: readonly RegExp[] = [
  /^#?\d{1,9}$/,
  /^r-?\d{1,6}(?:-[a-z]{2,8})?$/i,
  /^[A-Z]{2,8}-\d{1,9}$/,
  /^(?:registrar |iana |pandi )?(?:id|no\.?|number|handle) ?[:=#]? ?[\w.-]{1,40}$/i,
  /^tag ?[:=] ?[\w-]{1,40}$/i,
  /^[a-z]{2}\.[a-z0-9-]{1,40}$/,
];
const IANA = /^iana(?: id| no\.?| number)? ?[:=#]? ?(\d{1,4})$/i;
const PHONE = /^\+\d[\d .-]{5,24}$/;
/** Identifiers without brackets, after a space. */
const TRAILING = /\s(?:r\d{1,6}-[a-z]{2,8}|#\d{2,9})$/i;

/** Reads the registrar. Returns null if the answer names none. */
export function readRegistrar(fields: WhoisFields): WhoisRegistrar | null {
  const said = registrarName(fields);
  const { name, ianaId, behind, phone } = parseRegistrarName(said ?? "");
  const registrar: WhoisRegistrar = {
    name,
    iana_id:
      numberOf(fields.first(["registrar iana id", "sponsoring registrar iana id", "iana id"])) ??
      ianaId ??
      (fields.hasIanaBehindName() ? behind : null),
    abuse_email: findEmail(
      fields.first(["registrar abuse contact email", "abuse contact email", "registrar abuse email"]) ??
        fields.first(["abuse email", "abuse mailbox"], BLOCK) ??
        line(fields, ["abuse contact"], (value) => findEmail(value) !== null) ??
        "",
    ),
    phone:
      fields.first(["registrar abuse contact phone", "registrar phone", "sponsoring registrar phone"]) ??
      fields.first(["abuse phone", "phone", "telephone"], BLOCK) ??
      line(fields, ["abuse contact"], (value) => /^\+?[\d\s().-]{6,30}$/.test(value)) ??
      phone,
    url: urlOf(
      fields.first([
        "registrar url",
        "registrar website",
        "sponsoring registrar url",
        "sponsoring registrar website",
        "referral url",
        "registration service url",
      ]) ??
        fields.first(["url", "web", "website", "www", "web site"], BLOCK) ??
        /\(\s*(https?:\/\/[^\s()]+)\s*\)/i.exec(said ?? "")?.[1] ??
        null,
    ),
  };
  return Object.values(registrar).every((value) => value === null) ? null : registrar;
}

/** Statements that there is no registrar: "No registrar listed.  This domain is directly registered with Nominet." */
const NONE = /^(?:no registrar\b|(?:none|n\/a|not applicable)\W*$)/i;

function registrarName(fields: WhoisFields): string | null {
  const said =
    fields.first(KEYS.registrarName) ??
    fields.first(KEYS.company, BLOCK) ??
    fields.first(["name"], BLOCK) ??
    fields.first(KEYS.registrar);
  return said === null || NONE.test(said) ? null : said;
}

function line(fields: WhoisFields, keys: readonly string[], fits: (value: string) => boolean): string | null {
  const lines = fields.of(keys).flatMap(({ values }) => values);
  return lines.find(fits) ?? null;
}

function numberOf(text: string | null): string | null {
  return text !== null && /^\d{1,7}$/.test(text) ? text : null;
}

function urlOf(text: string | null): string | null {
  const [, bare = null] = /^((?:https?:\/\/|www\.)[^\s<>"]{1,300})/i.exec(text ?? "") ?? [];
  return bare;
}

/**
 * Returns the first email address in a text, as printed, or null if there is none. Examines each character at most
 * twice.
 */
export function findEmail(text: string): string | null {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    let start = at;
    while (at - start < MAX_LOCAL && LOCAL.test(text.charAt(start - 1))) start -= 1;
    let end = at + 1;
    while (end - at <= MAX_DOMAIN && DOMAIN.test(text.charAt(end))) end += 1;
    if (start < at && end > at + 1) return text.slice(start, end);
  }
  return null;
}

/**
 * Splits a registrar's name into its parts. Identifiers, URLs and telephone numbers after the name do not belong to the
 * name.
 */
export function parseRegistrarName(text: string): RegistrarName {
  let bare = text.slice(0, MAX_NAME).trim();
  let ianaId: string | null = null;
  let behind: string | null = null;
  let phone: string | null = null;
  for (let count = 0; count < MAX_NOTES; count += 1) {
    const noted = splitNote(bare, "()") ?? splitNote(bare, "[]");
    const note = noted?.note.trim() ?? "";
    const iana = IANA.exec(note)?.[1] ?? null;
    const isUrl = /^https?:\/\//i.test(note);
    if (noted !== null && (iana !== null || isUrl || PHONE.test(note) || isIdentifier(note))) {
      ianaId ??= iana;
      if (/^\d{1,4}$/.test(note)) behind ??= note;
      if (PHONE.test(note)) phone ??= note;
      bare = noted.bare;
    } else bare = bare.replace(TRAILING, "");
  }
  // A number alone is the key of an entry elsewhere, not a name.
  const isKey = bare === "" || /^#?\d+$/.test(bare);
  return { name: isKey ? null : bare, ianaId, behind, phone };
}

function isIdentifier(note: string): boolean {
  return IDENTIFIERS.some((pattern) => pattern.test(note));
}
