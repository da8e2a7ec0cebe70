/** Versions of the IANA QUIC Versions registry (as of 2025) and what servers offered before it. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["0x00000001", "QUIC version 1 (RFC 9000)"],
  ["0x6b3343cf", "QUIC version 2 (RFC 9369)"],
  ["0x709a50c4", "QUIC version 2, draft number"],
]);

/** A name for a version as QuicPort writes it; the number itself where it has none here. */
export function quicVersionName(version: string): string {
  const named = NAMES.get(version);
  if (named !== undefined) return named;
  const draft = /^0xff0000([0-9a-f]{2})$/.exec(version)?.[1];
  if (draft !== undefined) return `QUIC draft ${Number.parseInt(draft, 16)}`;
  // Google's own versions are "Q046" and the like in ASCII.
  const ascii = Buffer.from(version.slice(2), "hex").toString("latin1");
  if (/^[QT]0\d\d$/.test(ascii)) return `Google QUIC ${ascii}`;
  if (version.startsWith("0xfaceb0")) return "mvfst (Meta)";
  return version;
}
