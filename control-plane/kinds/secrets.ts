import type { MonitorSecrets } from "#control-plane/kinds/common.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Shown in place of a secret. A change that contains it keeps the stored secret. */
export const MASK = "****";

const PURPOSE = "monitors.secrets";
const NONE: MonitorSecrets = { request_headers: {}, body: null };

/** Encrypts the secrets of a monitor; null if it has none. */
export function sealSecrets(encryption: Encryption, { request_headers, body }: MonitorSecrets): Uint8Array | null {
  if (body === null && Object.keys(request_headers).length === 0) return null;
  return encryption.seal(Buffer.from(JSON.stringify({ request_headers, body })), PURPOSE);
}

/** Decrypts the secrets of a monitor. Throws if they were altered, or sealed with another master key: a broken row. */
export function openSecrets(encryption: Encryption, sealed: Uint8Array | null): MonitorSecrets {
  if (sealed === null) return NONE;
  const opened = encryption.open(sealed, PURPOSE);
  if (opened === null) throw new Error("the stored request headers of a monitor cannot be decrypted");
  return JSON.parse(Buffer.from(opened).toString("utf8")) as MonitorSecrets;
}

/** Returns secrets as responses show them: names of header fields, and masks. */
export function maskSecrets({ request_headers, body }: MonitorSecrets): MonitorSecrets {
  return {
    request_headers: Object.fromEntries(Object.keys(request_headers).map((name) => [name, MASK])),
    body: body === null ? null : MASK,
  };
}
