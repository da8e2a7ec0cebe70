import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { der } from "#test/servers/der.ts";
import { type Issued, type IssueOptions, type Pki } from "#test/servers/pki.ts";
import { extension, parsed } from "#test/servers/signing.ts";

/** A log with a key of its own. */
export interface TestLog {
  /** Base64, as lists of logs write it. */
  readonly id: string;
  /** DER SubjectPublicKeyInfo. */
  readonly key: Uint8Array;
  readonly privateKey: KeyObject;
}

/** What is signed: the certificate itself, or its TBSCertificate without the list of timestamps. */
export type LoggedEntry =
  | { readonly kind: "certificate"; readonly der: Uint8Array }
  | { readonly kind: "precertificate"; readonly tbs: Uint8Array; readonly issuer: Issued };

/** Makes a log. */
export function createLog(kind: "ec" | "rsa" = "ec"): TestLog {
  const { publicKey, privateKey } =
    kind === "ec"
      ? generateKeyPairSync("ec", { namedCurve: "prime256v1" })
      : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = publicKey.export({ format: "der", type: "spki" });
  return { id: createHash("sha256").update(key).digest("base64"), key, privateKey };
}

/** A timestamp of version 1 in TLS form (RFC 6962 section 3.2). */
export function timestampOf(log: TestLog, entry: LoggedEntry, at: Date, extensions = new Uint8Array()): Uint8Array {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(at.getTime()));
  const isPre = entry.kind === "precertificate";
  const logged = isPre
    ? Buffer.concat([createHash("sha256").update(parsed(entry.issuer).spki).digest(), prefixed(3, entry.tbs)])
    : prefixed(3, entry.der);
  const data = Buffer.concat([
    Uint8Array.of(0, 0),
    time,
    Uint8Array.of(0, isPre ? 1 : 0),
    logged,
    prefixed(2, extensions),
  ]);
  const scheme = log.privateKey.asymmetricKeyType === "ec" ? 3 : 1;
  return Buffer.concat([
    Uint8Array.of(0),
    Buffer.from(log.id, "base64"),
    time,
    prefixed(2, extensions),
    Uint8Array.of(4, scheme),
    prefixed(2, sign("sha256", data, log.privateKey)),
  ]);
}

/** A list of timestamps in TLS form (RFC 6962 section 3.3). */
export function timestampList(timestamps: readonly Uint8Array[]): Uint8Array {
  return prefixed(2, Buffer.concat(timestamps.map((one) => prefixed(2, one))));
}

/** The extension that carries a list inside a certificate. */
export function embedded(list: Uint8Array): { readonly oid: string; readonly value: Uint8Array } {
  return { oid: "1.3.6.1.4.1.11129.2.4.2", value: der(0x04, list) };
}

/** The poison of precertificates (RFC 6962 section 3.1), critical. */
export function poison(): Uint8Array {
  return extension("1.3.6.1.4.1.11129.2.4.3", der(0x05), true);
}

/**
 * Issues a certificate the way an authority does: first without a list, whose TBSCertificate the logs sign, then with it.
 * All but the list and the signature is the same in both.
 */
export async function issueLogged(
  pki: Pki,
  logs: readonly TestLog[],
  options: Omit<IssueOptions, "issuer">,
  at: Date,
): Promise<Issued> {
  const serial = "4a01";
  const [notBefore, notAfter] = [new Date(at.getTime() - 86_400_000), new Date(at.getTime() + 80 * 86_400_000)];
  const fixed = { serial, notBefore, notAfter, ...options };
  const before = await pki.issue(fixed);
  const same = { ...fixed, key: before.keys };
  const entry = { kind: "precertificate", tbs: tbsOf(before.der), issuer: pki.intermediate } as const;
  const list = timestampList(logs.map((log) => timestampOf(log, entry, at)));
  return pki.issue({ ...same, extra: [...(options.extra ?? []), embedded(list)] });
}

/** log_list.json, version 3. */
export function logList(
  operator: string,
  logs: readonly (readonly [name: string, TestLog])[],
  state = "usable",
): string {
  const rows = logs.map(([description, { id, key }]) => ({
    description,
    log_id: id,
    key: Buffer.from(key).toString("base64"),
    url: "https://log.test/",
    mmd: 86_400,
    state: { [state]: { timestamp: "2026-01-01T00:00:00Z" } },
  }));
  return JSON.stringify({
    version: "72.1",
    log_list_timestamp: "2026-11-01T00:00:00Z",
    operators: [{ name: operator, email: ["log@operator.test"], logs: rows, tiled_logs: [] }],
  });
}

/** TBSCertificate of a certificate: the first value inside. */
export function tbsOf(certificate: Uint8Array): Uint8Array {
  const octets = Buffer.from(certificate);
  const start = headerLength(octets, 0);
  const header = headerLength(octets, start);
  const length = header === 2 ? octets.readUInt8(start + 1) : octets.readUIntBE(start + 2, header - 2);
  return octets.subarray(start, start + header + length);
}

/** Octets of tag and length of the value at `at`. */
function headerLength(octets: Buffer, at: number): number {
  const first = octets.readUInt8(at + 1);
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}

function prefixed(size: 2 | 3, value: Uint8Array): Buffer {
  const length = Buffer.alloc(size);
  length.writeUIntBE(value.length, 0, size);
  return Buffer.concat([length, value]);
}

/**
 * A list as `openssl s_server -serverinfo` sends it by the TLS extension (RFC 6962 section 3.3.1): in the ServerHello before
 * TLS 1.3, with the certificate in TLS 1.3.
 */
export function serverInfo(list: Uint8Array): string {
  // SSL_EXT_CLIENT_HELLO, SSL_EXT_TLS1_2_SERVER_HELLO, SSL_EXT_TLS1_3_CERTIFICATE.
  const octets = Buffer.concat([Uint8Array.of(0, 0, 0x11, 0x80), Uint8Array.of(0, 18), prefixed(2, list)]);
  const lines = octets.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN SERVERINFOV2 FOR SCT-----\n${lines}\n-----END SERVERINFOV2 FOR SCT-----\n`;
}
