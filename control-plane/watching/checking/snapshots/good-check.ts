import type { MonitorPhases } from "#shared/monitor-checks/define.ts";
import { decodePhases, encodePhases } from "#control-plane/watching/checking/snapshots/phases.ts";

/** What a good check found, as far as its short result has it. */
export interface GoodCheck {
  readonly responseMs: number | null;
  readonly httpStatus: number | null;
  /** Parts of responseMs; null: not measured. */
  readonly phases: MonitorPhases | null;
  /** SHA-256 of the certificate of the target's own host, hexadecimal; null if there was none. */
  readonly fingerprint: string | null;
}

/** A decoded GoodCheck: the phases have the names and the unit of decodePhases. */
export interface StoredGoodCheck extends Omit<GoodCheck, "phases"> {
  readonly phases: ReturnType<typeof decodePhases>;
}

const FINGERPRINT = /^[0-9a-f]{64}$/;
const FINGERPRINT_BYTES = 32;

/** Returns a good check as text without names, because every good check writes it: at most about 110 characters. */
export function encodeGoodCheck({ responseMs, httpStatus, phases, fingerprint }: GoodCheck): string {
  const digest =
    fingerprint !== null && FINGERPRINT.test(fingerprint) ? Buffer.from(fingerprint, "hex").toString("base64url") : "";
  return [httpStatus ?? "", responseMs ?? "", encodePhases(phases) ?? "", digest].join(";");
}

/** Reads what encodeGoodCheck wrote; null if the text has another form. */
export function decodeGoodCheck(text: string): StoredGoodCheck | null {
  const parts = text.split(";");
  if (parts.length !== 4) return null;
  const [status = "", response = "", phases = "", digest = ""] = parts;
  const octets = Buffer.from(digest, "base64url");
  return {
    httpStatus: readInteger(status),
    responseMs: readInteger(response),
    phases: decodePhases(phases),
    fingerprint: octets.length === FINGERPRINT_BYTES ? octets.toString("hex") : null,
  };
}

function readInteger(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
