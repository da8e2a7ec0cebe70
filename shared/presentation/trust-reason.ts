/** Reasons not to trust a certificate in words, by the name that the tools report. */
const REASONS: Readonly<Record<string, string>> = {
  expired: "it has expired",
  not_yet_valid: "it is not valid yet",
  self_signed: "it is self-signed",
  missing_intermediate: "an intermediate certificate is missing",
  untrusted_root: "its root is not trusted",
  weak_signature: "its signature is weak",
  weak_key: "its key is weak",
  revoked: "it was revoked",
  hostname_mismatch: "it is for other names",
};

/** Returns in words why a certificate is not trusted. A reason without words stays as it is. */
export function trustReason(error: string | null): string {
  return error === null ? "unknown" : (REASONS[error] ?? error);
}
