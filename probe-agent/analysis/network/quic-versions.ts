/** Names of versions in the IANA QUIC Versions registry (as of 2025), and of one earlier draft number. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["0x00000001", "QUIC version 1 (RFC 9000)"],
  ["0x6b3343cf", "QUIC version 2 (RFC 9369)"],
  ["0x709a50c4", "QUIC version 2, draft number"],
]);

/** Returns the name of a version in the notation of QuicPort. Returns the version unchanged if it has no name. */
export function quicVersionName(version: string): string {
  const named = NAMES.get(version);
  if (named !== undefined) return named;
  const draft = /^0xff0000([0-9a-f]{2})$/.exec(version)?.[1];
  if (draft !== undefined) return `QUIC draft ${Number.parseInt(draft, 16)}`;
  // Versions of Google QUIC are ASCII texts such as "Q046".
  const ascii = Buffer.from(version.slice(2), "hex").toString("latin1");
  if (/^[QT]0\d\d$/.test(ascii)) return `Google QUIC ${ascii}`;
  if (version.startsWith("0xfaceb0")) return "mvfst (Meta)";
  return version;
}
