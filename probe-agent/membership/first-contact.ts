import { X509Certificate } from "node:crypto";
import { connect, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import { parseHostPort } from "#shared/settings/address.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import { fingerprintOf } from "#probe-agent/membership/identity.ts";

/** The control plane's authority, or why an address did not provide it. */
type Contact =
  | { readonly ok: true; /** PEM. */ readonly ca: string }
  /** `foreign`: the server is not the control plane that the token was made for. */
  | { readonly ok: false; readonly kind: "unreachable" | "foreign"; readonly detail: string };

const CONTACT_MS = 5_000;
/** Maximum number of certificates read from a chain. */
const MAX_CHAIN = 10;

/**
 * Requests an address's certificates without verification and finds the authority whose fingerprint the token contains.
 * Sends only a TLS handshake: the secret is sent later, over a connection that this authority verifies.
 */
export async function fetchAuthority(address: string, fingerprint: string): Promise<Contact> {
  const given = parseHostPort(address.replace(/^dns:\/\/\//, ""));
  if (given === undefined || given.port === null)
    return { ok: false, kind: "unreachable", detail: "the address is not host:port" };
  const { host, port } = given;
  const socket = connect({
    host,
    port,
    servername: CONTROL_PLANE_NAME,
    ALPNProtocols: ["h2"],
    // Verified by findAuthority, which compares the fingerprint.
    rejectUnauthorized: false,
  });
  try {
    await handshake(socket);
    return findAuthority(chainOf(socket), fingerprint);
  } catch (error) {
    return { ok: false, kind: "unreachable", detail: error instanceof Error ? error.message : String(error) };
  } finally {
    socket.destroy();
  }
}

function handshake(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("TLS handshake timed out after 5 s")), CONTACT_MS);
    const settle = (error?: Error) => {
      clearTimeout(late);
      if (error === undefined) resolve();
      else reject(error);
    };
    socket.once("secureConnect", () => settle());
    // Never removed: an error without a listener would end the process.
    socket.on("error", settle);
    socket.once("close", () => settle(new Error("connection closed during the TLS handshake")));
  });
}

/** Returns the certificates as sent, the server's own first. */
function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && chain.length < MAX_CHAIN) {
    chain.push(new X509Certificate(next.raw));
    // A self-signed certificate is its own issuer.
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
  }
  return chain;
}

/** Finds the authority in a chain that has the fingerprint and issued the first certificate to the control plane. */
function findAuthority(chain: readonly X509Certificate[], fingerprint: string): Contact {
  const [leaf] = chain;
  const ca = chain.find(({ raw }) => fingerprintOf(raw) === fingerprint);
  if (leaf === undefined || ca === undefined) {
    return {
      ok: false,
      kind: "foreign",
      detail: "the server's certificate chain lacks the authority of the join token",
    };
  }
  if (leaf === ca || !leaf.checkIssued(ca) || !leaf.verify(ca.publicKey)) {
    return {
      ok: false,
      kind: "foreign",
      detail: "the server's certificate was not issued by the authority of the join token",
    };
  }
  if (leaf.checkHost(CONTROL_PLANE_NAME, { subject: "never" }) === undefined) {
    return { ok: false, kind: "foreign", detail: `the server's certificate lacks the name ${CONTROL_PLANE_NAME}` };
  }
  return { ok: true, ca: ca.toString() };
}
