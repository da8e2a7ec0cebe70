import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { satisfiesTlsa, type Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import { MAX_TLSA, tlsaRow } from "#probe-agent/analysis/mail/domain/tlsa.ts";
import type { TlsTrust } from "#probe-agent/analysis/mail/smtp/tls.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";

/** DANE of the tested server in a result. */
type ServerDane = NonNullable<ResultOf<typeof smtpTest>["dane"]>;

/** TLSA records of the server's port with the status of their DNSSEC signatures. */
export interface PublishedTlsa {
  readonly status: ServerDane["status"];
  readonly reason: string | null;
  readonly records: readonly Tlsa[];
}

/** Chain and names that the TLSA records are compared with. */
interface DaneTerms extends TlsTrust {
  /** DER certificates in the order the server sent them; empty if it sent none. */
  readonly sent: readonly Uint8Array[];
  /** Mail domain whose MX names the host. A DANE-TA certificate can be for this name (RFC 7672 section 3.2.2). */
  readonly target: string;
}

/** Maximum number of certificates of a chain that are read. Servers send fewer than ten. */
const MAX_CERTIFICATES = 20;

/**
 * Compares the server's chain with the TLSA records of its port, as a sender that uses DANE does (RFC 7672 section
 * 2.2).
 */
export function describeDane({ status, reason, records }: PublishedTlsa, terms: DaneTerms): ServerDane {
  const isMet = createMatcher(terms);
  const rows = records.slice(0, MAX_TLSA).map((record) => ({ ...tlsaRow(record), matches: isMet?.(record) ?? null }));
  const usable = rows.filter((row) => row.usable);
  const holds =
    status === "secure" && isMet !== null && usable.length > 0 ? usable.some(({ matches }) => matches === true) : null;
  return { status, reason, records: rows, valid: status === "bogus" ? false : holds };
}

/** Returns a function that compares a TLSA record with the chain; null if the server sent no certificate. */
function createMatcher({ sent, host, target, roots, now }: DaneTerms): ((record: Tlsa) => boolean) | null {
  const [first, ...rest] = sent.slice(0, MAX_CERTIFICATES);
  const leaf = first === undefined ? null : parseCertificate(first);
  if (leaf === null) return null;
  const others = parseDistinct(rest);
  const intermediates = others.map(({ der }) => der);
  const names = [...new Set([host, target])].map((name) => ({
    host: name,
    verification: verifyChain({ leaf: leaf.der, intermediates, roots, host: name, now }),
  }));
  return (record) => names.some((name) => satisfiesTlsa(record, { leaf, others, now, ...name }));
}

function parseDistinct(ders: readonly Uint8Array[]): Certificate[] {
  const once = new Map(ders.map((der) => [Buffer.from(der).toString("base64"), der]));
  return [...once.values()].flatMap((der) => parseCertificate(der) ?? []);
}
