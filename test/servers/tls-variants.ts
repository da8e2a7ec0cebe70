import { createPki, daysFromNow, issue, type Issued, type IssueOptions, type Pki } from "#test/servers/pki.ts";
import { alertRecord, certificateFlight } from "#test/servers/tls-handshake.ts";
import { startTlsServer, type TlsServerOptions } from "#test/servers/tls.ts";
import { startWireServer, type WireHandler } from "#test/servers/wire.ts";

/** The name every good certificate of these servers carries. */
export const TLS_HOST = "tls.example";

/** Bit of keyUsage (RFC 5280 section 4.2.1.3) as the x509 library counts. */
const DIGITAL_SIGNATURE = 1;

type Made = Omit<TlsServerOptions, "chain"> & { readonly chain: readonly Issued[] };
type Make = (pki: Pki) => Promise<Made>;

async function chained(pki: Pki, options: IssueOptions = {}, server: Omit<Made, "chain"> = {}): Promise<Made> {
  return { chain: [await pki.issue({ dns: [TLS_HOST], ...options }), pki.intermediate], ...server };
}

/** Servers that complete (or try) a real handshake, by what is special about them. */
const HANDSHAKES = {
  good: (pki) => chained(pki),
  stapled: (pki) => chained(pki, { mustStaple: true }, { staple: Buffer.from("not a real OCSP response") }),
  expired: (pki) => chained(pki, { notBefore: daysFromNow(-100), notAfter: daysFromNow(-10) }),
  not_yet_valid: (pki) => chained(pki, { notBefore: daysFromNow(5), notAfter: daysFromNow(95) }),
  expiring_soon: (pki) => chained(pki, { notBefore: daysFromNow(-84), notAfter: daysFromNow(6) }),
  self_signed: async (pki) => ({ chain: [await pki.issue({ dns: [TLS_HOST], issuer: null })] }),
  wrong_host: (pki) => chained(pki, { dns: ["other.example"] }),
  missing_intermediate: async (pki) => ({
    chain: [await pki.issue({ dns: [TLS_HOST], caIssuers: ["http://pki.example/intermediate.der"] })],
  }),
  unknown_issuer: async (pki) => ({ chain: [await pki.issue({ dns: [TLS_HOST] })] }),
  cross_signed: async (pki) => {
    const { root } = await createPki({ name: "Stranger" });
    const authority = { ca: true, notAfter: daysFromNow(300) } as const;
    const { name: subject, keys: key } = pki.intermediate;
    const crossSign = await issue({ ...authority, subject, key, issuer: root });
    return { chain: [await pki.issue({ dns: [TLS_HOST] }), crossSign, pki.intermediate] };
  },
  untrusted_root: async (pki) => {
    const { root, intermediate } = await createPki({ name: "Stranger" });
    return { chain: [await pki.issue({ dns: [TLS_HOST], issuer: intermediate }), intermediate, root] };
  },
  sha1: (pki) => chained(pki, { hash: "SHA-1" }),
  rsa1024: (pki) => chained(pki, { key: "rsa1024" }),
  no_key_ids: (pki) => chained(pki, { noKeyIds: true }),
  authority: (pki) => chained(pki, { ca: true, keyUsage: DIGITAL_SIGNATURE }),
  must_staple: (pki) => chained(pki, { mustStaple: true }),
  client_certificate: (pki) => chained(pki, {}, { requestCert: true, rejectUnauthorized: true }),
  client_certificate_tls12: (pki) =>
    chained(pki, {}, { requestCert: true, rejectUnauthorized: true, maxVersion: "TLSv1.2" }),
  client_certificate_optional: (pki) => chained(pki, {}, { requestCert: true, rejectUnauthorized: false }),
  wrong_order: async (pki) => ({ chain: [await pki.issue({ dns: [TLS_HOST] }), pki.root, pki.intermediate] }),
  duplicated: async (pki) => {
    const leaf = await pki.issue({ dns: [TLS_HOST] });
    return { chain: [leaf, leaf, pki.intermediate, await issue({ dns: ["unrelated.example"] })] };
  },
  tls13_only: (pki) => chained(pki, {}, { minVersion: "TLSv1.3" }),
  tls12_only: (pki) => chained(pki, {}, { minVersion: "TLSv1.2", maxVersion: "TLSv1.2" }),
  tls10_only: (pki) => chained(pki, {}, { minVersion: "TLSv1", maxVersion: "TLSv1" }),
  all_versions: (pki) => chained(pki, {}, { minVersion: "TLSv1" }),
  cbc_only: (pki) => chained(pki, {}, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-SHA256" }),
  http1_only: (pki) => chained(pki, {}, { ALPNProtocols: ["http/1.1"] }),
  other_alpn: (pki) => chained(pki, {}, { ALPNProtocols: ["imap"] }),
} satisfies Record<string, Make>;

/** Servers that never complete a handshake, as bytes or behaviour after the ClientHello. */
const WIRES = {
  plain_text: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
  garbage: Buffer.alloc(300, 0xa7),
  hanging: () => undefined,
  closing: (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
  alert_handshake_failure: alertRecord(40),
  alert_unrecognized_name: alertRecord(112),
  alert_protocol_version: alertRecord(70),
} satisfies Record<string, string | Uint8Array | WireHandler>;

/** What a server does after its Certificate message. */
const HALF = {
  half_alert: (socket) => socket.end(alertRecord(80)),
  half_close: (socket) => socket.end(),
  half_reset: (socket) => setTimeout(() => socket.resetAndDestroy(), 100),
  half_hanging: () => undefined,
} satisfies Record<string, WireHandler>;

/** Every kind of server there is. */
export type TlsVariant = keyof typeof HANDSHAKES | keyof typeof WIRES | keyof typeof HALF;

/** Where a variant listens (default a free port of 127.0.0.1), and what it does after a handshake. */
export type TlsPlace = Pick<TlsServerOptions, "host" | "port" | "onConnection">;

/** Whether there is a variant of that name. */
export function isTlsVariant(name: string): name is TlsVariant {
  return name in HANDSHAKES || name in WIRES || name in HALF;
}

/** Starts the named variant with certificates of `pki` (whose root the test trusts). */
export async function startTlsVariant(
  name: TlsVariant,
  pki: Pki,
  place: TlsPlace = {},
): Promise<{ readonly port: number; readonly chain: readonly Issued[]; close(): Promise<void> }> {
  if (name in WIRES) return { chain: [], ...(await startWireServer(WIRES[name as keyof typeof WIRES], place)) };
  if (name in HALF) {
    const { chain } = await chained(pki);
    const flight = certificateFlight(chain.map((certificate) => certificate.der));
    const goOn: WireHandler = HALF[name as keyof typeof HALF];
    const server = await startWireServer((socket, received) => {
      socket.write(flight, () => goOn(socket, received));
    }, place);
    return { chain, port: server.port, close: () => server.close() };
  }
  const make: Make = HANDSHAKES[name as keyof typeof HANDSHAKES];
  const made = await make(pki);
  const server = await startTlsServer({ ...made, ...place });
  return { chain: made.chain, port: server.port, close: () => server.close() };
}
