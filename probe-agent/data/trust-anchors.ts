import { readFileSync, statSync } from "node:fs";
import { IANA_ANCHORS, parseAnchors, type ReadAnchors } from "#probe-agent/analysis/dns/trust-anchors.ts";

// Enough for thousands of anchors. A larger file is something else.
const MAX_OCTETS = 1_000_000;

/**
 * Reads VANTAGE_TRUST_ANCHORS; null uses IANA's root anchors. `fault` describes a problem with the file on one line.
 */
export function readTrustAnchors(path: string | null): ReadAnchors {
  if (path === null) return { ok: true, anchors: IANA_ANCHORS };
  const fail = (fault: string): ReadAnchors => ({ ok: false, fault: `VANTAGE_TRUST_ANCHORS ${path}: ${fault}` });
  try {
    if (statSync(path).size > MAX_OCTETS) return fail("larger than 1 MB");
    const read = parseAnchors(readFileSync(path, "latin1"));
    return read.ok ? read : fail(read.fault);
  } catch (error) {
    return fail(
      error instanceof Error && "code" in error ? `cannot be read (${String(error.code)})` : "cannot be read",
    );
  }
}
