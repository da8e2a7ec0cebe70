import { verifyChain } from "#probe-agent/analysis/certificate.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { satisfiesTlsa, type Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import { MAX_TLSA, tlsaRow } from "#probe-agent/analysis/mail/domain/tlsa.ts";
import type { TlsTrust } from "#probe-agent/analysis/mail/smtp/tls.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";

/** DANE of the server tested. */
type ServerDane = NonNullable<ResultOf<typeof smtpTest>["dane"]>;

/** TLSA records of the port, and what their signatures are worth. */
export interface TlsaSeen {
  readonly status: ServerDane["status"];
  readonly reason: string | null;
  readonly records: readonly Tlsa[];
}

/** What the records are held against. */
interface DaneTerms extends TlsTrust {
  /** DER certificates as the server sent them; empty where none came. */
  readonly sent: readonly Uint8Array[];
  /** The mail domain that led to the host; a DANE-TA certificate may be for it (RFC 7672 section 3.2.2). */
  readonly target: string;
}

/** Certificates of a chain that are looked at; servers send fewer than ten. */
const MAX_CERTIFICATES = 20;

/** Holds the server's chain against the records of its port, as a sender that knows DANE does (RFC 7672 section 2.2). */
export function describeDane({ status, reason, records }: TlsaSeen, terms: DaneTerms): ServerDane {
  const isMet = matcher(terms);
  const rows = records.slice(0, MAX_TLSA).map((record) => ({ ...tlsaRow(record), matches: isMet?.(record) ?? null }));
  const usable = rows.filter((row) => row.usable);
  const holds =
    status === "secure" && isMet !== null && usable.length > 0 ? usable.some(({ matches }) => matches === true) : null;
  return { status, reason, records: rows, valid: status === "bogus" ? false : holds };
}

/** Null where the server showed no certificate. */
function matcher({ sent, host, target, roots, now }: DaneTerms): ((record: Tlsa) => boolean) | null {
  const [first, ...rest] = sent.slice(0, MAX_CERTIFICATES);
  const leaf = first === undefined ? null : parseCertificate(first);
  if (leaf === null) return null;
  const others = distinct(rest);
  const intermediates = others.map(({ der }) => der);
  const names = [...new Set([host, target])].map((name) => ({
    host: name,
    verification: verifyChain({ leaf: leaf.der, intermediates, roots, host: name, now }),
  }));
  return (record) => names.some((name) => satisfiesTlsa(record, { leaf, others, now, ...name }));
}

function distinct(ders: readonly Uint8Array[]): Certificate[] {
  const once = new Map(ders.map((der) => [Buffer.from(der).toString("base64"), der]));
  return [...once.values()].flatMap((der) => parseCertificate(der) ?? []);
}
