import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { LAUNCHER } from "#shared/settings/launcher.ts";

/**
 * A join token. It contains a secret that enrols one agent, and the fingerprint of the control plane that the secret
 * may be sent to.
 */
export interface JoinToken {
  /** The token as given. Secret. */
  readonly text: string;
  /** SHA-256 of the text in lower-case hexadecimal. Identifies a token that this agent has used. */
  readonly digest: string;
  /** SHA-256 of the DER of the control plane's CA certificate, in lower-case hexadecimal. */
  readonly fingerprint: string;
}

/** A token, null if none is configured, or an error line for the operator. */
type FoundToken =
  | { readonly ok: true; readonly token: JoinToken | null }
  | { readonly ok: false; readonly line: string };

// The secret may contain underscores too, so its fixed length separates the parts.
const FORM = /^vjt_[A-Za-z0-9_-]{43}_([0-9a-f]{64})$/;

/** Reads the token from VANTAGE_JOIN_TOKEN, or from the file in VANTAGE_JOIN_TOKEN_FILE. */
export function findToken(text: string | null, file: string | null): FoundToken {
  let given = text;
  if (file !== null) {
    try {
      given = readFileSync(file, "utf8");
    } catch (error) {
      const why = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
      return { ok: false, line: `VANTAGE_JOIN_TOKEN_FILE ${file} cannot be read: ${why}` };
    }
  }
  if (given === null) return { ok: true, token: null };
  const name = file === null ? "VANTAGE_JOIN_TOKEN" : `VANTAGE_JOIN_TOKEN_FILE ${file}`;
  const token = readToken(given.trim());
  if (token !== null) return { ok: true, token };
  return {
    ok: false,
    line: `${name} is not a join token: ${LAUNCHER} probes token prints one (vjt_..., 112 characters)`,
  };
}

/** Parses a token; null if the text is not one. */
export function readToken(text: string): JoinToken | null {
  const fingerprint = FORM.exec(text)?.[1];
  if (fingerprint === undefined) return null;
  return { text, fingerprint, digest: createHash("sha256").update(text).digest("hex") };
}
