import { X509Certificate } from "node:crypto";
import { credentials, status, type ClientUnaryCall, type ServiceError } from "@grpc/grpc-js";
import { ProbeClient, type EnrollResponse } from "#shared/protocol/probe.ts";
import { CONTROL_PLANE_NAME } from "#shared/wire.ts";
import { makeCertificateRequest, type CertificateRequest } from "#probe-agent/membership/certificate-request.ts";
import { fetchAuthority } from "#probe-agent/membership/first-contact.ts";
import { faultOf, fingerprintOf, fingerprintOfAuthority, type Identity } from "#probe-agent/membership/identity.ts";
import type { JoinToken } from "#probe-agent/membership/join-token.ts";

/** A certificate, or why there is none and whether asking again can help. */
export type Enrolment =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly retry: boolean; readonly detail: string };

const CALL_MS = 10_000;

/**
 * Exchanges a join token for an identity. The secret is shown only to the control plane the token was made for; the same
 * request may be sent again where the answer did not come.
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

/** A fresh key and certificate for the agent that `identity` is. */
export async function renew(address: string, identity: Identity): Promise<Enrolment> {
  const { key, request } = await makeCertificateRequest();
  const client = open(address, identity.ca, identity);
  const answer = await call((done) => client.renew({ certificateRequest: Buffer.from(request) }, done));
  client.close();
  if (!answer.ok) return answer;
  const fingerprint = fingerprintOfAuthority(identity);
  const renewed = identityFrom(answer.response, key, { fingerprint, tokenDigest: identity.tokenDigest });
  if (!renewed.ok || renewed.identity.agentId === identity.agentId) return renewed;
  return { ok: false, retry: true, detail: "the certificate is another agent's" };
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
    // Never over a connection that was opened with another certificate.
    "grpc.use_local_subchannel_pool": 1,
  });
}

type Answer =
  | { readonly ok: true; readonly response: EnrollResponse }
  | { readonly ok: false; readonly retry: boolean; readonly detail: string };

/** Answers that no second try changes: the token, the certificate or the request itself is refused. */
const FINAL: ReadonlySet<status> = new Set([
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
  status.NOT_FOUND,
  status.UNIMPLEMENTED,
]);

/** A timer rather than a gRPC deadline, which is told by the host's own clock. */
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

/** Believes an answer only where it fits the key, the token and itself. */
function identityFrom(
  response: EnrollResponse,
  key: string,
  expected: { readonly fingerprint: string; readonly tokenDigest: string },
): Enrolment {
  const fault = (detail: string): Enrolment => ({ ok: false, retry: true, detail: `unusable certificate: ${detail}` });
  if (fingerprintOf(response.caCertificate) !== expected.fingerprint) return fault("it comes with another authority");
  try {
    const identity: Identity = {
      agentId: response.agentId,
      key,
      certificate: new X509Certificate(response.certificate).toString(),
      ca: new X509Certificate(response.caCertificate).toString(),
      receivedAtMs: response.timeMs,
      tokenDigest: expected.tokenDigest,
    };
    const wrong = faultOf(identity);
    return wrong === null ? { ok: true, identity } : fault(wrong);
  } catch {
    return fault("it cannot be read");
  }
}
