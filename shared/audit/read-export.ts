import { SIGNATURE_ALGORITHM, SIGNATURE_VERSION, type Signature } from "#shared/audit/signature.ts";
import { isExactNumber } from "#shared/audit/exact-number.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { findJsonFault } from "#shared/json/faults.ts";

/** A signed audit export, not verified yet. */
export interface SignedExport {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly sig: Signature;
}

/** The export of a file, or one sentence that says why it holds none. */
type ReadExport =
  | { readonly ok: true; readonly signed: SignedExport }
  | { readonly ok: false; readonly message: string };

/** Maximum nesting: results of agents have at most 100 levels, inside a few of the export. */
const DEEPEST = 128;
const LONGEST_SHOWN = 100;

/**
 * Reads an audit export: the whole response `{data: {data, sig}, meta}`, or its `data`. It refuses what readers of JSON
 * understand differently although the signature would be the same: repeated keys, and numbers that no double holds.
 */
export function readExport(bytes: Uint8Array): ReadExport {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const fault = findJsonFault(text, { deepest: DEEPEST, acceptsNumber: isExactNumber });
    if (fault !== null) return refuse(describe(fault));
    value = JSON.parse(text);
  } catch {
    return refuse("it is not JSON in UTF-8");
  }
  const envelope = isRecord(value) && isRecord(value["data"]) && !isRecord(value["sig"]) ? value["data"] : value;
  if (!isRecord(envelope) || !isRecord(envelope["data"]) || !isRecord(envelope["sig"])) {
    return refuse("it is no response of GET /api/v4/audit-export: data and sig are missing");
  }
  const sig = readSignature(envelope["sig"]);
  return typeof sig === "string" ? refuse(sig) : { ok: true, signed: { payload: envelope["data"], sig } };
}

/** Returns the signature, or one sentence that says what is wrong. */
function readSignature({ v, alg, kid, ts, value }: Readonly<Record<string, unknown>>): Signature | string {
  if (v !== SIGNATURE_VERSION) return `sig.v must be ${SIGNATURE_VERSION}`;
  if (alg !== SIGNATURE_ALGORITHM) return `sig.alg must be ${SIGNATURE_ALGORITHM}`;
  if (typeof kid !== "string" || !/^[0-9a-f]{8}$/.test(kid)) return "sig.kid must be 8 lower-case hex digits";
  if (typeof ts !== "number" || !Number.isSafeInteger(ts) || ts < 0) return "sig.ts must be Unix seconds";
  if (typeof value !== "string" || !/^[0-9a-f]{64}$/.test(value)) return "sig.value must be 64 lower-case hex digits";
  return { v, alg, kid, ts, value };
}

function describe(fault: NonNullable<ReturnType<typeof findJsonFault>>): string {
  switch (fault.kind) {
    case "deep":
      return `it is nested deeper than ${DEEPEST} levels`;
    case "number":
      return `the number ${fault.token.slice(0, LONGEST_SHOWN)} is not the same for every reader of JSON`;
    default:
      return `the key ${JSON.stringify(fault.key.slice(0, LONGEST_SHOWN))} is there twice in one object`;
  }
}

function refuse(message: string): ReadExport {
  return { ok: false, message };
}
