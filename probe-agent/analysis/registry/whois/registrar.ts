import { findEmail } from "#probe-agent/analysis/registry/whois/email.ts";
import { parseRegistrarName } from "#probe-agent/analysis/registry/whois/registrar-name.ts";
import { KEYS } from "#probe-agent/analysis/registry/whois/keys.ts";
import type { WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";

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
