import type { WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";

/** A DS record as stored by the registry (RFC 4034 section 5). */
export interface DelegationSigner {
  readonly key_tag: number;
  readonly algorithm: number;
  readonly digest_type: number;
  /** Hexadecimal in upper case. */
  readonly digest: string;
}

/** DNSSEC data of a delegation. `signed` is null if the answer does not say. */
export interface WhoisSigning {
  readonly signed: boolean | null;
  readonly ds: readonly DelegationSigner[];
}

const SIGNED = /^(?:signed|yes|y|true|active|signeddelegation|signed ?delegation|on)\b/i;
const UNSIGNED = /^(?:unsigned|no|n|not signed|inactive|none|off|false)\b/i;
/** Fields that only a signed delegation has. */
const KEY_FIELDS = ["dnskey", "keyset", "signing key", "key1 tag", "ds key tag", "dsrecord", "署名鍵"];
const DS = /^(?:ds )?(\d{1,5})[\s,]+(\d{1,3})[\s,]+(\d{1,3})[\s,]+([0-9a-f][0-9a-f ]{31,199})$/i;
const MAX_RECORDS = 16;

/** Reads what an answer states about DNSSEC. */
export function readSigning(fields: WhoisFields): WhoisSigning {
  const lines = fields.of(["ds data", "dnssec ds data", "ds rdata", "ds", "ds record"]).flatMap(({ values }) => values);
  const ds = lines.flatMap((line) => readDs(line) ?? []).slice(0, MAX_RECORDS);
  const words = fields.own(["dnssec", "signed", "dnssec signed"]).flatMap(({ values }) => values.slice(0, 1));
  const said = words.some((word) => SIGNED.test(word))
    ? true
    : words.some((word) => UNSIGNED.test(word))
      ? false
      : null;
  const hasKeys = fields.of(KEY_FIELDS).some(({ values }) => values.length > 0) || fields.hasBlock("keys");
  return { signed: ds.length > 0 || hasKeys ? true : said, ds };
}

function readDs(line: string): DelegationSigner | null {
  const [, tag, algorithm, type, digest] = DS.exec(line) ?? [];
  if (digest === undefined) return null;
  return {
    key_tag: Number(tag),
    algorithm: Number(algorithm),
    digest_type: Number(type),
    digest: digest.replaceAll(" ", "").toUpperCase(),
  };
}
