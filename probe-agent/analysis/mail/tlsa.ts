import { isUsableTlsa, type Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx/contract.ts";

/** A TLSA record in the results of mail tools. */
type TlsaRow = ResultOf<typeof mx>["records"][number]["dane"]["records"][number];

/** Maximum number of TLSA records in a result. */
export const MAX_TLSA = 10;

/**
 * Makes the row of a TLSA record. Only the usages 2 (DANE-TA) and 3 (DANE-EE) are usable: mail has no public CAs to
 * rely on (RFC 7672 section 3.1), and RFC 6698 defines no usage above 3.
 */
export function tlsaRow(record: Tlsa): TlsaRow {
  const { usage, selector, matchingType } = record;
  return { usage, selector, matching_type: matchingType, usable: usage >= 2 && isUsableTlsa(record) };
}
