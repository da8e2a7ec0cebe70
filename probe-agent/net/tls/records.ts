/** TLS record content types (RFC 8446 section 5.1). */
export const CONTENT = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23 } as const;

/** One record as received; encrypted if encryption has begun. */
export interface TlsRecord {
  readonly type: number;
  /** The five header octets, which are the additional data of TLS 1.3 encryption. */
  readonly header: Uint8Array;
  readonly fragment: Uint8Array;
}

/** One handshake message (RFC 8446 section 4). */
export interface HandshakeMessage {
  readonly type: number;
  readonly body: Uint8Array;
}

/** Maximum size of a fragment in any version, in octets: 2^14 + 2048 (RFC 5246 section 6.2.3). */
const MAX_FRAGMENT = 16_384 + 2048;

/** Splits a byte stream into records; stops at the first incomplete or invalid one. */
export function* splitRecords(bytes: Uint8Array): Generator<TlsRecord> {
  let at = 0;
  while (at + 5 <= bytes.length) {
    const header = bytes.subarray(at, at + 5);
    const [type = 0, major = 0, , high = 0, low = 0] = header;
    const length = high * 256 + low;
    if (!isRecordStart(type, major) || length > MAX_FRAGMENT || at + 5 + length > bytes.length) return;
    yield { type, header, fragment: bytes.subarray(at + 5, at + 5 + length) };
    at += 5 + length;
  }
}

/** Splits joined handshake fragments into complete messages; omits an incomplete last one. */
export function* splitMessages(bytes: Uint8Array): Generator<HandshakeMessage> {
  let at = 0;
  while (at + 4 <= bytes.length) {
    const [type = 0, a = 0, b = 0, c = 0] = bytes.subarray(at, at + 4);
    const end = at + 4 + (a * 65_536 + b * 256 + c);
    if (end > bytes.length) return;
    yield { type, body: bytes.subarray(at + 4, end) };
    at = end;
  }
}

/** Returns the type of an answer from its first octets: TLS records, printable text, other data, or nothing. */
export function kindOfAnswer(bytes: Uint8Array): "nothing" | "tls" | "text" | "other" {
  const [type, major] = bytes;
  if (type === undefined) return "nothing";
  if (isRecordStart(type, major ?? 3)) return "tls";
  const start = bytes.subarray(0, 64);
  const printable = start.every((octet) => (octet >= 0x20 && octet < 0x7f) || (octet >= 9 && octet <= 13));
  return printable ? "text" : "other";
}

function isRecordStart(type: number, major: number): boolean {
  return type >= CONTENT.changeCipherSpec && type <= CONTENT.applicationData && major === 3;
}
