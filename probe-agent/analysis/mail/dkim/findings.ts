import type { DkimKey, KeyRemarkId } from "#probe-agent/analysis/mail/dkim-key.ts";
import { publishTxt, type Guide } from "#probe-agent/analysis/mail/remarks.ts";

/** Kinds of findings on what is published under a selector. */
export type DkimFindingId =
  | KeyRemarkId
  | "record-missing"
  | "alias-dangling"
  | "not-a-key-record"
  | "several-key-records"
  | "other-records-beside"
  | "selector-holds-domainkey"
  | "wildcard-record";

/** What the advice names: where the record is, and the record as far as it could be read. */
interface DkimContext {
  /** Name of the TXT record, <selector>._domainkey.<domain>. */
  readonly name: string;
  readonly key: DkimKey | null;
}

const RFC_6376 = "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.1";
const RFC_6376_DNS = "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2";
const RFC_8301 = "https://www.rfc-editor.org/rfc/rfc8301#section-3.2";
const RFC_8463 = "https://www.rfc-editor.org/rfc/rfc8463#section-4.2";
/** Makes p from a private key file, on one line. */
const EXPORT = "openssl pkey -in dkim-private.pem -pubout -outform DER | openssl base64 -A";
/** Characters of a key that advice repeats: RSA of 4096 bits has 736. */
const MAX_KEY = 750;
const PLACEHOLDER = "<base64 of the public key>";

/** Severity and advice of each kind. A key that no verifier can use costs every signature made with it. */
export const DKIM_GUIDE: Guide<DkimFindingId, DkimContext> = {
  "version-unknown": repaired("critical", RFC_6376),
  "version-not-first": repaired("critical", RFC_6376),
  "tag-repeated": repaired("critical", "https://www.rfc-editor.org/rfc/rfc6376#section-3.2"),
  "tag-malformed": repaired("critical", "https://www.rfc-editor.org/rfc/rfc6376#section-3.2"),
  "sha256-not-allowed": repaired("critical", "https://www.rfc-editor.org/rfc/rfc8301#section-3.1"),
  "not-for-mail": repaired("critical", RFC_6376),
  "key-missing": replaced("critical", RFC_6376),
  "key-revoked": {
    severity: "info",
    how: ({ name }) =>
      `Nothing, if no server signs with this selector any more. Otherwise publish its key at ${name}: "v=DKIM1; k=rsa; p=${PLACEHOLDER}", with p from: ${EXPORT}`,
    reference: RFC_6376,
  },
  "key-type-unknown": replaced("critical", "https://www.rfc-editor.org/rfc/rfc8463#section-3"),
  "key-type-mismatch": replaced("critical", RFC_8463),
  "key-not-base64": replaced("critical", RFC_6376),
  "key-cut-short": {
    severity: "critical",
    how: ({ name }) =>
      `Publish the whole key at ${name}: "v=DKIM1; k=rsa; p=${PLACEHOLDER}", with p from: ${EXPORT}. ` +
      "Split the text into strings of at most 255 characters within the one record; verifiers join them.",
    reference: RFC_6376_DNS,
  },
  "key-unreadable": replaced("critical", RFC_6376),
  "key-too-short": renewed("critical"),
  "key-weak": renewed("warning"),
  "key-pkcs1": replaced("warning", RFC_6376),
  "sha1-allowed": repaired("info", "https://www.rfc-editor.org/rfc/rfc8301#section-3.1"),
  "testing-mode": repaired("warning", RFC_6376),
  "tag-obsolete": repaired("info", RFC_6376),
  "tag-unknown": repaired("info", RFC_6376),
  "record-missing": replaced("critical", "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.1"),
  "alias-dangling": {
    severity: "warning",
    how: ({ name }) =>
      `Switch DKIM on at the mail service that ${name} points to, so that it publishes the key; or remove the CNAME record at ${name}.`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.1",
  },
  "not-a-key-record": replaced("critical", RFC_6376),
  "several-key-records": {
    severity: "critical",
    how: ({ name, key }) =>
      `Remove all but one key record at ${name}${key?.p ? `, e.g. keep "${repair(key)}"` : ""}. Give a second key a selector of its own.`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.2",
  },
  "other-records-beside": {
    severity: "info",
    how: ({ name }) => `Remove the TXT records at ${name} that are not the key.`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.2",
  },
  "selector-holds-domainkey": {
    severity: "info",
    how: ({ name }) => `Ask for the selector alone: "${name.split("._domainkey")[0] ?? ""}".`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.1",
  },
  "wildcard-record": {
    severity: "info",
    how: "Nothing, if the domain revokes every other selector this way (an empty p). Otherwise remove the wildcard record *._domainkey and publish each selector by itself.",
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-6.1.2",
  },
};

/** The record with its readable parts as they should be. */
function repair({ k, s, t, p }: DkimKey): string {
  const services = s.includes("*") || !s.includes("email") ? "" : `s=${s.join(":")}; `;
  const flags = t.filter((flag) => flag !== "y");
  const type = k === "ed25519" ? "ed25519" : "rsa";
  return `v=DKIM1; k=${type}; ${services}${flags.length === 0 ? "" : `t=${flags.join(":")}; `}p=${p === null || p.length > MAX_KEY ? PLACEHOLDER : p}`;
}

/** The tags are wrong and the key may stay. */
function repaired(severity: "critical" | "warning" | "info", reference: string) {
  return {
    severity,
    how: ({ name, key }: DkimContext) =>
      publishTxt(name, key === null ? `v=DKIM1; k=rsa; p=${PLACEHOLDER}` : repair(key)),
    reference,
  };
}

/** The key has to be put there anew. */
function replaced(severity: "critical" | "warning", reference: string) {
  return {
    severity,
    how: ({ name }: DkimContext) => `${publishTxt(name, `v=DKIM1; k=rsa; p=${PLACEHOLDER}`)}, with p from: ${EXPORT}`,
    reference,
  };
}

/** A longer key, under a selector of its own: signatures on their way still need the old one. */
function renewed(severity: "critical" | "warning") {
  return {
    severity,
    how: ({ name }: DkimContext) =>
      `Make an RSA key of 2048 bits (openssl genrsa -out dkim-private.pem 2048) and publish it under a new selector: "v=DKIM1; k=rsa; p=${PLACEHOLDER}", with p from: ${EXPORT}. Sign with it, then revoke ${name}.`,
    reference: RFC_8301,
  };
}
