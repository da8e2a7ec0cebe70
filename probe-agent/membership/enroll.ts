import { X509Certificate } from "node:crypto";
import { credentials, status, type ClientUnaryCall, type ServiceError } from "@grpc/grpc-js";
import { ProbeClient, type EnrollResponse } from "#shared/protocol/probe.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import { makeCertificateRequest, type CertificateRequest } from "#probe-agent/membership/certificate-request.ts";
import { findFault, fingerprintOf, type Identity } from "#probe-agent/membership/identity.ts";
import type { JoinToken } from "#probe-agent/membership/join-token.ts";
import { connect, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import { parseHostPort } from "#shared/settings/address.ts";

/** A new identity, or why there is none and whether a retry may succeed. */
export type Enrolment =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly retry: boolean; readonly detail: string };

const CALL_MS = 10_000;

/**
 * Exchanges a join token for an identity. The secret is sent only to the control plane that the token was made for. If
 * no answer arrives, the caller can send the same request again.
 */
export async function enroll(
  address: string,
  token: JoinToken,
  { key, request }: CertificateRequest,
): Promise<Enrolment> {
  const contact = await fetchAuthority(address, token.fingerprint);
  if (!contact.ok) return { ok: false, retry: contact.kind === "unreachable", detail: contact.detail };
  const { ca } = contact;
  const client = open(address, ca);
  const answer = await call((done) =>
    client.enroll({ joinToken: token.text, certificateRequest: Buffer.from(request) }, done),
  );
  client.close();
  if (!answer.ok) return answer;
  return identityFrom(answer.response, key, { fingerprint: token.fingerprint, tokenDigest: token.digest });
}

/**
 * Requests a new key and certificate for the same agent. Its authority can be another one: the connection is to a server that
 * a trusted authority has certified.
 */
export async function renew(address: string, identity: Identity): Promise<Enrolment> {
  const { key, request } = makeCertificateRequest();
  const client = open(address, identity.ca, identity);
  const answer = await call((done) => client.renew({ certificateRequest: Buffer.from(request), follows: true }, done));
  client.close();
  if (!answer.ok) return answer;
  const renewed = identityFrom(answer.response, key, { fingerprint: null, tokenDigest: identity.tokenDigest });
  if (!renewed.ok || renewed.identity.agentId === identity.agentId) return renewed;
  return { ok: false, retry: true, detail: "the control plane returned another agent's certificate" };
}

function open(address: string, ca: string, own?: Identity): ProbeClient {
  const secure = credentials.createSsl(
    Buffer.from(ca),
    own === undefined ? null : Buffer.from(own.key),
    own === undefined ? null : Buffer.from(own.certificate),
  );
  return new ProbeClient(address, secure, {
    "grpc.ssl_target_name_override": CONTROL_PLANE_NAME,
    "grpc.default_authority": CONTROL_PLANE_NAME,
    // A connection that was opened with another certificate must not be used.
    "grpc.use_local_subchannel_pool": 1,
  });
}

type Answer =
  | { readonly ok: true; readonly response: EnrollResponse }
  | { readonly ok: false; readonly retry: boolean; readonly detail: string };

/** Final responses: the control plane rejects the token, the certificate or the request. */
const FINAL: ReadonlySet<status> = new Set([
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
  status.NOT_FOUND,
  status.UNIMPLEMENTED,
]);

/** Calls an RPC with a time limit. Uses a timer because a gRPC deadline depends on the host's wall clock. */
async function call(ask: (done: (error: ServiceError | null, response: EnrollResponse) => void) => ClientUnaryCall) {
  const answer = Promise.withResolvers<Answer>();
  const asked = ask((error, response) => {
    answer.resolve(
      error === null
        ? { ok: true, response }
        : { ok: false, retry: !FINAL.has(error.code), detail: error.details || error.message },
    );
  });
  const late = setTimeout(() => asked.cancel(), CALL_MS);
  const answered = await answer.promise;
  clearTimeout(late);
  return answered;
}

/** Returns the identity from a response, if the response matches the key and the token. */
function identityFrom(
  response: EnrollResponse,
  key: string,
  expected: { readonly fingerprint: string | null; readonly tokenDigest: string },
): Enrolment {
  const fault = (detail: string): Enrolment => ({
    ok: false,
    retry: true,
    detail: `the control plane returned an unusable certificate: ${detail}`,
  });
  if (expected.fingerprint !== null && fingerprintOf(response.caCertificate) !== expected.fingerprint)
    return fault("it has another authority's certificate");
  try {
    const { caCertificate, leavingCaCertificate } = response;
    const trusted = [caCertificate, ...(leavingCaCertificate.length === 0 ? [] : [leavingCaCertificate])];
    const identity: Identity = {
      agentId: response.agentId,
      key,
      certificate: new X509Certificate(response.certificate).toString(),
      ca: trusted.map((der) => new X509Certificate(der).toString()).join(""),
      receivedAtMs: response.timeMs,
      tokenDigest: expected.tokenDigest,
    };
    const wrong = findFault(identity);
    return wrong === null ? { ok: true, identity } : fault(wrong);
  } catch {
    return fault("it is not valid X.509");
  }
}

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
async function fetchAuthority(address: string, fingerprint: string): Promise<Contact> {
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
