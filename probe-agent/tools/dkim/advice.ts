import type { DkimKey, KeyFindingId } from "#probe-agent/tools/dkim/key.ts";
import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import { publishTxt } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of findings on the records of a selector. */
export type DkimFindingId =
  | KeyFindingId
  | "record-missing"
  | "alias-dangling"
  | "not-a-key-record"
  | "several-key-records"
  | "other-records-beside"
  | "selector-holds-domainkey"
  | "wildcard-record";

/** Facts that the advice uses: the name of the record, and the parsed record. */
interface DkimContext {
  /** Name of the TXT record, <selector>._domainkey.<domain>. */
  readonly name: string;
  /** null if there is no record to parse. */
  readonly key: DkimKey | null;
}

const RFC_6376 = "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.1";
const RFC_6376_DNS = "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2";
const RFC_8301 = "https://www.rfc-editor.org/rfc/rfc8301#section-3.2";
const RFC_8463 = "https://www.rfc-editor.org/rfc/rfc8463#section-4.2";
/** Command that prints the value of p for a private key file, on one line. */
const EXPORT = "openssl pkey -in dkim-private.pem -pubout -outform DER | openssl base64 -A";
/** Maximum number of characters of a key that the advice repeats. An RSA key of 4096 bits has 736. */
const MAX_KEY = 750;
const PLACEHOLDER = "<base64 of the public key>";

/** Severity and advice for each kind. A key that no verifier can use invalidates every signature made with it. */
export const DKIM_ADVICE: AdviceTable<DkimFindingId, DkimContext> = {
  "version-unknown": adviseRepair("critical", RFC_6376),
  "version-not-first": adviseRepair("critical", RFC_6376),
  "tag-repeated": adviseRepair("critical", "https://www.rfc-editor.org/rfc/rfc6376#section-3.2"),
  "tag-malformed": adviseRepair("critical", "https://www.rfc-editor.org/rfc/rfc6376#section-3.2"),
  "sha256-not-allowed": adviseRepair("critical", "https://www.rfc-editor.org/rfc/rfc8301#section-3.1"),
  "not-for-mail": adviseRepair("critical", RFC_6376),
  "key-missing": advisePublishing("critical", RFC_6376),
  "key-revoked": {
    severity: "info",
    how: ({ name }) =>
      `No change is needed if no server signs with this selector. Otherwise publish its key at ${name}: "v=DKIM1; k=rsa; p=${PLACEHOLDER}", with p from: ${EXPORT}`,
    reference: RFC_6376,
  },
  "key-type-unknown": advisePublishing("critical", "https://www.rfc-editor.org/rfc/rfc8463#section-3"),
  "key-type-mismatch": advisePublishing("critical", RFC_8463),
  "key-not-base64": advisePublishing("critical", RFC_6376),
  "key-cut-short": {
    severity: "critical",
    how: ({ name }) =>
      `Publish the whole key at ${name}: "v=DKIM1; k=rsa; p=${PLACEHOLDER}", with p from: ${EXPORT}. ` +
      "Split the text into strings of at most 255 characters within the one record; verifiers join them.",
    reference: RFC_6376_DNS,
  },
  "key-unreadable": advisePublishing("critical", RFC_6376),
  "key-too-short": adviseLongerKey("critical"),
  "key-weak": adviseLongerKey("warning"),
  "key-pkcs1": advisePublishing("warning", RFC_6376),
  "sha1-allowed": adviseRepair("info", "https://www.rfc-editor.org/rfc/rfc8301#section-3.1"),
  "testing-mode": adviseRepair("warning", RFC_6376),
  "tag-obsolete": adviseRepair("info", RFC_6376),
  "tag-unknown": adviseRepair("info", RFC_6376),
  "record-missing": advisePublishing("critical", "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.1"),
  "alias-dangling": {
    severity: "warning",
    how: ({ name }) =>
      `Enable DKIM at the mail service that ${name} points to, so that the service publishes the key, or remove the CNAME record at ${name}.`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.1",
  },
  "not-a-key-record": advisePublishing("critical", RFC_6376),
  "several-key-records": {
    severity: "critical",
    how: ({ name, key }) =>
      `Remove all but one key record at ${name}${key?.p ? `, e.g. keep "${repairRecord(key)}"` : ""}. Publish a second key under a different selector.`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.2",
  },
  "other-records-beside": {
    severity: "info",
    how: ({ name }) => `Remove the TXT records at ${name} that are not DKIM keys.`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.2.2",
  },
  "selector-holds-domainkey": {
    severity: "info",
    how: ({ name }) => `Enter only the selector: "${name.split("._domainkey")[0] ?? ""}".`,
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-3.1",
  },
  "wildcard-record": {
    severity: "info",
    how: "No change is needed if the domain revokes every other selector this way (an empty p). Otherwise remove the wildcard record *._domainkey and publish a record for each selector.",
    reference: "https://www.rfc-editor.org/rfc/rfc6376#section-6.1.2",
  },
};

/** Returns a correct record made from the readable parts of a faulty record. */
function repairRecord({ k, s, t, p }: DkimKey): string {
  const services = s.includes("*") || !s.includes("email") ? "" : `s=${s.join(":")}; `;
  const flags = t.filter((flag) => flag !== "y");
  const type = k === "ed25519" ? "ed25519" : "rsa";
  return `v=DKIM1; k=${type}; ${services}${flags.length === 0 ? "" : `t=${flags.join(":")}; `}p=${p === null || p.length > MAX_KEY ? PLACEHOLDER : p}`;
}

/** Returns advice for a record whose tags are wrong and whose key can remain. */
function adviseRepair(severity: "critical" | "warning" | "info", reference: string) {
  return {
    severity,
    how: ({ name, key }: DkimContext) =>
      publishTxt(name, key === null ? `v=DKIM1; k=rsa; p=${PLACEHOLDER}` : repairRecord(key)),
    reference,
  };
}

/** Returns advice for a record whose key must be published again. */
function advisePublishing(severity: "critical" | "warning", reference: string) {
  return {
    severity,
    how: ({ name }: DkimContext) => `${publishTxt(name, `v=DKIM1; k=rsa; p=${PLACEHOLDER}`)}, with p from: ${EXPORT}`,
    reference,
  };
}

/** Advises a longer key under a new selector, because messages in transit still need the old key. */
function adviseLongerKey(severity: "critical" | "warning") {
  return {
    severity,
    how: ({ name }: DkimContext) =>
      `Make an RSA key of 2048 bits (openssl genrsa -out dkim-private.pem 2048) and publish it under a new selector: "v=DKIM1; k=rsa; p=${PLACEHOLDER}", with p from: ${EXPORT}. Sign with it, then revoke ${name}.`,
    reference: RFC_8301,
  };
}
