import { isUsableTlsa, type Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx.ts";

/** A TLSA record as results on mail hosts list it. */
type TlsaRow = ResultOf<typeof mx>["records"][number]["dane"]["records"][number];

/** TLSA records listed. */
export const MAX_TLSA = 10;

/** RFC 7672 section 3.1: without public CAs only DANE-TA and DANE-EE are of use; RFC 6698 knows no other values. */
export function tlsaRow(record: Tlsa): TlsaRow {
  const { usage, selector, matchingType } = record;
  return { usage, selector, matching_type: matchingType, usable: usage >= 2 && isUsableTlsa(record) };
}
