import { toCanonicalJson } from "#shared/json/canonical.ts";

/** Returns the canonical form of a JSON value (RFC 8785). Throws TypeError for what JSON cannot represent exactly. */
export function canonicalize(value: unknown): string {
  return toCanonicalJson(value);
}
