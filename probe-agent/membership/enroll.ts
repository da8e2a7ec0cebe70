import { X509Certificate } from "node:crypto";
import { credentials, status, type ClientUnaryCall, type ServiceError } from "@grpc/grpc-js";
import { ProbeClient, type EnrollResponse } from "#shared/protocol/probe.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import { makeCertificateRequest, type CertificateRequest } from "#probe-agent/membership/certificate-request.ts";
import { fetchAuthority } from "#probe-agent/membership/first-contact.ts";
import { findFault, fingerprintOf, fingerprintOfAuthority, type Identity } from "#probe-agent/membership/identity.ts";
import type { JoinToken } from "#probe-agent/membership/join-token.ts";

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

/** Requests a new key and certificate for the same agent. */
export async function renew(address: string, identity: Identity): Promise<Enrolment> {
  const { key, request } = await makeCertificateRequest();
  const client = open(address, identity.ca, identity);
  const answer = await call((done) => client.renew({ certificateRequest: Buffer.from(request) }, done));
  client.close();
  if (!answer.ok) return answer;
  const fingerprint = fingerprintOfAuthority(identity);
  const renewed = identityFrom(answer.response, key, { fingerprint, tokenDigest: identity.tokenDigest });
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
  expected: { readonly fingerprint: string; readonly tokenDigest: string },
): Enrolment {
  const fault = (detail: string): Enrolment => ({
    ok: false,
    retry: true,
    detail: `the control plane returned an unusable certificate: ${detail}`,
  });
  if (fingerprintOf(response.caCertificate) !== expected.fingerprint)
    return fault("it has another authority's certificate");
  try {
    const identity: Identity = {
      agentId: response.agentId,
      key,
      certificate: new X509Certificate(response.certificate).toString(),
      ca: new X509Certificate(response.caCertificate).toString(),
      receivedAtMs: response.timeMs,
      tokenDigest: expected.tokenDigest,
    };
    const wrong = findFault(identity);
    return wrong === null ? { ok: true, identity } : fault(wrong);
  } catch {
    return fault("it is not valid X.509");
  }
}
